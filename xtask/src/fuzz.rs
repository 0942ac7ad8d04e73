//! Runs the targets of `fuzz/` with the stable compiler.

use std::process::Command;

use anyhow::Result;

use crate::project::Project;
use crate::step::Progress;

/// Runs each target on a fixed number of inputs, the same in every run.
pub(crate) fn step(project: &Project, progress: &mut Progress) -> Result<()> {
    progress.run("fuzzing, a few inputs each", cargo(project, &["run", "--locked"]), "cargo xtask fuzz")
}

/// Runs all targets, or the named ones, for `minutes` in total.
pub(crate) fn run(project: &Project, minutes: &str, targets: &[&str]) -> Result<()> {
    // The inputs differ each time; the program prints how to repeat them.
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |now| now.as_secs());
    let mut command = cargo(project, &["run", "--locked", "--", "--minutes", minutes, "--seed", &seed.to_string()]);
    command.args(targets);
    anyhow::ensure!(command.status()?.success(), "a target failed, see above; its input is in fuzz/findings");
    Ok(())
}

/// The workspace and its target directory are separate, because the targets are built with additional checks.
pub(crate) fn cargo(project: &Project, arguments: &[&str]) -> Command {
    let mut command = project.cargo(arguments);
    command.current_dir(project.root.join("fuzz")).env("CARGO_TARGET_DIR", project.target.join("fuzz"));
    command
}
