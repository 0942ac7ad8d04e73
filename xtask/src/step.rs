//! Steps with their times, and the command to repeat when one fails.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

use crate::totals::{self, Totals};

/// Number of test runners at a time, where several may run concurrently.
const PARALLEL: usize = 2;

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

    /// Like [`run_tests`](Self::run_tests) for runners that leave a processor idle: [`PARALLEL`] run at a time, started in
    /// their order. The output of each is printed when it ends. After a failure no further runner starts.
    pub(crate) fn run_tests_in_parallel(&mut self, runs: Vec<Run>, retry: &str) -> Result<()> {
        let waiting = Mutex::new(VecDeque::from(runs));
        let waiting = &|| waiting.lock().unwrap_or_else(PoisonError::into_inner);
        thread::scope(|scope| {
            let (sender, results) = mpsc::channel();
            for _ in 0..PARALLEL {
                let sender = sender.clone();
                scope.spawn(move || {
                    loop {
                        let Some(run) = waiting().pop_front() else { break };
                        let result = run.finish(retry);
                        if result.outcome.is_err() {
                            waiting().clear();
                        }
                        if sender.send(result).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            results.into_iter().try_for_each(|result| self.report(result))
        })
    }

    fn report(&mut self, result: RunResult) -> Result<()> {
        let RunResult { name, seconds, output, outcome } = result;
        self.print(&name);
        std::io::stdout().write_all(&output).context("cannot print the output of the tests")?;
        let totals = outcome.with_context(|| format!("the step \"{name}\" failed"))?;
        let Totals { passed, skipped, .. } = totals;
        self.print(&format!("{name}: {passed} passed, {skipped} skipped in {seconds:.1} s"));
        self.totals.add(&totals);
        self.finished.push((name, seconds));
        Ok(())
    }
}

/// A test runner to start.
#[derive(Debug)]
pub(crate) struct Run {
    /// Name of the step.
    pub(crate) name: String,
    pub(crate) command: Command,
}

/// Result of a test runner that ended, or could not start.
struct RunResult {
    name: String,
    seconds: f64,
    output: Vec<u8>,
    outcome: Result<Totals>,
}

impl Run {
    /// Runs it to its end. A runner that fails, or runs no test, is an error.
    fn finish(mut self, retry: &str) -> RunResult {
        let started = Instant::now();
        let (output, counted) = totals::run_and_keep(&mut self.command);
        let outcome = self.check(counted, retry);
        RunResult { name: self.name, seconds: started.elapsed().as_secs_f64(), output, outcome }
    }

    fn check(&self, counted: Result<(ExitStatus, Totals)>, retry: &str) -> Result<Totals> {
        let (status, totals) = counted.with_context(|| cannot_start(&self.command, retry))?;
        if !status.success() {
            bail!("{}", failed(&self.command, &status.to_string(), retry));
        }
        ensure!(totals.passed > 0, "no test ran: `{}`", command_line(&self.command));
        Ok(totals)
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

/// Formats bytes as lowercase hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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

    fn shell(script: &str) -> Run {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Run { name: script.to_owned(), command }
    }

    #[test]
    fn parallel_runs_add_up() {
        let mut progress = Progress::start();
        let runs = (0..5).map(|_| shell("echo '# pass 2'; echo '# skipped 1' >&2")).collect();
        progress.run_tests_in_parallel(runs, "retry").expect("all succeed");
        assert_eq!(progress.totals, Totals { passed: 10, failed: 0, skipped: 5 });
        assert_eq!(progress.finished.len(), 5);
    }

    #[test]
    fn a_failed_parallel_run_is_named_and_the_rest_does_not_start() {
        let marker = std::env::temp_dir().join(format!("tidebox-xtask-parallel-{}", std::process::id()));
        let late = shell(&format!("echo '# pass 1'; touch '{}'", marker.display()));
        let mut runs = vec![shell("sleep 0.2; exit 3"), shell("echo '# pass 1'; sleep 5")];
        runs.push(late);
        let error =
            Progress::start().run_tests_in_parallel(runs, "cargo xtask npm test").expect_err("one exits with 3");
        assert!(format!("{error:#}").contains("`sh -c 'sleep 0.2; exit 3'` exited with"), "{error:#}");
        assert!(!marker.exists(), "a run started after the failure");
    }

    #[test]
    fn a_parallel_run_without_tests_fails() {
        let error = Progress::start().run_tests_in_parallel(vec![shell("true")], "retry").expect_err("no test ran");
        assert!(format!("{error:#}").contains("no test ran: `sh -c true`"), "{error:#}");
    }

    #[test]
    fn a_command_line_is_quoted_for_a_shell() {
        let mut command = Command::new("/somewhere/cargo");
        command.args(["clippy", "--", "-D", "it's", ""]);
        assert_eq!(command_line(&command), r"cargo clippy -- -D 'it'\''s' ''");
    }
}
