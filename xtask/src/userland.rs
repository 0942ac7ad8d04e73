//! Builds the guest programs in their own workspace for `wasm32-wasip1` (for tests some as components too) and writes them to
//! the directory from which the host build embeds them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use brotli::enc::BrotliEncoderParams;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::project::Project;
use crate::step;

/// The target that guest programs are built for.
pub(crate) const TARGET: &str = "wasm32-wasip1";

/// The target of components.
pub(crate) const COMPONENT_TARGET: &str = "wasm32-wasip2";

/// Packages that tests and examples need as components: programs of the workspace, and a library whose command is an export. The
/// file name is `<name>.component.wasm`.
const COMPONENTS: [&str; 4] =
    ["tidebox-example-component", "tidebox-test-tool", "tidebox-test-tool-p3", "tidebox-probe"];

/// The suffix of the compressed copy of a module, which host programs embed.
const COMPRESSED: &str = ".br";

/// The Brotli quality, of at most 11. Modules shrink to 28 % of their size (with zstd 19: 26 %, in five times the time).
const QUALITY: i32 = 9;

/// The Brotli window, as a power of two in bytes: 16 MiB, more than the largest module.
const WINDOW_BITS: i32 = 24;

/// The list of the embedded modules, which the build script of `userland/bundle` reads.
const INDEX: &str = "index.toml";

/// Bytes at the start of a module that the index contains: magic number and version.
const PREFIX_BYTES: usize = 8;

/// The modules of `userland/tools.toml`, or of the index.
#[derive(Deserialize, Serialize)]
struct Modules<T> {
    module: Vec<T>,
}

/// A module with its commands in `userland/tools.toml`.
#[derive(Deserialize)]
struct Tool {
    file: String,
    commands: Vec<String>,
}

/// A module in the index. The build script needs no other file than the compressed ones, so that a published package builds
/// without the modules.
#[derive(Serialize)]
struct IndexEntry {
    file: String,
    /// Size of the module in bytes.
    bytes: usize,
    prefix: [u8; PREFIX_BYTES],
    sha256: [u8; 32],
    commands: Vec<String>,
}

/// The file name of a module in the index.
#[derive(Deserialize)]
struct Embedded {
    file: String,
}

/// The result of [`build`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Built {
    /// Number of guest programs.
    pub(crate) programs: usize,
    /// Number of programs that changed.
    pub(crate) changed: usize,
}

/// Builds every program of the guest workspace and writes the modules to `userland/dist`. An unchanged module keeps its file
/// and its time stamp, so that the host build does not embed it again.
pub(crate) fn build(project: &Project, retry: &str) -> Result<Built> {
    let mut modules = programs(&compile(project, &["--workspace", "--bins", "--target", TARGET], retry)?)?;
    let packages = COMPONENTS.iter().flat_map(|package| ["--package", package]);
    let components: Vec<&str> = packages.chain(["--target", COMPONENT_TARGET]).collect();
    for (name, path) in programs(&compile(project, &components, retry)?)? {
        modules.insert(name.replace(".wasm", ".component.wasm"), path);
    }
    let built = write_dist(&project.dist(), &modules)?;
    let tools = fs::read_to_string(project.userland().join("tools.toml")).context("cannot read userland/tools.toml")?;
    write_index(&project.dist(), &tools)?;
    Ok(built)
}

/// Writes the index of the modules that `tools` lists. An unchanged index keeps its time stamp.
fn write_index(dist: &Path, tools: &str) -> Result<()> {
    let tools: Modules<Tool> = toml::from_str(tools).context("cannot parse userland/tools.toml")?;
    let read = |tool: Tool| {
        let Tool { file, commands } = tool;
        let module = fs::read(dist.join(&file))
            .with_context(|| format!("userland/tools.toml lists {file}, which the build did not produce"))?;
        let prefix = *module.first_chunk().with_context(|| format!("{file} is too short for a module"))?;
        Ok(IndexEntry { file, bytes: module.len(), prefix, sha256: Sha256::digest(&module).into(), commands })
    };
    let entries = tools.module.into_iter().map(read).collect::<Result<_>>()?;
    let index = toml::to_string(&Modules { module: entries })?;
    let path = dist.join(INDEX);
    if fs::read_to_string(&path).is_ok_and(|old| old == index) {
        return Ok(());
    }
    replace(&path, index.as_bytes())
}

/// Returns the names of the files in `dist` that host programs embed, the index included.
pub(crate) fn embedded(project: &Project) -> Result<Vec<String>> {
    let path = project.dist().join(INDEX);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let index: Modules<Embedded> = toml::from_str(&text).with_context(|| format!("cannot parse {}", path.display()))?;
    let names = index.module.into_iter().map(|module| format!("{}{COMPRESSED}", module.file));
    Ok(names.chain([INDEX.to_owned()]).collect())
}

/// Builds packages of the guest workspace and returns cargo's messages.
fn compile(project: &Project, what: &[&str], retry: &str) -> Result<Vec<u8>> {
    let mut arguments = vec!["build", "--locked", "--release", "--message-format", "json-render-diagnostics"];
    arguments.extend(what);
    step::output(&mut project.guest_cargo(&arguments), retry)
}

#[derive(Deserialize)]
struct Message {
    reason: String,
    executable: Option<PathBuf>,
    #[serde(default)]
    filenames: Vec<PathBuf>,
}

