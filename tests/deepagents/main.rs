//! Deep Agents for Python and for JavaScript, on sandboxes of `tidebox backend`: its standard tests, and the results that a
//! scripted model gets from its tools.
//!
//! Interpreters and packages are optional. If one is missing, its tests are ignored and their names state the reason; no test
//! passes without running. The packages are installed once, into the user's cache directory.

mod install;
mod javascript;
mod python;
mod trial;

use std::process::{Command, ExitCode, Stdio};

use libtest_mimic::{Arguments, Failed};

/// The built command.
const TIDEBOX: &str = env!("CARGO_BIN_EXE_tidebox");

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let trials = [python::trials(), javascript::trials()].into_iter().flatten().collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Runs a program and returns its output if it succeeds; otherwise the output is the error.
fn output(command: &mut Command) -> Result<String, Failed> {
    let output = command.env("TIDEBOX", TIDEBOX).stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(text) } else { Err(format!("{}\n{text}", output.status).into()) }
}

/// Checks that exactly this number of cases ran.
fn check_summary(output: &str, summary: &str) -> Result<(), Failed> {
    if output.contains(summary) { Ok(()) } else { Err(format!("no {summary:?} in:\n{output}").into()) }
}
