//! Steps with their times, and the command to repeat when one fails.

use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::totals::{self, Totals};

/// Prints one line at the start and one at the end of every step, with the time since the start.
#[derive(Debug)]
pub(crate) struct Progress {
    started: Instant,
    /// Names of the finished steps with the seconds they took, in order.
    finished: Vec<(String, f64)>,
    /// Totals that the test runners reported until now.
    pub(crate) totals: Totals,
}

impl Progress {
    pub(crate) fn start() -> Self {
        Self { started: Instant::now(), finished: Vec::new(), totals: Totals::default() }
    }

    /// Prints a line without starting a step.
    pub(crate) fn print(&self, line: &str) {
        println!("[{:7.1} s] {line}", self.started.elapsed().as_secs_f64());
    }

    /// Runs `work` as the step `name`.
    pub(crate) fn step<T>(&mut self, name: &str, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.print(name);
        let before = Instant::now();
        let value = work(self).with_context(|| format!("the step \"{name}\" failed"))?;
        let seconds = before.elapsed().as_secs_f64();
        self.print(&format!("{name}: done in {seconds:.1} s"));
        self.finished.push((name.to_owned(), seconds));
        Ok(value)
    }

    /// Prints the time of every finished step. A step within another one counts in both.
    pub(crate) fn print_times(&self) {
        println!("seconds per step:");
        for (name, seconds) in &self.finished {
            println!("{seconds:9.1}  {name}");
        }
    }

    /// Runs one command as the step `name`. On failure the error names the command and `retry`, the command that
    /// continues from there.
    pub(crate) fn run(&mut self, name: &str, mut command: Command, retry: &str) -> Result<()> {
        self.step(name, |_| run(&mut command, retry))
    }

    /// Like [`run`](Self::run) for a test runner: passes its output through and adds up its totals.
    pub(crate) fn run_tests(&mut self, name: &str, mut command: Command, retry: &str) -> Result<()> {
        self.step(name, |progress| {
            let (status, counted) = totals::run_and_count(&mut command, std::io::stdout(), std::io::stderr())
                .with_context(|| cannot_start(&command, retry))?;
            progress.totals.add(&counted);
            if !status.success() {
                bail!("{}", failed(&command, &status.to_string(), retry));
            }
            Ok(())
        })
    }
}

/// Runs a command to its end with inherited output.
pub(crate) fn run(command: &mut Command, retry: &str) -> Result<()> {
    let status = command.stdin(Stdio::null()).status().with_context(|| cannot_start(command, retry))?;
    if !status.success() {
        bail!("{}", failed(command, &status.to_string(), retry));
    }
    Ok(())
}

/// Runs a command and returns what it wrote to stdout.
pub(crate) fn output(command: &mut Command, retry: &str) -> Result<Vec<u8>> {
    let output =
        command.stdin(Stdio::null()).stderr(Stdio::inherit()).output().with_context(|| cannot_start(command, retry))?;
    if !output.status.success() {
        bail!("{}", failed(command, &output.status.to_string(), retry));
    }
    Ok(output.stdout)
}

fn cannot_start(command: &Command, retry: &str) -> String {
    format!("cannot start `{}`; install it, then run `{retry}` again", command_line(command))
}

fn failed(command: &Command, status: &str, retry: &str) -> String {
    let dir = match command.get_current_dir() {
        Some(dir) => format!(" in {}", dir.display()),
        None => String::new(),
    };
    format!("`{}`{dir} exited with {status}; fix the errors above, then run `{retry}` again", command_line(command))
}

/// Formats the command as a user would type it, without the directory of the program.
fn command_line(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let mut line =
        program.file_name().map_or_else(|| program.display().to_string(), |name| name.to_string_lossy().into_owned());
    for argument in command.get_args() {
        let argument = argument.to_string_lossy();
        let plain = !argument.is_empty()
            && argument.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./=:,@+".contains(&byte));
        let written =
            if plain { write!(line, " {argument}") } else { write!(line, " '{}'", argument.replace('\'', r"'\''")) };
        written.expect("writing to a String cannot fail");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_command_and_how_to_retry() {
        let error =
            run(Command::new("sh").args(["-c", "exit 3"]), "cargo xtask test").expect_err("exit 3 is a failure");
        let text = format!("{error:#}");
        assert!(text.contains("`sh -c 'exit 3'`"), "{text}");
        assert!(text.contains("3"), "{text}");
        assert!(text.contains("run `cargo xtask test` again"), "{text}");
    }

    #[test]
    fn an_error_names_a_command_that_cannot_start() {
        let error = run(&mut Command::new("no-such-program-here"), "cargo xtask setup")
            .expect_err("the program does not exist");
        let text = format!("{error:#}");
        assert!(text.contains("cannot start `no-such-program-here`"), "{text}");
        assert!(text.contains("cargo xtask setup"), "{text}");
    }

    #[test]
    fn a_command_line_is_quoted_for_a_shell() {
        let mut command = Command::new("/somewhere/cargo");
        command.args(["clippy", "--", "-D", "it's", ""]);
        assert_eq!(command_line(&command), r"cargo clippy -- -D 'it'\''s' ''");
    }
}
