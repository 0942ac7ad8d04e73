//! What a fresh machine lacks, each part skipped when it is there already.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};

use crate::project::Project;
use crate::step::{self, Progress};
use crate::userland;

/// The targets that the workspace builds for besides the host's own.
const TARGETS: [&str; 3] = [userland::TARGET, userland::COMPONENT_TARGET, "wasm32-unknown-unknown"];

/// Everything: targets, guest programs, the command `tidebox`, compiled modules, packs.
pub(crate) fn setup(project: &Project, progress: &mut Progress) -> Result<()> {
    guests(project, progress)?;
    progress.run(
        "build the command tidebox",
        project.cargo(&["build", "--locked", "--package", "tidebox", "--bin", "tidebox"]),
        "cargo xtask setup",
    )?;
    warm(project, progress)?;
    packs(project, progress)
}

/// Targets and guest programs: what a host build needs to be there.
pub(crate) fn guests(project: &Project, progress: &mut Progress) -> Result<()> {
    targets(progress)?;
    progress.step("build the guest programs", |progress| {
        let built = userland::build(project, "cargo xtask userland")?;
        progress.say(&format!("{} guest programs, {} of them new", built.programs, built.changed));
        Ok(())
    })
}

/// Compiles the guest programs to machine code ahead of time, so that no command pays for it.
pub(crate) fn warm(project: &Project, progress: &mut Progress) -> Result<()> {
    let mut command = Command::new(project.tidebox());
    command.arg("warm");
    progress.run("compile the guest programs ahead of time", command, "cargo xtask setup")
}

/// Adds the packs that tests need: fetched and compiled once for a user, and there from then on.
pub(crate) fn packs(project: &Project, progress: &mut Progress) -> Result<()> {
    let mut command = Command::new(project.tidebox());
    command.args(["pack", "add", "python"]);
    progress.run("add the pack python", command, "cargo xtask setup")
}

fn targets(progress: &mut Progress) -> Result<()> {
    let mut missing = Vec::new();
    for target in TARGETS {
        if !is_installed(target)? {
            missing.push(target);
        }
    }
    if missing.is_empty() {
        progress.say("wasm targets are there");
        return Ok(());
    }
    let mut rustup = Command::new("rustup");
    rustup.args(["target", "add"]).args(&missing);
    progress.run("install the wasm targets", rustup, "cargo xtask setup")
}

/// Whether the active toolchain has a standard library for `target`. Asked of rustc, so that a toolchain that came
/// without rustup passes too.
fn is_installed(target: &str) -> Result<bool> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(rustc);
    command.args(["--print", "target-libdir", "--target", target]);
    let printed = step::output(&mut command, "cargo xtask setup")?;
    let folder = String::from_utf8(printed).context("rustc printed a folder that is not UTF-8")?;
    let folder = PathBuf::from(folder.trim_end());
    Ok(std::fs::read_dir(&folder).is_ok_and(|mut entries| entries.next().is_some()))
}
