//! Git's own tests, run with a native build of the same source and in the sandbox.
//!
//! The scripts are those of the source that `cargo xtask pack git` fetches; none is in the repository. Each result is a file below
//! `git-suite` in the target directory, so that an interrupted run continues where it stopped.

mod build;
mod report;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::pack_git::{self, VERSION};
use crate::project::Project;
use crate::step::{Progress, run};
use build::Suite;
use report::Report;

const RETRY: &str = "cargo xtask git-suite";

/// Time limit of a script on the host, in seconds. `tests/git_suite.rs` has that of the sandbox.
const SECONDS: &str = "300";

/// Scripts that the sandbox runs in one process of the host.
const BATCH: usize = 20;

/// The requested scripts.
#[derive(Debug, Default, PartialEq, Eq)]
struct Selection {
    names: Vec<String>,
    sample: Option<usize>,
    again: bool,
    /// True if the host program is compiled with optimisation, which takes minutes.
    optimised: bool,
}

impl Selection {
    fn parse(arguments: &[&str]) -> Result<Self> {
        let mut selection = Self::default();
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            match *argument {
                "--again" => selection.again = true,
                "--release" => selection.optimised = true,
                "--sample" => {
                    let count = arguments.next().context("--sample needs a number of scripts")?;
                    selection.sample =
                        Some(count.parse().with_context(|| format!("{count} is not a number of scripts"))?);
                }
                option if option.starts_with('-') => {
                    bail!("`{RETRY}` accepts --sample N, --again, --release and scripts, not {option}")
                }
                name => selection.names.push(name.trim_end_matches(".sh").to_owned()),
            }
        }
        Ok(selection)
    }

    /// Returns the selected scripts of all, in their order. A name selects every script that starts with it.
    fn select(&self, all: &[String]) -> Result<Vec<String>> {
        let mut selected: Vec<String> = all.to_vec();
        if !self.names.is_empty() {
            for name in &self.names {
                ensure!(all.iter().any(|script| script.starts_with(name.as_str())), "Git {VERSION} has no test {name}");
            }
            selected.retain(|script| self.names.iter().any(|name| script.starts_with(name.as_str())));
        }
        if let Some(count) = self.sample {
            // Sorted by a hash of the name: the same scripts in every run, and more of them with a larger number.
            selected.sort_by_key(|script| hash(script));
            selected.truncate(count);
            selected.sort();
        }
        Ok(selected)
    }
}

/// FNV-1a.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Runs `cargo xtask git-suite`.
pub(crate) fn git_suite(project: &Project, progress: &mut Progress, arguments: &[&str]) -> Result<()> {
    let selection = Selection::parse(arguments)?;
    let build = pack_git::find_or_build(project, progress)?;
    let suite = build::prepare(project, progress, &build)?;
    let scripts = selection.select(&list(&suite.native)?)?;
    ensure!(!scripts.is_empty(), "no script is selected");
    if selection.again {
        for script in &scripts {
            for result in [suite.native_result(script), suite.sandbox_result(script)] {
                let _ = fs::remove_file(result);
            }
        }
    }
    progress.step("Git's own tests on the host", |progress| run_native(&suite, progress, &scripts))?;
    progress.step("Git's own tests in the sandbox", |progress| {
        run_sandbox(project, &suite, progress, &scripts, &selection)
    })?;
    let mut report = Report::default();
    for script in &scripts {
        report.add(script, &read(&suite.native_result(script))?, &read(&suite.sandbox_result(script))?);
    }
    let text = report.format();
    fs::write(suite.dir.join("report.txt"), &text)?;
    print!("{text}");
    Ok(())
}

/// Returns the names of all test scripts.
fn list(source: &Path) -> Result<Vec<String>> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(source.join("t"))? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let is_test = name.strip_prefix('t').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
        names.extend(name.strip_suffix(".sh").filter(|_| is_test).map(str::to_owned));
    }
    Ok(names.into_iter().collect())
}

fn read(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn run_native(suite: &Suite, progress: &Progress, scripts: &[String]) -> Result<()> {
    for script in scripts {
        let result = suite.native_result(script);
        if result.exists() {
            continue;
        }
        let partial = result.with_extension("part");
        let trash = tempfile_dir(suite, script)?;
        let mut command = Command::new("timeout");
        command.args(["-k", "5", SECONDS, "bash", &format!("./{script}.sh")]);
        command.arg(format!("--root={}", trash.join("trash").display())).current_dir(suite.native.join("t"));
        command.env("TEST_OUTPUT_DIRECTORY", trash.join("output")).env("GIT_TEST_CHAIN_LINT", "0");
        command.stdin(Stdio::null()).stdout(fs::File::create(&partial)?).stderr(Stdio::null());
        command.status().context("cannot start `timeout`")?;
        fs::rename(partial, result)?;
        let _ = fs::remove_dir_all(trash);
        progress.print(&format!("{script}: done on the host"));
    }
    Ok(())
}

/// Returns a new directory for the files of a script.
fn tempfile_dir(suite: &Suite, script: &str) -> Result<PathBuf> {
    let dir = suite.dir.join("run").join(script);
    if dir.exists() {
        fs::remove_dir_all(&dir)?;
    }
    fs::create_dir_all(dir.join("output"))?;
    Ok(dir)
}

/// Runs the scripts without a result by `tests/git_suite.rs`.
fn run_sandbox(
    project: &Project,
    suite: &Suite,
    progress: &Progress,
    scripts: &[String],
    selection: &Selection,
) -> Result<()> {
    let pending: Vec<&String> = scripts.iter().filter(|script| !suite.sandbox_result(script).exists()).collect();
    for batch in pending.chunks(BATCH) {
        let mut command = project.cargo(&["test", "--quiet", "--locked", "--test", "git_suite"]);
        command
            .args(selection.optimised.then_some("--release"))
            .arg("--")
            .args(batch)
            .env("TIDEBOX_GIT_SUITE_SOURCE", &suite.guest)
            .env("TIDEBOX_GIT_SUITE_RESULTS", suite.dir.join("sandbox"));
        run(&mut command, RETRY)?;
        progress.print(&format!("{} scripts done in the sandbox", batch.len()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_selected_by_name_and_by_number() {
        let all: Vec<String> = ["t0000-basic", "t0001-init", "t1000-a", "t1001-b"].map(str::to_owned).to_vec();
        let by_name = Selection::parse(&["t0", "t1001-b.sh"]).unwrap();
        assert_eq!(by_name.select(&all).unwrap(), ["t0000-basic", "t0001-init", "t1001-b"]);
        let sample = Selection::parse(&["--sample", "2", "--again", "--release"]).unwrap();
        assert!(sample.again && sample.optimised);
        let two = sample.select(&all).unwrap();
        assert_eq!(two.len(), 2);
        let three = Selection::parse(&["--sample", "3"]).unwrap().select(&all).unwrap();
        assert!(two.iter().all(|script| three.contains(script)), "a larger sample contains a smaller one");
        assert!(Selection::parse(&["t7"]).unwrap().select(&all).is_err());
        assert!(Selection::parse(&["--unknown"]).is_err());
        assert!(Selection::parse(&["--sample"]).is_err());
    }
}