/// Extracts file name and path of every wasm program from the messages of a build.
fn programs(messages: &[u8]) -> Result<BTreeMap<String, PathBuf>> {
    let mut modules = BTreeMap::new();
    for line in messages.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"{")) {
        let message: Message =
            serde_json::from_slice(line).context("`cargo build` printed a message of an unexpected form")?;
        if message.reason != "compiler-artifact" {
            continue;
        }
        for path in message.executable.into_iter().chain(message.filenames) {
            let name = path.file_name().and_then(|name| name.to_str());
            if let Some(name) = name.filter(|name| name.ends_with(".wasm")) {
                modules.insert(name.to_owned(), path);
            }
        }
    }
    if modules.is_empty() {
        bail!(
            "the build of the guest workspace produced no program; check userland/Cargo.toml, then run `cargo xtask userland`"
        );
    }
    Ok(modules)
}

/// Makes `dist` hold exactly `modules`, and the index.
fn write_dist(dist: &Path, modules: &BTreeMap<String, PathBuf>) -> Result<Built> {
    fs::create_dir_all(dist).with_context(|| format!("cannot create {}", dist.display()))?;
    for entry in fs::read_dir(dist).with_context(|| format!("cannot list {}", dist.display()))? {
        let entry = entry?;
        let name = entry.file_name();
        let is_current =
            |name: &str| name == INDEX || modules.contains_key(name.strip_suffix(COMPRESSED).unwrap_or(name));
        if !name.to_str().is_some_and(is_current) && entry.file_type()?.is_file() {
            fs::remove_file(entry.path()).with_context(|| format!("cannot remove {}", entry.path().display()))?;
        }
    }
    let mut changed = 0;
    for (name, from) in modules {
        let bytes = fs::read(from).with_context(|| format!("cannot read {}", from.display()))?;
        let (to, compressed) = (dist.join(name), dist.join(format!("{name}{COMPRESSED}")));
        if compressed.is_file() && fs::read(&to).is_ok_and(|old| old == bytes) {
            continue;
        }
        // The module last: an interrupted run is repeated, because the module is missing or old.
        replace(&compressed, &compress(&bytes)?)?;
        replace(&to, &bytes)?;
        changed += 1;
    }
    Ok(Built { programs: modules.len(), changed })
}

/// Writes a file through a temporary one, so that an interrupted run leaves no partial file.
fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let partial = path.with_extension("partial");
    fs::write(&partial, bytes).with_context(|| format!("cannot write {}", partial.display()))?;
    fs::rename(&partial, path).with_context(|| format!("cannot write {}", path.display()))
}

/// Compresses a module with Brotli.
fn compress(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut compressed = Vec::new();
    let params = BrotliEncoderParams { quality: QUALITY, lgwin: WINDOW_BITS, ..BrotliEncoderParams::default() };
    brotli::BrotliCompress(&mut &bytes[..], &mut compressed, &params).context("cannot compress a module")?;
    Ok(compressed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temp_dir(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("tidebox-xtask-{}-{name}", std::process::id()));
        fs::create_dir_all(&dir).expect("the temporary directory can be created");
        dir
    }

    #[test]
    fn only_wasm_programs_of_a_build_are_modules() {
        let messages = concat!(
            "{\"reason\":\"compiler-artifact\",\"executable\":null}\n",
            "{\"reason\":\"compiler-artifact\",\"executable\":\"/t/release/build-script\"}\n",
            "{\"reason\":\"compiler-artifact\",\"executable\":\"/t/release/sh.wasm\"}\n",
            "{\"reason\":\"build-finished\",\"success\":true}\n",
        );
        let modules = programs(messages.as_bytes()).expect("one module exists");
        assert_eq!(modules, BTreeMap::from([("sh.wasm".to_owned(), PathBuf::from("/t/release/sh.wasm"))]));
    }

    #[test]
    fn a_build_without_programs_is_an_error() {
        assert!(programs(b"{\"reason\":\"build-finished\",\"success\":true}\n").is_err());
    }

    #[test]
    fn dist_holds_the_modules_and_unchanged_files_are_kept() {
        let dir = temp_dir("dist");
        let (from, dist) = (dir.join("sh.wasm"), dir.join("dist"));
        fs::write(&from, b"one").expect("written");
        fs::create_dir_all(&dist).expect("created");
        fs::write(dist.join("old.wasm"), b"old").expect("written");
        let modules = BTreeMap::from([("sh.wasm".to_owned(), from.clone())]);

        let first = write_dist(&dist, &modules).expect("written");
        let second = write_dist(&dist, &modules).expect("written again");
        fs::write(&from, b"two").expect("written");
        let third = write_dist(&dist, &modules).expect("written a third time");

        assert_eq!([first.changed, second.changed, third.changed], [1, 0, 1]);
        assert!(!dist.join("old.wasm").exists());
        assert_eq!(fs::read(dist.join("sh.wasm")).expect("read"), b"two");
        fs::remove_dir_all(dir).expect("removed");
    }

    #[test]
    fn the_index_lists_size_digest_and_commands_of_each_module() {
        let dist = temp_dir("index");
        fs::write(dist.join("sh.wasm"), b"\0asm\x01\0\0\0code").expect("written");
        let tools = "[[module]]\nfile = \"sh.wasm\"\ncommands = [\"sh\", \"bash\"]\n";
        write_index(&dist, tools).expect("the module exists");
        let index: toml::Table = fs::read_to_string(dist.join(INDEX)).expect("written").parse().expect("TOML");
        let module = &index["module"][0];
        assert_eq!(module["bytes"].as_integer(), Some(12));
        assert_eq!(module["prefix"].as_array().map(Vec::len), Some(PREFIX_BYTES));
        assert_eq!(module["sha256"].as_array().map(Vec::len), Some(32));
        assert_eq!(module["commands"].as_array().map(Vec::len), Some(2));
        let missing = write_index(&dist, &tools.replace("sh.wasm", "ed.wasm")).expect_err("the module is missing");
        assert!(missing.to_string().contains("ed.wasm"), "{missing}");
        fs::remove_dir_all(dist).expect("removed");
    }
}
