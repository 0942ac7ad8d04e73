//! Prepares the userland for the npm package: `package_userland USERLAND DIRECTORY` rewrites every module that `tools.toml`
//! lists, and writes `programs.json`, the list of programs of the package. Run by `cargo xtask npm`.

use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tidebox_js_bindings::rewrite::{RewriteLimits, rewrite};

#[derive(Deserialize)]
struct Tools {
    module: Vec<Module>,
}

#[derive(Deserialize)]
struct Module {
    file: String,
    commands: Vec<String>,
}

/// An entry of `programs.json`, which `js/programs.ts` reads.
#[derive(Serialize)]
struct Listed {
    file: String,
    bytes: usize,
    sha256: String,
    commands: Vec<String>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [userland, dir] = arguments.as_slice() else {
        eprintln!("usage: package_userland USERLAND FOLDER");
        return ExitCode::from(2);
    };
    if let Err(error) = lay_out(Path::new(userland), Path::new(dir)) {
        eprintln!("package_userland: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn lay_out(userland: &Path, dir: &Path) -> io::Result<()> {
    let text = fs::read_to_string(userland.join("tools.toml"))?;
    let tools: Tools = toml::from_str(&text).map_err(io::Error::other)?;
    fs::create_dir_all(dir)?;
    let mut listed = Vec::new();
    for Module { file, commands } in tools.module {
        let failed = |reason: &str| io::Error::other(format!("{file}: {reason}"));
        let wasm = fs::read(userland.join("dist").join(&file)).map_err(|error| failed(&error.to_string()))?;
        let wasm = rewrite(&wasm, RewriteLimits { reusable: true, ..RewriteLimits::default() })
            .map_err(|rejection| failed(&rejection.to_string()))?;
        fs::write(dir.join(&file), &wasm)?;
        let sha256 = Sha256::digest(&wasm).iter().map(|byte| format!("{byte:02x}")).collect();
        listed.push(Listed { bytes: wasm.len(), sha256, file, commands });
    }
    fs::write(dir.join("programs.json"), serde_json::to_vec(&listed)?)
}
