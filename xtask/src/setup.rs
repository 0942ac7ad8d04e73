//! Preparation of a fresh host. Each part is skipped if it is already installed.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::project::Project;
use crate::step::{self, Progress};
use crate::userland;

/// The targets that the workspace builds for, besides the host.
const TARGETS: [&str; 3] = [userland::TARGET, userland::COMPONENT_TARGET, "wasm32-unknown-unknown"];

/// Prepares everything: targets, guest programs, the command `tidebox`, compiled modules, packs.
pub(crate) fn setup(project: &Project, progress: &mut Progress) -> Result<()> {
    guests(project, progress)?;
    progress.run(
        "build the command tidebox",
        project.cargo(&["build", "--locked", "--package", "tidebox", "--bin", "tidebox"]),
        "cargo xtask setup",
    )?;
    precompile(project, progress)?;
    packs(project, progress)
}

/// Prepares targets and guest programs, which a host build needs.
pub(crate) fn guests(project: &Project, progress: &mut Progress) -> Result<()> {
    targets(progress)?;
    progress.step("build the guest programs", |progress| {
        let built = userland::build(project, "cargo xtask userland")?;
        progress.print(&format!("{} guest programs, {} of them new", built.programs, built.changed));
        Ok(())
    })
}

/// Compiles the guest programs to native code ahead of time, so that no command waits for it.
pub(crate) fn precompile(project: &Project, progress: &mut Progress) -> Result<()> {
    let mut command = Command::new(project.tidebox());
    command.arg("warm");
    progress.run("compile the guest programs ahead of time", command, "cargo xtask setup")
}

/// Adds the packs that tests need. They are fetched and compiled once for a user and kept.
pub(crate) fn packs(project: &Project, progress: &mut Progress) -> Result<()> {
    for pack in ["python", "python-slim"] {
        let mut command = Command::new(project.tidebox());
        command.args(["pack", "add", pack]);
        progress.run(&format!("add the pack {pack}"), command, "cargo xtask setup")?;
    }
    Ok(())
}

fn targets(progress: &mut Progress) -> Result<()> {
    let mut missing = Vec::new();
    for target in TARGETS {
        if !is_installed(target)? {
            missing.push(target);
        }
    }
    if missing.is_empty() {
        progress.print("the wasm targets are installed");
        return Ok(());
    }
    let mut rustup = Command::new("rustup");
    rustup.args(["target", "add"]).args(&missing);
    progress.run("install the wasm targets", rustup, "cargo xtask setup")
}

/// Returns whether the active toolchain has a standard library for `target`. Queries rustc, so that a toolchain without
/// rustup passes too.
fn is_installed(target: &str) -> Result<bool> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.args(["--print", "target-libdir", "--target", target]);
    let printed = step::output(&mut command, "cargo xtask setup")?;
    let dir = String::from_utf8(printed).context("rustc printed a path that is not UTF-8")?;
    let dir = PathBuf::from(dir.trim_end());
    Ok(std::fs::read_dir(&dir).is_ok_and(|mut entries| entries.next().is_some()))
}
