//! Decides whether a shell behaves like bash. A difference is ignored only if bash itself is nondeterministic there, as shown by
//! several runs, some of them under unusual conditions.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::difference;
use crate::format::Outcome;
use crate::run::{self, Condition, UNUSUAL};

/// Number of further runs of bash in the usual condition before a different outcome counts as a difference.
const AGAIN: usize = 8;

/// Number of runs in each unusual condition.
const AGAIN_UNUSUAL: usize = 5;

/// The shell that is compared with bash.
pub(crate) enum Ours {
    Sandbox,
    Program(PathBuf),
}

impl Ours {
    pub(crate) fn run(&self, script: &str) -> Option<Outcome> {
        match self {
            Self::Sandbox => Some(run::in_sandbox(script)),
            Self::Program(program) => run::by_program(program, script, Condition::Usual),
        }
    }
}

pub(crate) fn by_bash(script: &str) -> Option<Outcome> {
    by_bash_in(script, Condition::Usual)
}

fn by_bash_in(script: &str, condition: Condition) -> Option<Outcome> {
    run::by_program(Path::new("bash"), script, condition)
}

/// Result of comparing a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Same,
    /// Equal except for ignored parts, with the reason.
    Skipped(&'static str),
    Differs,
}

pub(crate) const NO_END: &str = "bash does not terminate";
pub(crate) const ORDER: &str = "concurrent processes report the same errors in another order";
pub(crate) const PROCESS: &str = "an error contains a process id";
pub(crate) const NUMBERS: &str = "bash prints other numbers in each run";
pub(crate) const HOST: &str = "a list of variables contains the host name";
pub(crate) const BACKGROUND: &str = "the output of a background child is missing";
pub(crate) const SOMETIMES: &str = "bash does the same in some runs";
pub(crate) const ON_ONE_PROCESSOR: &str = "bash does the same on one processor";
pub(crate) const BY_MEMORY: &str = "bash does the same with other content of freed memory";
pub(crate) const NATIVE_SHELL: &str = "the native shell behaves like bash in some runs";
pub(crate) const ERROR: &str = "bash reports an error in the script, which is therefore not ordinary";
pub(crate) const WITHIN: &str = "bash prints these lines in some runs only";

pub(crate) fn compare(ours: &Ours, script: &str) -> Comparison {
    let Some(expected) = by_bash(script) else { return Comparison::Skipped(NO_END) };
    let seen = ours.run(script);
    let first = seen.as_ref().map_or(Comparison::Differs, |seen| compare_outcomes(script, &expected, seen));
    if first != Comparison::Differs {
        return first;
    }
    // Recovery after an error need not be that of bash (docs/decisions/fidelity.md), but the shell must exit without being killed.
    if !expected.stderr.is_empty() && seen.as_ref().is_some_and(|seen| !is_crash(&expected, seen)) {
        return Comparison::Skipped(ERROR);
    }
    let usual = std::iter::repeat_n(Condition::Usual, AGAIN);
    let unusual = UNUSUAL.into_iter().flat_map(|condition| std::iter::repeat_n(condition, AGAIN_UNUSUAL));
    let mut runs = vec![expected];
    for condition in usual.chain(unusual) {
        // Skip outcomes that show the condition itself.
        let outcome = by_bash_in(script, condition).filter(|outcome| !difference::contains(outcome, "GLIBC_TUNABLES"));
        let Some(outcome) = outcome else { continue };
        if seen.as_ref().is_some_and(|seen| compare_outcomes(script, &outcome, seen) != Comparison::Differs) {
            return Comparison::Skipped(match condition {
                Condition::Usual => SOMETIMES,
                Condition::OneProcessor => ON_ONE_PROCESSOR,
                Condition::Memory(_) => BY_MEMORY,
            });
        }
        runs.push(outcome);
    }
    if let Some(why) = seen.and_then(|seen| within(script, &runs, &seen)) {
        return Comparison::Skipped(why);
    }
    // A native shell uses host processes, which are scheduled randomly; the sandbox is deterministic.
    let at_times = |seen: Outcome| runs.iter().any(|run| compare_outcomes(script, run, &seen) != Comparison::Differs);
    match ours {
        Ours::Program(_) if ours.run(script).is_some_and(at_times) => Comparison::Skipped(NATIVE_SHELL),
        _ => Comparison::Differs,
    }
}

