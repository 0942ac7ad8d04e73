//! Runs the targets of `fuzz/` with the stable compiler: with random inputs, or with libFuzzer.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::project::Project;
use crate::step::{self, Progress};

/// The coverage that libFuzzer needs, as `cargo fuzz` selects it, without a sanitizer: Tidebox has almost no unsafe code, and
/// the sanitizers need a nightly compiler.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
                        -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares \
                        -Ccodegen-units=1";

/// Stack size of a target in KiB, the same as in `tidebox-fuzz`. libFuzzer calls targets on the main thread.
const STACK_KIB: u32 = 64 << 10;

/// Seconds that libFuzzer allows for one input.
const INPUT_SECONDS: u32 = 60;

/// Maximum length of an input in bytes. Longer ones are slower and reach no other code.
const MAX_INPUT_BYTES: u32 = 16 << 10;

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

/// Runs all targets, or the named ones, with libFuzzer for `minutes` each. The inputs are kept between runs.
pub(crate) fn libfuzzer(project: &Project, progress: &mut Progress, minutes: &str, targets: &[&str]) -> Result<()> {
    let seconds = minutes.parse::<f64>().context("the minutes are not a number")? * 60.0;
    let host = host()?;
    let profile = ["--locked", "--profile", "libfuzzer", "--features", "libfuzzer", "--target", &host];
    let mut build = cargo(project, &["build", "--bin", "any"]);
    // A target is named so that build scripts and macros are not instrumented.
    build.args(profile).env("RUSTFLAGS", COVERAGE);
    progress.run("build the targets for libFuzzer", build, "cargo xtask fuzz --libfuzzer")?;
    let program = project.target.join("fuzz").join(&host).join("libfuzzer/any");
    let listed =
        step::output(&mut cargo(project, &["run", "--locked", "--quiet", "--", "--list"]), "cargo xtask fuzz")?;
    let listed = String::from_utf8(listed).context("the list of targets is not text")?;
    let known: Vec<&str> = listed.lines().collect();
    for target in targets {
        ensure!(known.contains(target), "there is no target {target}; the targets are {}", known.join(", "));
    }
    let findings = project.root.join("fuzz/findings");
    fs::create_dir_all(&findings).with_context(|| format!("cannot create {}", findings.display()))?;
    for target in if targets.is_empty() { &known } else { targets } {
        let corpus = project.target.join("fuzz/corpus").join(target);
        let seeds = cargo(project, &["run", "--locked", "--quiet", "--", "--write-seeds"]);
        write_seeds(seeds, target, &corpus)?;
        // A shell sets the size of the stack, which a process cannot change after its start.
        let mut command = Command::new("sh");
        command.args(["-c", &format!("ulimit -s {STACK_KIB} && exec \"$0\" \"$@\"")]).arg(&program).arg(&corpus);
        command.arg(format!("-artifact_prefix={}/{target}-", findings.display()));
        command.arg(format!("-max_total_time={}", seconds.round()));
        command.arg(format!("-timeout={INPUT_SECONDS}")).arg(format!("-max_len={MAX_INPUT_BYTES}"));
        command.args(["-print_final_stats=1", "-use_value_profile=0"]);
        // A fuzzed guest must not depend on the host's environment.
        command.env_clear().env("PATH", "/usr/bin:/bin").env("RUST_BACKTRACE", "1").env("TIDEBOX_FUZZ", target);
        progress.run(
            &format!("libFuzzer: {target}"),
            command,
            &format!("cargo xtask fuzz --libfuzzer --minutes {minutes} {target}"),
        )?;
    }
    Ok(())
}

fn write_seeds(mut command: Command, target: &str, corpus: &std::path::Path) -> Result<()> {
    fs::create_dir_all(corpus).with_context(|| format!("cannot create {}", corpus.display()))?;
    step::output(command.arg(corpus).arg(target), "cargo xtask fuzz").map(drop)
}

/// Returns the target triple of this host.
fn host() -> Result<String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let printed = step::output(Command::new(rustc).arg("-vV"), "cargo xtask fuzz")?;
    let printed = String::from_utf8(printed).context("rustc printed a version that is not text")?;
    let host = printed.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc -vV names no host")
}

/// The workspace and its target directory are separate, because the targets are built with additional checks.
pub(crate) fn cargo(project: &Project, arguments: &[&str]) -> Command {
    let mut command = project.cargo(arguments);
    command.current_dir(project.root.join("fuzz")).env("CARGO_TARGET_DIR", project.target.join("fuzz"));
    command
}
