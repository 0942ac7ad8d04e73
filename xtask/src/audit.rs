//! Checks of the dependencies and of the public interface by programs of the ecosystem: `cargo deny`, which reads the RustSec
//! database, and `cargo semver-checks`, which compares with the last release.
//!
//! Both are optional, because building them takes longer than most of the tests. What cannot run here prints why.

use std::process::{Command, Output};

use anyhow::{Context, Result, bail};

use crate::project::Project;
use crate::step::{self, Progress};

const RETRY: &str = "cargo xtask audit";

/// Message of cargo-deny if it cannot reach the database.
const NO_DATABASE: &str = "failed to fetch advisory database";

/// Runs `cargo xtask audit`.
pub(crate) fn audit(project: &Project, progress: &mut Progress) -> Result<()> {
    dependencies(project, progress)?;
    interface(project, progress)
}

/// Checks sources and duplicates of the dependencies, then whether one has a known vulnerability. `deny.toml` has the rules.
fn dependencies(project: &Project, progress: &mut Progress) -> Result<()> {
    if !has(project, "deny") {
        progress.print("`cargo deny` is skipped: it is not installed; `cargo install --locked cargo-deny` installs it");
        return Ok(());
    }
    progress.run("cargo deny", deny(project, &["bans", "sources"]), RETRY)?;
    progress.step("known vulnerabilities", |progress| {
        let output = deny(project, &["advisories"]).output().context("cannot start `cargo deny`")?;
        match Advisories::read(&output) {
            Advisories::None => {}
            Advisories::Unknown => {
                progress.print("the RustSec advisories are skipped: their database cannot be fetched from GitHub");
            }
            Advisories::Found(text) => bail!("{text}\nsee above, then run `{RETRY}` again"),
        }
        Ok(())
    })
}

fn deny(project: &Project, checks: &[&str]) -> Command {
    let mut command = project.cargo(&["deny", "--locked", "--workspace", "check", "--hide-inclusion-graph"]);
    command.args(checks);
    command
}

/// Result of `cargo deny check advisories`.
#[derive(Debug, PartialEq, Eq)]
enum Advisories {
    None,
    /// The database is not at hand.
    Unknown,
    Found(String),
}

impl Advisories {
    fn read(output: &Output) -> Self {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() {
            Self::None
        } else if text.contains(NO_DATABASE) {
            Self::Unknown
        } else {
            Self::Found(text)
        }
    }
}

/// Checks that the public interface of the library has not changed more than its version says.
fn interface(project: &Project, progress: &mut Progress) -> Result<()> {
    if !has(project, "semver-checks") {
        progress.print(
            "`cargo semver-checks` is skipped: it is not installed; `cargo install --locked cargo-semver-checks` installs it",
        );
        return Ok(());
    }
    let mut info = project.cargo(&["info", "--quiet", "--registry", "crates-io", "tidebox"]);
    if step::output(&mut info, RETRY).is_err() {
        progress.print("`cargo semver-checks` is skipped: the registry has no release of tidebox to compare with");
        return Ok(());
    }
    progress.run("cargo semver-checks", project.cargo(&["semver-checks", "--package", "tidebox"]), RETRY)
}

fn has(project: &Project, subcommand: &str) -> bool {
    project.cargo(&[subcommand, "--version"]).output().is_ok_and(|output| output.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_database_is_no_vulnerability() {
        let run = |script: &str| Command::new("sh").args(["-c", script]).output().expect("sh starts");
        assert_eq!(Advisories::read(&run("true")), Advisories::None);
        let missing = run("echo '[ERROR] failed to fetch advisory database https://github.com/x' >&2; exit 1");
        assert_eq!(Advisories::read(&missing), Advisories::Unknown);
        let found = run("echo 'error[vulnerability]: a hole' >&2; exit 1");
        assert_eq!(Advisories::read(&found), Advisories::Found("error[vulnerability]: a hole\n".to_owned()));
    }
}
