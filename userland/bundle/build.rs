//! Turns `userland/tools.toml` and the modules in `userland/dist` into the table [`MODULES`] of the library.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde::Deserialize;

/// Said whenever something is missing: everything that this script reads comes from that command.
const NEXT: &str = "run `cargo xtask userland`";

#[derive(Deserialize)]
struct Tools {
    module: Vec<Module>,
}

#[derive(Deserialize)]
struct Module {
    file: String,
    commands: Vec<String>,
}

fn main() {
    // Relative to this package, where cargo runs build scripts: a build folder may serve several clones, so the script
    // must not remember the place that it was compiled in.
    let userland = Path::new("..");
    let registry = userland.join("tools.toml");
    watch(&registry);
    let text =
        fs::read_to_string(&registry).unwrap_or_else(|error| panic!("cannot read {}: {error}", shown(&registry)));
    let tools: Tools = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", shown(&registry)));

    let mut table = String::from("&[\n");
    for module in &tools.module {
        let wasm = userland.join("dist").join(&module.file);
        // Watched also while it is missing, so that the next build after `xtask userland` looks again.
        watch(&wasm);
        if let Err(error) = fs::metadata(&wasm) {
            panic!("the guest program {} is not built ({error}): {NEXT}", shown(&wasm));
        }
        // The compiler finds the module by the package's place, not by one written here: a build folder that serves
        // another clone later would keep the old one.
        let place = format!("/{}", wasm.display());
        writeln!(
            table,
            "    Module {{ name: {:?}, wasm: include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {place:?})), \
             commands: &{:?} }},",
            module.file, module.commands
        )
        .expect("writing to a String cannot fail");
    }
    table.push_str("]\n");

    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("modules.rs");
    fs::write(&out, table).unwrap_or_else(|error| panic!("cannot write {}: {error}", out.display()));
}

fn watch(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}

fn shown(path: &Path) -> String {
    format!("userland/{}", path.strip_prefix("..").unwrap_or(path).display())
}
