//! The targets of `fuzz/`, fed on the stable compiler.

use std::process::Command;

use anyhow::Result;

use crate::project::Project;
use crate::step::Progress;

/// Feeds each target a fixed number of inputs, which are the same at every run.
pub(crate) fn step(project: &Project, progress: &mut Progress) -> Result<()> {
    progress.run("fuzzing, a few inputs each", cargo(project, &["run", "--locked"]), "cargo xtask fuzz")
}

/// Feeds all targets, or those that are named, for so long in all.
pub(crate) fn run(project: &Project, minutes: &str, targets: &[&str]) -> Result<()> {
    // Other inputs each time; the program prints how to have the same again.
    let seed = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |now| now.as_secs());
    let mut command = cargo(project, &["run", "--locked", "--", "--minutes", minutes, "--seed", &seed.to_string()]);
    command.args(targets);
    anyhow::ensure!(
        command.status()?.success(),
        "something was found; it is told above, and its input is in fuzz/findings"
    );
    Ok(())
}

/// Its workspace is apart, and so is its folder, because it is built with checks of its own.
pub(crate) fn cargo(project: &Project, arguments: &[&str]) -> Command {
    let mut command = project.cargo(arguments);
    command.current_dir(project.root.join("fuzz")).env("CARGO_TARGET_DIR", project.target.join("fuzz"));
    command
}
