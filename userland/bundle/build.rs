//! Generates the table `MODULES` of the library from the index of the guest programs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde::Deserialize;

/// The command that builds everything this script reads.
const NEXT: &str = "run `cargo xtask userland`";

/// Directories with the programs: that of a published package, and that of the work tree. Relative to this package, where cargo
/// runs build scripts: a target directory may serve several clones, so the script must not remember the path that it was compiled
/// in.
const DIRECTORIES: [&str; 2] = ["programs", "../dist"];

/// The list of the programs.
const INDEX: &str = "index.toml";

#[derive(Deserialize)]
struct Index {
    module: Vec<Module>,
}

#[derive(Deserialize)]
struct Module {
    file: String,
    bytes: usize,
    prefix: [u8; 8],
    sha256: [u8; 32],
    commands: Vec<String>,
}

fn main() {
    let directory = DIRECTORIES.iter().map(Path::new).find(|directory| directory.join(INDEX).is_file());
    let directory = directory.unwrap_or(Path::new(DIRECTORIES[1]));
    let path = directory.join(INDEX);
    // Watched even while it is missing, so that the next build after `xtask userland` runs this again.
    watch(&path);
    let text =
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}; {NEXT}", path.display()));
    let index: Index =
        toml::from_str(&text).unwrap_or_else(|error| panic!("cannot parse {}: {error}; {NEXT}", path.display()));

    let mut table = String::from("&[\n");
    for Module { file, bytes, prefix, sha256, commands } in &index.module {
        let compressed = directory.join(format!("{file}.br"));
        watch(&compressed);
        assert!(compressed.is_file(), "cannot find the guest program {}; {NEXT}", compressed.display());
        // The compiler finds the file relative to the package, not by a path written here: a target directory that serves
        // another clone later would keep the old one.
        let path = format!("/{}", compressed.display());
        writeln!(
            table,
            "    Module {{ name: {file:?}, len: {bytes}, prefix: &{prefix:?}, sha256: {sha256:?}, \
             compressed: include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {path:?})), commands: &{commands:?} }},"
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