/// Returns whether the shell panicked, or was stopped by a limit or signal where bash was not.
fn is_crash(expected: &Outcome, seen: &Outcome) -> bool {
    const STOPPED: [i32; 4] = [124, 134, 137, 139];
    (STOPPED.contains(&seen.exit) && seen.exit != expected.exit) || difference::holds(&seen.stderr, "panicked at")
}

/// Compares one outcome with one of bash.
fn compare_outcomes(script: &str, expected: &Outcome, seen: &Outcome) -> Comparison {
    if expected == seen {
        return Comparison::Same;
    }
    let (expected, seen) = (without_processes(expected), without_processes(seen));
    if expected == seen {
        return Comparison::Skipped(PROCESS);
    }
    let (expected, seen) = (in_order(script, &expected), in_order(script, &seen));
    if expected == seen {
        return Comparison::Skipped(ORDER);
    }
    if without_host(&expected) == without_host(&seen) {
        return Comparison::Skipped(HOST);
    }
    // In the sandbox, a background child without a waiting parent ends with its command; in bash it continues.
    if leaves_children(script) && expected.exit == seen.exit && difference::only_lacks(&expected, &seen) {
        return Comparison::Skipped(BACKGROUND);
    }
    Comparison::Differs
}

/// Sorts error messages if processes run concurrently, because their order is random.
fn in_order(script: &str, outcome: &Outcome) -> Outcome {
    let mut outcome = outcome.clone();
    if script.contains(['|', '&']) || script.contains("<(") || script.contains(">(") {
        let mut lines: Vec<&[u8]> = lines(&outcome.stderr).collect();
        lines.sort_unstable();
        outcome.stderr = lines.concat();
    }
    outcome
}

/// Normalizes an outcome for comparison.
pub(crate) fn comparable(script: &str, outcome: &Outcome) -> Outcome {
    in_order(script, &without_processes(outcome))
}

fn without_processes(outcome: &Outcome) -> Outcome {
    let stderr = lines(&outcome.stderr).map(without_process).collect::<Vec<_>>().concat();
    Outcome { stderr, ..outcome.clone() }
}

/// Removes the process number from the line that reports how a program ended, `bash: line 1: 245 Killed ...`.
fn without_process(line: &[u8]) -> Vec<u8> {
    let number = || {
        let start = line.windows(7).position(|part| part == b": line ")? + 7;
        let blanks = start + line.get(start..)?.windows(2).position(|part| part == b": ")? + 1;
        let digits = blanks + line.get(blanks..)?.iter().position(|byte| *byte != b' ')?;
        let end = digits + line.get(digits..)?.iter().position(|byte| !byte.is_ascii_digit())?;
        let ends = ["Killed ", "Terminated ", "Hangup ", "Aborted ", "Segmentation fault "];
        let is_exit_report =
            ends.iter().any(|how| line.get(end + 1..).is_some_and(|rest| rest.starts_with(how.as_bytes())));
        (digits < end && is_exit_report).then_some((blanks, end))
    };
    number().map_or(line.to_vec(), |(start, end)| [&line[..start], b" N", &line[end..]].concat())
}

/// Removes lines about the host, which lists of all variables contain.
fn without_host(outcome: &Outcome) -> Outcome {
    let names = ["BASH_VERSINFO=", "MACHTYPE=", "HOSTTYPE=", "PPID="];
    let is_about_host = |line: &[u8]| names.iter().any(|name| difference::holds(line, name));
    let stdout = lines(&outcome.stdout).filter(|line| !is_about_host(line)).collect::<Vec<_>>().concat();
    Outcome { stdout, ..outcome.clone() }
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    bytes.split_inclusive(|byte| *byte == b'\n')
}

