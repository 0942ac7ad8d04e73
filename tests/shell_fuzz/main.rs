//! Compares small random scripts with real bash: standard output, standard error and exit code must be equal, unless bash reports
//! an error. After an error the shell must only exit, without a panic and without reaching a limit.
//!
//! A fixed set of scripts is run each time: plain ones, and wild ones, which contain errors that are unusual in real scripts. To
//! run more, `TIDEBOX_RANDOM_SCRIPTS` sets the number and `TIDEBOX_RANDOM_SEED` the first seed. `TIDEBOX_RANDOM_SHELL` selects a
//! shell built for the host (`cargo build -p tidebox-sh` in `userland`), which runs instead of the sandbox and is faster. A
//! finding is printed in the form of a case of `tests/spec/cases`, as small as possible, or unchanged with
//! `TIDEBOX_RANDOM_SHRINK=0`.

mod difference;
#[allow(dead_code, reason = "cases are only written here, not read")]
#[path = "../spec/format.rs"]
mod format;
mod grammar;
mod judge;
#[allow(dead_code, reason = "scripts run in a separate directory")]
#[path = "../spec/sandbox.rs"]
mod ours;
mod rng;
mod run;
mod script;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use format::{Case, Outcome};
use grammar::Grammar;
use judge::{Comparison, Ours, by_bash};
use script::Statement;

/// Number of differences after which a run ends, because shrinking scripts is slow.
const MAX_FINDINGS: usize = 20;

/// Maximum percentage of scripts with ignored differences, so that a test that compares nothing fails.
const MAX_SKIPPED_PERCENT: u64 = 5;

/// Maximum percentage of scripts whose outcome differs after an error.
const MAX_ERROR_PERCENT: u64 = 50;

/// Returns whether bash reproducibly behaves differently.
fn differs(ours: &Ours, script: &str) -> bool {
    judge::compare(ours, script) == Comparison::Differs
}

/// Returns both outcomes, in an order in which they can be compared.
fn both(ours: &Ours, script: &str) -> Option<(Outcome, Outcome)> {
    let (expected, seen) = by_bash(script).zip(ours.run(script))?;
    Some((judge::comparable(script, &expected), judge::comparable(script, &seen)))
}

/// Returns the smallest script that differs in only these ways and prints no other errors.
fn shrunk(ours: &Ours, statements: &[Statement], kinds: &BTreeSet<String>, messages: &BTreeSet<String>) -> String {
    script::shrink(statements, |candidate| {
        let Some((expected, seen)) = both(ours, candidate) else { return false };
        let now = difference::kinds(&expected, &seen);
        !now.is_empty()
            && now.is_subset(kinds)
            && difference::messages(&expected).is_subset(messages)
            && differs(ours, candidate)
    })
}

/// Returns the smallest script with a difference of the same kind, as a case, and the differing lines.
fn format_finding(ours: &Ours, seed: u64, wild: bool) -> String {
    let statements = Grammar::new(seed, wild).script();
    let whole = script::text(&statements);
    let Some((expected, seen)) = both(ours, &whole) else {
        return format!("seed {seed} does not terminate");
    };
    let (kinds, messages) = (difference::kinds(&expected, &seen), difference::messages(&expected));
    let shrinks = number("TIDEBOX_RANDOM_SHRINK").is_none_or(|shrink| shrink > 0);
    let small = if shrinks { shrunk(ours, &statements, &kinds, &messages) } else { whole };
    let outcomes = both(ours, &small);
    let lines = outcomes.as_ref().map(|(expected, seen)| difference::lines(expected, seen));
    let expected = outcomes.map(|(expected, _)| expected);
    let script = format!("{}\n", small.trim_end()).into_bytes();
    let case = Case { name: format!("seed {seed}"), script, expected, ..Case::default() };
    format!("{}{}", format::print(&[case]), lines.unwrap_or_default())
}

/// Returns whether the host has the bash version that the shell implements; older ones differ in script-visible behaviour.
fn bash_is_current() -> bool {
    let script = "((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 502))";
    Command::new("bash").args(["-c", script]).status().is_ok_and(|status| status.success())
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} must be a number, not {text:?}")))
}

