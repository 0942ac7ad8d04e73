//! The packages for crates.io: made from a copy of the tracked files and the compressed guest programs, as a user of the registry
//! builds them, without the guest toolchain.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::RETRY;
use crate::project::{Project, empty_dir};
use crate::step::{self, Progress};
use crate::userland;

/// Maximum size of a package at crates.io, in bytes.
const MAX_BYTES: u64 = 10 << 20;

/// Directory of the compressed programs in the package; `userland/bundle/build.rs` has the same name.
const PROGRAMS: &str = "userland/bundle/programs";

/// Packages all public crates and compiles what the archives contain. Returns the archives.
pub(super) fn package(project: &Project, progress: &mut Progress) -> Result<Vec<PathBuf>> {
    let stage = progress.step("copy the sources of the crates", |_| stage(project))?;
    let packages = project.target.join("package");
    let _ = fs::remove_dir_all(&packages);
    // The copy is in no repository, so cargo calls all its files changed. Cargo's own verification is off: it unpacks each
    // archive as a package of a registry, whose versions never change, and so compiles what an earlier run packaged.
    let mut package = project.cargo(&["package", "--workspace", "--allow-dirty", "--locked", "--quiet", "--no-verify"]);
    for private in private_packages(project)? {
        package.args(["--exclude", &private]);
    }
    package.current_dir(&stage);
    progress.run("package the crates", package, RETRY)?;
    let mut archives = Vec::new();
    for entry in fs::read_dir(&packages).context("cargo wrote no package")? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "crate") {
            let bytes = fs::metadata(&path)?.len();
            ensure!(bytes <= MAX_BYTES, "{} has {bytes} bytes, more than crates.io accepts", path.display());
            archives.push(path);
        }
    }
    ensure!(!archives.is_empty(), "cargo wrote no package into {}", packages.display());
    archives.sort();
    compile(project, progress, &stage, &archives)?;
    Ok(archives)
}

/// Compiles the contents of the archives in a separate workspace, where they depend on each other.
fn compile(project: &Project, progress: &mut Progress, stage: &Path, archives: &[PathBuf]) -> Result<()> {
    let dir = empty_dir(project.target.join("release-packages"))?;
    let (mut members, mut patches) = (String::new(), String::new());
    for archive in archives {
        // Without the times of the archive, which are the same in every release, so that cargo sees the files as changed.
        let mut unpack = Command::new("tar");
        unpack.arg("xzmf").arg(archive).arg("-C").arg(&dir);
        step::run(&mut unpack, RETRY)?;
        let path = archive.file_stem().and_then(|name| name.to_str()).context("the name of a package is not UTF-8")?;
        let (name, _) = path.rsplit_once('-').with_context(|| format!("{path} has no version"))?;
        members.push_str(&format!("  \"{path}\",\n"));
        patches.push_str(&format!("{name} = {{ path = \"{path}\" }}\n"));
    }
    let manifest = format!("[workspace]\nresolver = \"3\"\nmembers = [\n{members}]\n\n[patch.crates-io]\n{patches}");
    fs::write(dir.join("Cargo.toml"), manifest)?;
    fs::copy(stage.join("Cargo.lock"), dir.join("Cargo.lock"))?;
    let mut check = project.cargo(&["check", "--workspace", "--quiet"]);
    // A separate directory, because the profile differs from that of the workspace.
    check.env("CARGO_TARGET_DIR", project.target.join("release-check")).current_dir(&dir);
    progress.run("compile the crates from their packages", check, RETRY)
}

/// A package of `cargo metadata`. `publish` is `None` for public packages and empty for private ones.
#[derive(Deserialize)]
struct Package {
    name: String,
    publish: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

/// Returns the names of the packages that are not published.
fn private_packages(project: &Project) -> Result<Vec<String>> {
    let mut metadata = project.cargo(&["metadata", "--no-deps", "--locked", "--format-version", "1"]);
    let metadata: Metadata = serde_json::from_slice(&step::output(&mut metadata, RETRY)?)
        .context("cannot parse the output of `cargo metadata`")?;
    let private = metadata.packages.into_iter().filter(|package| package.publish.as_ref().is_some_and(Vec::is_empty));
    Ok(private.map(|package| package.name).collect())
}

/// Copies the tracked files and the guest programs into a separate directory, so that the work tree never has two copies of the
/// programs. The directory has the same path in every run, so that cargo finds what it built before.
pub(super) fn stage(project: &Project) -> Result<PathBuf> {
    let stage = empty_dir(project.target.join("release-source"))?;
    let mut git = Command::new("git");
    let list = step::output(git.args(["ls-files", "-z"]).current_dir(&project.root), RETRY)?;
    for name in list.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let name = std::str::from_utf8(name).context("a tracked file has a name that is not UTF-8")?;
        // Guests and test data are in no package.
        if name.starts_with("userland/") && !name.starts_with("userland/bundle/") || name.starts_with("tests/spec/") {
            continue;
        }
        copy(&project.root.join(name), &stage.join(name))?;
    }
    let (dist, programs) = (project.dist(), stage.join(PROGRAMS));
    for name in userland::embedded(project)? {
        copy(&dist.join(&name), &programs.join(&name))?;
    }
    Ok(stage)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let parent = to.parent().context("a file has a parent directory")?;
    fs::create_dir_all(parent)?;
    fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    Ok(())
}
