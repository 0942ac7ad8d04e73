//! Adds up the totals of the test runners for the last line of a run.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use anyhow::{Context, Result};

/// Number of tests, over all runners.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Totals {
    pub(crate) fn add(&mut self, other: &Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    /// Counts a closing line of `cargo test` (`test result: ok. 3 passed; 0 failed; 1 ignored; ...`) or of nextest
    /// (`     Summary [   0.3s] 3 tests run: 3 passed, 1 skipped`), a line of Node's totals (`# pass 3`), or the closing line
    /// of Deno (`ok | 2 passed (9 steps) | 0 failed (1s)`) or of pytest (`3 passed, 1 skipped in 0.30s`); any other line counts
    /// nothing.
    fn count_line(&mut self, line: &str) {
        let line = without_colours(line);
        let line = line.trim();
        if let Some(total) = line.strip_prefix("# ") {
            self.count_total(total);
            return;
        }
        if let Some(total) = line.strip_prefix("ok | ").or_else(|| line.strip_prefix("FAILED | ")) {
            self.count_deno(total);
            return;
        }
        let is_pytest = line.contains(" in ") && line.starts_with(|first: char| first.is_ascii_digit());
        if !line.starts_with("test result:") && !line.starts_with("Summary [") && !is_pytest {
            return;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        for pair in words.windows(2) {
            let &[number, word] = pair else { continue };
            let Ok(number) = number.parse::<u64>() else {
                continue;
            };
            match word.trim_end_matches([',', ';']) {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" | "skipped" => self.skipped += number,
                _ => {}
            }
        }
    }

    /// The steps of a test are the tests of a suite, which is counted by them.
    fn count_deno(&mut self, total: &str) {
        for part in total.split(" | ") {
            let words: Vec<&str> = part.split_whitespace().collect();
            let Some((&number, [word, rest @ ..])) = words.split_first() else { continue };
            let steps = rest.first().zip(rest.get(1)).filter(|(_, unit)| unit.starts_with("step"));
            let number = steps.map_or(number, |(steps, _)| steps.trim_start_matches('('));
            let Ok(number) = number.parse::<u64>() else { continue };
            match *word {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.skipped += number,
                _ => {}
            }
        }
    }

    fn count_total(&mut self, total: &str) {
        let Some((word, number)) = total.split_once(' ') else { return };
        let Ok(number) = number.parse::<u64>() else { return };
        match word {
            "pass" => self.passed += number,
            // A cancelled test counts as failed.
            "fail" | "cancelled" => self.failed += number,
            "skipped" => self.skipped += number,
            _ => {}
        }
    }
}

/// Runs a test runner, passes its output on as it comes, and counts its closing lines.
pub(crate) fn run_and_count(
    command: &mut Command,
    out: impl Write,
    err: impl Write + Send + 'static,
) -> Result<(ExitStatus, Totals)> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let stdout = child.stdout.take().context("the runner has no stdout")?;
    let stderr = child.stderr.take().context("the runner has no stderr")?;
    let errors = thread::spawn(move || pass_on(stderr, err));
    let mut totals = pass_on(stdout, out)?;
    let of_stderr =
        errors.join().map_err(|_| anyhow::anyhow!("the thread that reads the runner's stderr panicked"))??;
    totals.add(&of_stderr);
    Ok((child.wait()?, totals))
}

/// Like [`run_and_count`], but keeps the output, its two streams in the order in which their lines came.
pub(crate) fn run_and_keep(command: &mut Command) -> (Vec<u8>, Result<(ExitStatus, Totals)>) {
    let kept = SharedBuffer::default();
    let counted = run_and_count(command, kept.clone(), kept.clone());
    let output = std::mem::take(&mut *kept.lines());
    (output, counted)
}

/// A writer that several threads share. The caller writes whole lines, so that lines of several threads do not mix.
#[derive(Clone, Default)]
struct SharedBuffer(Arc<Mutex<Vec<u8>>>);

impl SharedBuffer {
    fn lines(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Write for SharedBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.lines().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn pass_on(from: impl Read, mut to: impl Write) -> Result<Totals> {
    let mut totals = Totals::default();
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line)? > 0 {
        to.write_all(&line)?;
        totals.count_line(&String::from_utf8_lossy(&line));
        line.clear();
    }
    to.flush()?;
    Ok(totals)
}

/// Drops the escape sequences that colour a line (`ESC [ ... m`).
fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain.push_str(before);
        rest = after.split_once('m').map_or("", |(_, tail)| tail);
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn totals(passed: u64, failed: u64, skipped: u64) -> Totals {
        Totals { passed, failed, skipped }
    }

    #[test]
    fn closing_lines_of_both_runners_are_counted() {
        let mut counted = Totals::default();
        counted.count_line("test result: ok. 3 passed; 1 failed; 2 ignored; 0 measured; 9 filtered out");
        counted.count_line("     Summary [   0.300s] 5 tests run: 4 passed, 1 failed, 7 skipped");
        assert_eq!(counted, totals(7, 2, 9));
    }

    #[test]
    fn the_closing_line_of_pytest_is_counted() {
        let mut counted = Totals::default();
        for line in ["4 passed, 1 skipped in 0.30s", "1 failed, 2 passed in 61.05s (0:01:01)", "3 files in 2 folders"] {
            counted.count_line(line);
        }
        assert_eq!(counted, totals(6, 1, 1));
    }

    #[test]
    fn the_totals_of_node_are_counted() {
        let mut counted = Totals::default();
        for line in
            ["# tests 9\n", "# pass 5\n", "# fail 1\n", "# cancelled 1\n", "# skipped 2\r\n", "# Subtest: pass 3\n"]
        {
            counted.count_line(line);
        }
        assert_eq!(counted, totals(5, 2, 2));
    }

    #[test]
    fn the_closing_line_of_deno_is_counted_by_its_steps() {
        let mut counted = Totals::default();
        counted.count_line("ok | 3 passed (28 steps) | 0 failed (4s)\n");
        counted.count_line("FAILED | 2 passed (1 step) | 1 failed (2 steps) | 1 ignored (3 steps) (1m2s)\n");
        counted.count_line("ok | 4 passed | 0 failed | 5 ignored (812ms)\n");
        assert_eq!(counted, totals(33, 2, 8));
    }

    #[test]
    fn a_coloured_closing_line_is_counted() {
        let mut counted = Totals::default();
        counted.count_line("\u{1b}[32;1m     Summary\u{1b}[0m [ 0.1s] \u{1b}[1m2\u{1b}[0m tests run: \u{1b}[1m2\u{1b}[0m \u{1b}[32;1mpassed\u{1b}[0m, \u{1b}[1m0\u{1b}[0m skipped");
        assert_eq!(counted, totals(2, 0, 0));
    }

    #[test]
    fn other_lines_count_nothing() {
        let mut counted = Totals::default();
        counted.count_line("3 passed");
        counted.count_line("running 3 tests");
        assert_eq!(counted, Totals::default());
    }

    #[test]
    fn a_runner_keeps_its_exit_status_while_it_is_counted() {
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "echo 'test result: ok. 1 passed; 0 failed'; echo ' Summary [1s] 1 tests run: 1 passed' >&2; exit 4",
        ]);
        let (status, counted) = run_and_count(&mut command, std::io::sink(), std::io::sink()).expect("sh starts");
        assert_eq!(status.code(), Some(4));
        assert_eq!(counted, totals(2, 0, 0));
    }
}
