//! `tidebox doctor`: properties of this host that matter, and what to do about them.

mod checks;
#[cfg(target_os = "linux")]
mod linux;

use std::io;

use anyhow::{Context as _, Result};
use clap::builder::styling::{AnsiColor, Style};
use serde::Serialize;

use crate::cli::exit_code;
use crate::cli::output::{STDOUT_FAILED, print_json};

/// Result of a check, from good to bad.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Ok,
    /// It works, but more slowly or with less.
    Warning,
    /// Something does not work.
    Problem,
}

/// One line of the report.
#[derive(Debug, PartialEq, Serialize)]
struct Check {
    name: &'static str,
    state: State,
    /// The finding.
    found: String,
    /// The action for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// The object of `--json`.
#[derive(Debug, Serialize)]
struct Report {
    version: &'static str,
    /// The worst state of all checks.
    state: State,
    checks: Vec<Check>,
}

impl Check {
    fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self { name, state: State::Ok, found: found.into(), hint: None }
    }

    fn warning(name: &'static str, found: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name, state: State::Warning, found: found.into(), hint: Some(hint.into()) }
    }

    fn problem(name: &'static str, found: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { name, state: State::Problem, found: found.into(), hint: Some(hint.into()) }
    }
}

/// Checks this host and prints the report. Returns [`exit_code::PROBLEM`] if a check found a problem.
pub(crate) fn doctor(json: bool) -> Result<u8> {
    let checks = checks::all();
    let state = checks.iter().map(|check| check.state).max().unwrap_or(State::Ok);
    let report = Report { version: env!("CARGO_PKG_VERSION"), state, checks };
    match json {
        true => print_json(&report)?,
        false => print(&report, &mut anstream::stdout().lock()).context(STDOUT_FAILED)?,
    }
    Ok(if state == State::Problem { exit_code::PROBLEM } else { exit_code::SUCCESS })
}

/// Prints a line for each check, and a hint below those that need one.
fn print(report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
    for check in &report.checks {
        let (word, color) = match check.state {
            State::Ok => ("ok", AnsiColor::Green),
            State::Warning => ("warning", AnsiColor::Yellow),
            State::Problem => ("problem", AnsiColor::Red),
        };
        let style = Style::new().fg_color(Some(color.into())).bold();
        writeln!(out, "{style}{word:<8}{style:#} {:<11} {}", check.name, check.found)?;
        if let Some(hint) = &check.hint {
            writeln!(out, "{:21}{hint}", "")?;
        }
    }
    let count = |state| report.checks.iter().filter(|check| check.state == state).count();
    writeln!(out, "{} problems, {} warnings", count(State::Problem), count(State::Warning))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_has_a_hint_below_its_line() {
        let checks = vec![Check::ok("version", "1"), Check::problem("cache", "none", "set XDG_CACHE_HOME")];
        let mut text = Vec::new();
        print(&Report { version: "1", state: State::Problem, checks }, &mut text).unwrap();
        let text = anstream::adapter::strip_bytes(&text).into_vec();
        let expected = "ok       version     1\nproblem  cache       none\n                     set XDG_CACHE_HOME\n1 problems, 0 warnings\n";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