/// Returns the reason for accepting an outcome: it has every line that bash prints in each run, and only lines that bash prints
/// in some run.
fn within(script: &str, runs: &[Outcome], seen: &Outcome) -> Option<&'static str> {
    let runs: Vec<Outcome> = runs.iter().map(|run| comparable(script, run)).collect();
    let seen = comparable(script, seen);
    let parts = |part: fn(&Outcome) -> &Vec<u8>| -> Vec<Vec<&[u8]>> {
        runs.iter().chain([&seen]).map(|outcome| lines(part(outcome)).collect()).collect()
    };
    let parts = [parts(|outcome| &outcome.stdout), parts(|outcome| &outcome.stderr)];
    if !runs.iter().any(|run| run.exit == seen.exit) {
        return None;
    }
    if parts.iter().all(|part| differ_only_in_numbers(part)) {
        return Some(NUMBERS);
    }
    // Lines that bash prints in a fixed order must keep it.
    let shape = |text: &Vec<&[u8]>| text.iter().map(|line| without_numbers(line)).collect::<Vec<_>>();
    let is_in_order = |part: &Vec<Vec<&[u8]>>| {
        let mut shapes = part.split_last().into_iter().flat_map(|(_, runs)| runs).map(shape);
        let first = shapes.next();
        shapes.all(|other| Some(other) == first)
    };
    let fits = |part: &Vec<Vec<&[u8]>>| differ_only_in_numbers(part) || !is_in_order(part) && counts_are_within(part);
    parts.iter().all(fits).then_some(WITHIN)
}

/// Returns whether the last of these texts has the lines of the others. If the others differ only in digits, the last may differ
/// in the same digits.
fn differ_only_in_numbers(texts: &[Vec<&[u8]>]) -> bool {
    let Some((seen, runs)) = texts.split_last() else { return false };
    let Some((first, others)) = runs.split_first() else { return false };
    let count = first.len();
    texts.iter().all(|text| text.len() == count)
        && first.iter().enumerate().all(|(at, line)| {
            let decided = others.iter().all(|other| other.get(at) == Some(line));
            let same =
                |text: &Vec<&[u8]>| text.get(at).is_some_and(|other| without_numbers(other) == without_numbers(line));
            if decided { seen.get(at) == Some(line) } else { others.iter().chain([seen]).all(same) }
        })
}

/// Returns whether the last of these texts has each line as often as the others: between the minimum and the maximum of their
/// counts. Digits count only in lines that all others have.
fn counts_are_within(texts: &[Vec<&[u8]>]) -> bool {
    let Some((seen, runs)) = texts.split_last() else { return false };
    let raw: Vec<_> = runs.iter().map(|run| counts(run.iter().map(|line| line.to_vec()))).collect();
    let is_decided = |line: &[u8]| {
        let times = |counts: &Counts| counts.get(line).copied();
        raw.iter().all(|run| times(run).is_some() && Some(times(run)) == raw.first().map(times))
    };
    let spread = |text: &Vec<&[u8]>| {
        counts(text.iter().map(|line| if is_decided(line) { line.to_vec() } else { without_numbers(line) }))
    };
    let (runs, seen): (Vec<Counts>, Counts) = (runs.iter().map(spread).collect(), spread(seen));
    runs.iter().chain([&seen]).flat_map(BTreeMap::keys).all(|line| {
        let times = |counts: &Counts| counts.get(line).copied().unwrap_or(0);
        let (min, max) = (runs.iter().map(times).min(), runs.iter().map(times).max());
        min <= Some(times(&seen)) && Some(times(&seen)) <= max
    })
}

type Counts = BTreeMap<Vec<u8>, usize>;

fn counts(lines: impl Iterator<Item = Vec<u8>>) -> Counts {
    let mut counts = Counts::new();
    lines.for_each(|line| *counts.entry(line).or_default() += 1);
    counts
}

/// Replaces every number in a line by one digit.
fn without_numbers(line: &[u8]) -> Vec<u8> {
    let mut line: Vec<u8> = line.iter().map(|byte| if byte.is_ascii_digit() { b'0' } else { *byte }).collect();
    line.dedup_by(|next, last| *next == b'0' && *last == b'0');
    line
}