/// Runs `usual` scripts of a grammar, or the requested number.
fn try_scripts(wild: bool, usual: u64) {
    if !bash_is_current() {
        eprintln!("skipped: the host has no bash 5.2 or newer to compare with");
        return;
    }
    let first = number("TIDEBOX_RANDOM_SEED").unwrap_or(1);
    let end = first + number("TIDEBOX_RANDOM_SCRIPTS").unwrap_or(usual);
    let ours = match std::env::var_os("TIDEBOX_RANDOM_SHELL") {
        Some(program) => Ours::Program(program.into()),
        None => Ours::Sandbox,
    };
    let (next, cases, skipped) = (AtomicU64::new(first), Mutex::new(Vec::new()), Mutex::new(BTreeMap::new()));
    let try_one = |seed| match judge::compare(&ours, &script::text(&Grammar::new(seed, wild).script())) {
        Comparison::Same => (),
        Comparison::Skipped(why) => {
            skipped.lock().expect("no thread panicked").entry(why).or_insert_with(BTreeSet::new).insert(seed);
        }
        Comparison::Differs => {
            let case = format_finding(&ours, seed, wild);
            writeln!(std::io::stdout(), "{case}").expect("standard output is open");
            cases.lock().expect("no thread panicked").push(case);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end || cases.lock().expect("no thread panicked").len() >= MAX_FINDINGS {
                        break;
                    }
                    try_one(seed);
                }
            });
        }
    });
    let cases = cases.into_inner().expect("no thread panicked");
    assert!(cases.is_empty(), "{} scripts differ:\n{}", cases.len(), cases.join("\n"));
    print_skipped(&skipped.into_inner().expect("no thread panicked"), end - first);
}

/// Prints the ignored differences and their reasons, and fails if there are too many.
#[allow(clippy::print_stdout, reason = "skipped scripts are part of the test's output")]
fn print_skipped(skipped: &BTreeMap<&str, BTreeSet<u64>>, tried: u64) {
    let errors = skipped.get(judge::ERROR).map_or(0, BTreeSet::len);
    let count = skipped.values().map(BTreeSet::len).sum::<usize>() - errors;
    println!("{tried} scripts, {count} of them equal except for ignored differences");
    for (why, seeds) in skipped {
        println!("{} because {why}: seeds {seeds:?}", seeds.len());
    }
    assert!(errors as u64 * 100 <= tried.max(100) * MAX_ERROR_PERCENT, "too many errors: {errors} of {tried}");
    assert!(
        count as u64 * 100 <= tried.max(100) * MAX_SKIPPED_PERCENT,
        "too many ignored differences: {count} of {tried}"
    );
}

#[test]
fn random_scripts_match_bash() {
    try_scripts(false, 400);
}

#[test]
fn random_scripts_with_errors_match_bash() {
    try_scripts(true, 300);
}

#[test]
fn a_seed_always_makes_the_same_script() {
    for (seed, wild) in (0..50).flat_map(|seed| [(seed, false), (seed, true)]) {
        assert_eq!(script::text(&Grammar::new(seed, wild).script()), script::text(&Grammar::new(seed, wild).script()));
    }
    let all: std::collections::BTreeSet<String> =
        (0..200).map(|seed| script::text(&Grammar::new(seed, false).script())).collect();
    assert_eq!(all.len(), 200);
}

#[test]
fn random_scripts_contain_common_templates() {
    let scripts: Vec<String> = (0..400).map(|seed| script::text(&Grammar::new(seed, seed % 2 == 0).script())).collect();
    for part in ["coproc ", "getopts ", "local -n ", "mapfile -t -C", "wait -n", "trap 'echo usr1' USR1"] {
        assert!(scripts.iter().any(|script| script.contains(part)), "no script contains {part}");
    }
}

#[test]
fn a_script_is_shrunk_to_the_relevant_part() {
    for seed in 0..20 {
        let mut statements = Grammar::new(seed, true).script();
        statements.insert(1, script::Statement::Line("echo here it is".to_owned()));
        assert_eq!(script::shrink(&statements, |text| text.contains("it is")), "it is");
    }
}
