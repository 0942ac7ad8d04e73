//! Runs the targets of `fuzz/` with the stable compiler.

use std::process::Command;

use anyhow::{Context, Result};

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

/// Instruments all code so that libFuzzer sees which branches an input takes. `cargo fuzz` passes the same options; its sanitizers,
/// which need a nightly compiler, find errors of unsafe code, and the targets run little of it.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares --cfg fuzzing -Ccodegen-units=1 -Cdebug-assertions -Coverflow-checks";

/// Inputs that libFuzzer found, and the seeds.
const SEEDS: &str = "seeds";

/// Runs the named targets with libFuzzer, each for `minutes`, one after the other.
pub(crate) fn run_with_coverage(project: &Project, minutes: &str, targets: &[&str]) -> Result<()> {
    let minutes: u64 = minutes.parse().with_context(|| format!("{minutes:?} is not a number of minutes"))?;
    let seeds = cargo(project, &["run", "--locked", "--", "--seeds", SEEDS]).status()?;
    anyhow::ensure!(seeds.success(), "the seeds cannot be written");
    let host = project.host()?;
    let build = ["build", "--locked", "--release", "--features", "libfuzzer", "--bin", "any", "--target", &host];
    // With `--target`, the flags do not apply to build scripts and macros.
    let built = cargo(project, &build).env("RUSTFLAGS", COVERAGE).status()?;
    anyhow::ensure!(built.success(), "the targets cannot be built; libFuzzer needs a C++ compiler");
    let program = project.target.join("fuzz").join(&host).join("release/any");
    std::fs::create_dir_all(project.root.join("fuzz/findings")).context("cannot create fuzz/findings")?;
    for target in targets {
        let mut command = Command::new(&program);
        command.current_dir(project.root.join("fuzz")).env("TIDEBOX_FUZZ", target).arg(format!("{SEEDS}/{target}"));
        command.arg(format!("-max_total_time={}", minutes.saturating_mul(60)));
        command.args(["-print_final_stats=1", "-timeout=60", &format!("-artifact_prefix=findings/{target}-")]);
        anyhow::ensure!(command.status()?.success(), "{target} failed, see above; its input is in fuzz/findings");
    }
    Ok(())
}

/// The workspace and its target directory are separate, because the targets are built with additional checks.
pub(crate) fn cargo(project: &Project, arguments: &[&str]) -> Command {
    let mut command = project.cargo(arguments);
    command.current_dir(project.root.join("fuzz")).env("CARGO_TARGET_DIR", project.target.join("fuzz"));
    command
}
