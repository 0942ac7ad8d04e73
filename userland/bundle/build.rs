//! Generates the table `MODULES` of the library from `userland/tools.toml` and the modules in `userland/dist`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde::Deserialize;
use sha2::{Digest, Sha256};

/// The command that builds everything this script reads.
const NEXT: &str = "run `cargo xtask userland`";

/// Bytes at the start of a module that the table holds uncompressed: magic number and version.
const PREFIX_BYTES: usize = 8;

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
    // Relative to this package, where cargo runs build scripts: a target directory may serve several clones, so the script
    // must not remember the path that it was compiled in.
    let userland = Path::new("..");
    let registry = userland.join("tools.toml");
    watch(&registry);
    let text =
        fs::read_to_string(&registry).unwrap_or_else(|error| panic!("cannot read {}: {error}", display(&registry)));
    let tools: Tools = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", display(&registry)));

    let mut table = String::from("&[\n");
    for module in &tools.module {
        let wasm = userland.join("dist").join(&module.file);
        let compressed = userland.join("dist").join(format!("{}.br", module.file));
        watch(&compressed);
        let bytes = read(&wasm);
        let prefix = bytes.get(..PREFIX_BYTES).unwrap_or_else(|| panic!("{} is too short: {NEXT}", display(&wasm)));
        read(&compressed);
        let digest: [u8; 32] = Sha256::digest(&bytes).into();
        // The compiler finds the file relative to the package, not by a path written here: a target directory that serves
        // another clone later would keep the old one.
        let path = format!("/{}", compressed.display());
        writeln!(
            table,
            "    Module {{ name: {:?}, len: {}, prefix: &{prefix:?}, sha256: {digest:?}, \
             compressed: include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?})), commands: &{:?} }},",
            module.file,
            bytes.len(),
            module.commands
        )
        .expect("writing to a String cannot fail");
    }
    table.push_str("]\n");

    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("modules.rs");
    fs::write(&out, table).unwrap_or_else(|error| panic!("cannot write {}: {error}", out.display()));
}

/// Reads a file and watches it, even while it is missing, so that the next build after `xtask userland` runs this again.
fn read(path: &Path) -> Vec<u8> {
    watch(path);
    fs::read(path).unwrap_or_else(|error| panic!("cannot read the guest program {}: {error}; {NEXT}", display(path)))
}

fn watch(path: &Path) {
    println!("cargo::rerun-if-changed={}", path.display());
}

fn display(path: &Path) -> String {
    format!("userland/{}", path.strip_prefix("..").unwrap_or(path).display())
}
