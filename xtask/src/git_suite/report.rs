//! Comparison of the results of both sides.

use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Result of one test in the Test Anything Protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    Skipped,
}

/// Counts of a family or of all scripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counts {
    scripts: usize,
    /// Scripts whose tests all passed in the sandbox, of those with a test that passed on the host.
    whole: usize,
    /// Tests that passed on the host.
    native: usize,
    /// Those of them that passed in the sandbox.
    sandbox: usize,
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.scripts += other.scripts;
        self.whole += other.whole;
        self.native += other.native;
        self.sandbox += other.sandbox;
    }

    fn format(self) -> String {
        let percent = 100.0 * self.sandbox as f64 / self.native.max(1) as f64;
        format!("{} of {} tests that pass on the host ({percent:.1} %)", self.sandbox, self.native)
    }
}

/// Lines for each script, and the counts.
#[derive(Debug, Default)]
pub(super) struct Report {
    lines: String,
    families: BTreeMap<String, Counts>,
}

impl Report {
    /// Adds the output of a script on both sides.
    pub(super) fn add(&mut self, script: &str, native: &str, sandbox: &str) {
        let (native, sandbox) = (parse(native), parse(sandbox));
        let mut counts = Counts { scripts: 1, ..Counts::default() };
        let mut failures = String::new();
        for (number, (title, _)) in native.iter().filter(|(_, (_, outcome))| *outcome == Outcome::Passed) {
            counts.native += 1;
            let what = match sandbox.get(number).map(|(_, outcome)| *outcome) {
                Some(Outcome::Passed) => {
                    counts.sandbox += 1;
                    continue;
                }
                Some(Outcome::Failed) => "failed",
                Some(Outcome::Skipped) => "skipped",
                None => "not reached",
            };
            let _ = writeln!(failures, "    {number} {what}: {title}");
        }
        counts.whole = usize::from(counts.sandbox == counts.native);
        let _ = write!(self.lines, "{script}: {}\n{failures}", counts.format());
        let family: String = script.chars().take(2).collect();
        self.families.entry(family).or_default().add(counts);
    }

    /// Returns the lines of the scripts, the families and the sum.
    pub(super) fn format(&self) -> String {
        let mut text = self.lines.clone();
        let mut all = Counts::default();
        for (family, counts) in &self.families {
            let _ = writeln!(
                text,
                "{family}: {} scripts, {} without a difference, {}",
                counts.scripts,
                counts.whole,
                counts.format()
            );
            all.add(*counts);
        }
        let _ = writeln!(text, "all: {} scripts, {} without a difference, {}", all.scripts, all.whole, all.format());
        text
    }
}

/// Returns title and outcome by the number of the test. A test that is expected to fail counts as skipped.
fn parse(output: &str) -> BTreeMap<usize, (String, Outcome)> {
    let mut tests = BTreeMap::new();
    for line in output.lines() {
        let (passed, rest) = match (line.strip_prefix("ok "), line.strip_prefix("not ok ")) {
            (Some(rest), _) => (Outcome::Passed, rest),
            (None, Some(rest)) => (Outcome::Failed, rest),
            (None, None) => continue,
        };
        let (number, title) = rest.split_once(' ').unwrap_or((rest, ""));
        let Ok(number) = number.parse() else { continue };
        let is_special = title.contains("# TODO") || title.trim_start().starts_with("# skip");
        let outcome = if is_special { Outcome::Skipped } else { passed };
        tests.insert(number, (title.trim_start_matches("- ").to_owned(), outcome));
    }
    tests
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tests_that_pass_on_the_host_count() {
        let mut report = Report::default();
        let native = "ok 1 - one\nok 2 - two\nnot ok 3 - three\nok 4 # skip four (missing X)\nnot ok 5 - five # TODO known breakage\nok 6 - six\nok 7 - seven\n1..7\n";
        report.add("t0001-init", native, "ok 1 - one\nnot ok 2 - two\nok 3 - three\nok 4 - four\nok 6 # skip six\n");
        report.add("t0100-previous", "ok 1 - a\n", "ok 1 - a\n");
        let text = report.format();
        assert!(text.contains("t0001-init: 1 of 4 tests that pass on the host (25.0 %)\n"), "{text}");
        for line in ["    2 failed: two\n", "    6 skipped: six\n", "    7 not reached: seven\n"] {
            assert!(text.contains(line), "{text}");
        }
        assert!(text.contains("t0: 2 scripts, 1 without a difference, 2 of 5 tests"), "{text}");
        assert!(
            text.ends_with("all: 2 scripts, 1 without a difference, 2 of 5 tests that pass on the host (40.0 %)\n"),
            "{text}"
        );
    }
}
