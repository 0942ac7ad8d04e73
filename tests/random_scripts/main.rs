//! Random small scripts beside real bash: standard output, standard error and exit code are the same.
//!
//! A fixed count of scripts is tried, the same ones each time: plain ones, and wild ones, which are wrong more often, in
//! ways that people's scripts seldom are. To hunt for more, `TIDEBOX_RANDOM_SCRIPTS` says how many and `TIDEBOX_RANDOM_SEED`
//! with which one to begin. `TIDEBOX_RANDOM_SHELL` names a shell that was built for this machine (`cargo build -p tidebox-sh`
//! in `userland`), which is tried instead of the sandbox and faster. What was found is printed as small as it gets, or, with
//! `TIDEBOX_RANDOM_SHRINK=0`, as it was made, in the form of a case for `tests/spec/cases/found-by-chance.spec`, where all of
//! them are kept.

mod chance;
mod difference;
#[allow(dead_code, reason = "cases are only written here, not read")]
#[path = "../spec/format.rs"]
mod format;
mod grammar;
#[allow(dead_code, reason = "scripts run in a folder of their own")]
#[path = "../spec/ours.rs"]
mod ours;
mod run;
mod script;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use format::{Case, Outcome};
use grammar::Grammar;
use script::Statement;

/// Differences after which a run ends, because making scripts small takes long.
const ENOUGH: usize = 20;

/// How often bash has to do the same again, before something else is a difference.
const AGAIN: usize = 8;

/// Who runs the scripts that are held against bash.
enum Ours {
    Sandbox,
    Program(PathBuf),
}

impl Ours {
    fn run(&self, script: &str) -> Option<Outcome> {
        let outcome = match self {
            Self::Sandbox => run::in_sandbox(script),
            Self::Program(program) => run::by_program(program, script)?,
        };
        Some(comparable(script, outcome))
    }
}

fn by_bash(script: &str) -> Option<Outcome> {
    run::by_program(Path::new("bash"), script).map(|outcome| comparable(script, outcome))
}

/// Where processes run beside each other, the order of what they complain about is chance.
fn comparable(script: &str, mut outcome: Outcome) -> Outcome {
    if script.contains(['|', '&']) || script.contains("<(") || script.contains(">(") {
        let mut lines: Vec<&[u8]> = outcome.stderr.split_inclusive(|byte| *byte == b'\n').collect();
        // Whether a program meets the end of its reader is chance, too, and with it what printf still says of its next argument.
        let of_printf = |line: &[u8]| line.ends_with(b": invalid number\n") && tells(line, ": printf: ");
        lines.retain(|line| !line.ends_with(b"terminated by signal 13\n") && !of_printf(line));
        lines.sort_unstable();
        outcome.stderr = lines.concat();
    }
    outcome
}

fn tells(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|part| part == text.as_bytes())
}

/// What is left to chance or to the machine by bash itself.
fn is_chance(script: &str, expected: &Outcome) -> bool {
    // A list of all variables shows what machine it is.
    if tells(&expected.stdout, "BASH_VERSINFO") {
        return true;
    }
    // Once an error has given up a line, a loop that reads a process substitution reads nothing, on some days.
    let gives_up =
        ["(error token is", "bad array subscript", "bad substitution", "invalid variable name", ": no match: "];
    script.contains("< <(") && gives_up.iter().any(|text| tells(&expected.stderr, text))
}

/// Whether a command may be left in the background: an ampersand that belongs to no other operator, also within what may be evaluated.
fn leaves_children(script: &str) -> bool {
    let bytes = script.as_bytes();
    let is = |at: Option<usize>, of: &[u8]| at.and_then(|at| bytes.get(at)).is_some_and(|byte| of.contains(byte));
    (0..bytes.len()).any(|at| bytes[at] == b'&' && !is(at.checked_sub(1), b"&><|") && !is(at.checked_add(1), b"&>"))
}

/// Whether two outcomes are the same. A child in the background that nobody waits for ends with its command in the sandbox, where bash
/// lets it go on, so what it says may be missing.
fn agree(script: &str, expected: &Outcome, seen: &Outcome) -> bool {
    expected == seen
        || (leaves_children(script) && expected.exit == seen.exit && difference::only_lacks(expected, seen))
}

/// Whether bash does something else, and does it each time.
fn differs(ours: &Ours, script: &str) -> bool {
    let Some(expected) = by_bash(script) else { return false };
    if is_chance(script, &expected) {
        return false;
    }
    let agrees = || ours.run(script).is_some_and(|seen| agree(script, &expected, &seen));
    !agrees() && (0..AGAIN).all(|_| by_bash(script).as_ref() == Some(&expected)) && !agrees()
}