/// Returns whether a command may run in the background: an ampersand that is not part of another operator, also in text that may
/// be evaluated.
fn leaves_children(script: &str) -> bool {
    let bytes = script.as_bytes();
    let is = |at: Option<usize>, of: &[u8]| at.and_then(|at| bytes.get(at)).is_some_and(|byte| of.contains(byte));
    (0..bytes.len()).any(|at| bytes[at] == b'&' && !is(at.checked_sub(1), b"&><|") && !is(at.checked_add(1), b"&>"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(stdout: &str, stderr: &str, exit: i32) -> Outcome {
        Outcome { stdout: stdout.as_bytes().to_vec(), stderr: stderr.as_bytes().to_vec(), exit }
    }

    #[test]
    fn only_output_of_background_children_may_be_missing() {
        let (all, less) = (outcome("a\nb\n", "", 0), outcome("b\n", "", 0));
        for script in ["echo a & echo b", "eval 'echo a&echo b'"] {
            assert_eq!(compare_outcomes(script, &all, &less), Comparison::Skipped(BACKGROUND), "{script}");
            assert_eq!(compare_outcomes(script, &less, &all), Comparison::Differs, "{script}");
            assert_eq!(compare_outcomes(script, &all, &outcome("b\n", "", 1)), Comparison::Differs, "{script}");
        }
        for script in ["echo a && echo b", "echo a >&2", "echo a &> f", "echo a |& cat; echo b 2>&1", "exec 3<&0"] {
            assert_eq!(compare_outcomes(script, &all, &less), Comparison::Differs, "{script}");
        }
    }

    #[test]
    fn a_crash_is_a_difference_even_after_an_error() {
        let error = outcome("", "bash: line 1: x: bad\n", 1);
        assert!(!is_crash(&error, &outcome("a\n", "bash: line 1: x: worse\n", 2)));
        assert!(is_crash(&error, &outcome("", "", 124)) && is_crash(&error, &outcome("", "", 139)));
        assert!(is_crash(&error, &outcome("", "thread 'main' panicked at x.rs\n", 1)));
        assert!(!is_crash(&outcome("", "Killed\n", 137), &outcome("", "", 137)));
    }

    #[test]
    fn an_additional_error_in_a_pipeline_is_a_difference() {
        let wrong = outcome("", "bash: line 1: printf: x: invalid number\n", 0);
        assert_eq!(compare_outcomes("printf %d 1 | cat", &outcome("", "", 0), &wrong), Comparison::Differs);
        assert_eq!(within("printf %d 1 | cat", &[outcome("", "", 0), outcome("", "", 0)], &wrong), None);
    }

    #[test]
    fn the_pid_of_a_killed_process_is_ignored() {
        let ended =
            |number: &str, how: &str| outcome("", &format!("bash: line 2: {number} {how}        bash -c x\n"), 0);
        let (one, other) = (ended("  245", "Killed"), ended("100256", "Killed"));
        assert_eq!(compare_outcomes("bash -c x", &one, &other), Comparison::Skipped(PROCESS));
        for other in [ended("  245", "Terminated"), ended("  24x", "Killed"), ended("", "Killed")] {
            assert_eq!(compare_outcomes("bash -c x", &one, &other), Comparison::Differs);
        }
    }

    #[test]
    fn only_lines_that_bash_sometimes_prints_are_optional() {
        let (script, runs) = ("a | b", [outcome("1\n2\n", "x\ny\n", 0), outcome("1\n2\n", "y\n", 1)]);
        for (text, is) in [("x\ny\n", true), ("y\n", true), ("x\n", false), ("y\ny\n", false), ("y\nz\n", false)] {
            assert_eq!(within(script, &runs, &outcome("1\n2\n", text, 1)).is_some(), is, "{text}");
        }
        assert_eq!(within(script, &runs, &outcome("1\n2\n", "y\n", 2)), None);
        assert_eq!(within(script, &runs, &outcome("2\n1\n", "y\n", 1)), None, "the order that bash keeps is kept");
    }

    #[test]
    fn only_numbers_that_vary_in_bash_may_vary() {
        let runs = [outcome("a 1\np=10 b\n", "", 0), outcome("a 1\np=205 b\n", "", 0)];
        for (text, is) in
            [("a 1\np=7 b\n", true), ("a 2\np=10 b\n", false), ("a 1\np=7 c\n", false), ("p=7 b\na 1\n", false)]
        {
            assert_eq!(within("p", &runs, &outcome(text, "", 0)), is.then_some(NUMBERS), "{text}");
        }
    }

    #[test]
    fn repeated_runs_of_bash_reveal_nondeterminism() {
        let echoes = Ours::Program("/bin/echo".into());
        assert_eq!(compare(&echoes, "echo a"), Comparison::Differs);
        // The child reads a freed list of descriptors, so that it may end before it prints.
        let script = "echo $((1/0))\nwhile read x; do echo got $x; done < <(echo hi)";
        let all: std::collections::BTreeSet<Vec<u8>> = UNUSUAL
            .into_iter()
            .flat_map(|condition| std::iter::repeat_n(condition, 6))
            .filter_map(|condition| by_bash_in(script, condition))
            .map(|outcome| outcome.stdout)
            .collect();
        assert!(all.len() > 1, "{all:?}");
    }
}