/// The smallest script that differs in such ways and tells no other errors.
fn shrunk(ours: &Ours, statements: &[Statement], kinds: &BTreeSet<String>, told: &BTreeSet<String>) -> String {
    script::shrink(statements, |candidate| {
        let Some((expected, seen)) = by_bash(candidate).zip(ours.run(candidate)) else { return false };
        let now = difference::kinds(&expected, &seen);
        !now.is_empty()
            && now.is_subset(kinds)
            && difference::messages(&expected).is_subset(told)
            && differs(ours, candidate)
    })
}

/// The smallest script with a difference of the same kind, as a case, and what the two shells did.
fn found(ours: &Ours, seed: u64, wild: bool) -> String {
    let statements = Grammar::new(seed, wild).script();
    let whole = script::text(&statements);
    let Some((expected, seen)) = by_bash(&whole).zip(ours.run(&whole)) else {
        return format!("seed {seed} does not end");
    };
    let (kinds, told) = (difference::kinds(&expected, &seen), difference::messages(&expected));
    let wanted = number("TIDEBOX_RANDOM_SHRINK").is_none_or(|shrink| shrink > 0);
    let small = if wanted { shrunk(ours, &statements, &kinds, &told) } else { whole };
    let expected = by_bash(&small);
    let lines = expected.as_ref().zip(ours.run(&small)).map(|(expected, seen)| difference::lines(expected, &seen));
    let script = format!("{}\n", small.trim_end()).into_bytes();
    let case = Case { name: format!("seed {seed}"), script, expected, ..Case::default() };
    format!("{}{}", format::print(&[case]), lines.unwrap_or_default())
}

/// The version that the shell takes as its model; older ones differ in what scripts can see.
fn bash_is_current() -> bool {
    let script = "((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 502))";
    Command::new("bash").args(["-c", script]).status().is_ok_and(|status| status.success())
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is no number: {text}")))
}

/// Tries `usual` scripts of a grammar, or as many as were asked for.
fn try_scripts(wild: bool, usual: u64) {
    if !bash_is_current() {
        eprintln!("skipped: there is no bash 5.2 or newer on this machine to compare with");
        return;
    }
    let first = number("TIDEBOX_RANDOM_SEED").unwrap_or(1);
    let end = first + number("TIDEBOX_RANDOM_SCRIPTS").unwrap_or(usual);
    let ours = match std::env::var_os("TIDEBOX_RANDOM_SHELL") {
        Some(program) => Ours::Program(program.into()),
        None => Ours::Sandbox,
    };
    let (next, cases) = (AtomicU64::new(first), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end || cases.lock().expect("no thread panicked").len() >= ENOUGH {
                        break;
                    }
                    if differs(&ours, &script::text(&Grammar::new(seed, wild).script())) {
                        let case = found(&ours, seed, wild);
                        writeln!(std::io::stdout(), "{case}").expect("standard output is open");
                        cases.lock().expect("no thread panicked").push(case);
                    }
                }
            });
        }
    });
    let cases = cases.into_inner().expect("no thread panicked");
    assert!(cases.is_empty(), "{} scripts differ:\n{}", cases.len(), cases.join("\n"));
}

#[test]
fn random_scripts_do_what_bash_does() {
    try_scripts(false, 400);
}

#[test]
fn random_scripts_with_mistakes_do_what_bash_does() {
    try_scripts(true, 300);
}

#[test]
fn only_what_a_child_in_the_background_says_may_be_missing() {
    let outcome = |stdout: &str, exit| Outcome { stdout: stdout.as_bytes().to_vec(), stderr: Vec::new(), exit };
    let (all, less) = (outcome("a\nb\n", 0), outcome("b\n", 0));
    for script in ["echo a & echo b", "eval 'echo a&echo b'"] {
        assert!(agree(script, &all, &less) && !agree(script, &less, &all), "{script}");
        assert!(!agree(script, &all, &outcome("b\n", 1)), "{script}");
    }
    for script in ["echo a && echo b", "echo a >&2", "echo a &> f", "echo a |& cat; echo b 2>&1", "exec 3<&0"] {
        assert!(!agree(script, &all, &less), "{script}");
    }
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
fn random_scripts_hold_what_people_write_in_settled_ways() {
    let scripts: Vec<String> = (0..400).map(|seed| script::text(&Grammar::new(seed, seed % 2 == 0).script())).collect();
    for part in ["coproc ", "getopts ", "local -n ", "mapfile -t -C", "wait -n", "trap 'echo usr1' USR1"] {
        assert!(scripts.iter().any(|script| script.contains(part)), "no script holds {part}");
    }
}

#[test]
fn a_script_is_made_smaller_down_to_what_matters() {
    for seed in 0..20 {
        let mut statements = Grammar::new(seed, true).script();
        statements.insert(1, script::Statement::Line("echo here it is".to_owned()));
        assert_eq!(script::shrink(&statements, |text| text.contains("it is")), "it is");
    }
}
