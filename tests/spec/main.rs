//! Scripts with what real bash 5.2 and the GNU tools make of them, replayed in the sandbox. One test is one file of
//! `tests/spec/cases`, which holds the cases of one feature.
//!
//! `cargo xtask spec record` runs the cases on the machine's own bash and tools and writes down what happened;
//! `cargo xtask spec compare` runs them in both and says how they differ. Both need root, because they make the
//! surroundings look like the sandbox.

mod format;
mod native;
mod ours;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use format::{Case, Outcome};
use libtest_mimic::{Arguments, Failed, Trial};

/// Where a reason for a difference must stand, so that users read of it too.
const LIMITATIONS: &str = "docs/limitations.md";

/// The folder as it is now, and not when this was built: a folder for builds may serve several clones.
fn package() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo and nextest set it for tests").into()
}

fn main() -> ExitCode {
    let files = files();
    let wanted = std::env::var("TIDEBOX_SPEC_FILES").unwrap_or_default();
    let asked = || files.iter().filter(|file| file.to_string_lossy().contains(&wanted));
    match std::env::var("TIDEBOX_SPEC").as_deref() {
        Ok("record") => asked().for_each(|file| record(file)),
        Ok("compare") if Path::new(&wanted).is_file() => compare(Path::new(&wanted)),
        Ok("compare") => asked().for_each(|file| compare(file)),
        _ => {
            let trials = files.iter().map(|file| {
                let file = file.clone();
                Trial::test(stem(&file), move || replay(&file))
            });
            let own = Trial::test("what_is_printed_is_read_back", || {
                format::what_is_printed_is_read_back();
                Ok(())
            });
            return libtest_mimic::run(&Arguments::from_args(), trials.chain([own]).collect()).exit_code();
        }
    }
    ExitCode::SUCCESS
}

fn files() -> Vec<PathBuf> {
    let folder = package().join("tests/spec/cases");
    let entries = std::fs::read_dir(folder).expect("the cases are there");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("the folder can be listed").path()).collect();
    files.sort();
    files
}

fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(file: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(file).expect("cases are text");
    format::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn say(line: &str) {
    writeln!(std::io::stdout(), "{line}").expect("standard output is open");
}

/// Runs a file's cases in the sandbox and holds them against what was recorded.
fn replay(file: &Path) -> Result<(), Failed> {
    let cases = read(file);
    let (mut wrong, mut names) = (Vec::new(), BTreeSet::new());
    for case in &cases {
        let name = &case.name;
        if !names.insert(name) {
            wrong.push(format!("two cases are called {name}\n"));
        }
        let Some(expected) = &case.expected else {
            wrong.push(format!("{name} was never recorded: run `cargo xtask spec record {}`\n", stem(file)));
            continue;
        };
        let seen = ours::run(case);
        match (*expected == seen, &case.differs) {
            (true, None) => {}
            (false, Some(reason)) if is_told(reason) => {}
            (false, Some(reason)) => wrong.push(format!("{name}: docs/limitations.md does not say: {reason}\n")),
            (true, Some(_)) => wrong.push(format!("{name} does not differ any more: remove `differs`\n")),
            (false, None) => wrong.push(shown(case, "expected", expected, &seen)),
        }
    }
    say(&format!("{}: {} of {} cases as recorded", stem(file), cases.len().saturating_sub(wrong.len()), cases.len()));
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Whether the page on limitations has this sentence, wherever its lines break.
fn is_told(reason: &str) -> bool {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let page = std::fs::read_to_string(package().join(LIMITATIONS)).expect("the page on limitations is there");
    words(&page).contains(&words(reason))
}

/// What was seen beside what should have been, for people.
fn shown(case: &Case, other: &str, expected: &Outcome, seen: &Outcome) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut shown = format!("=== {}\n{}", case.name, text(&case.script));
    for (part, expected, seen) in [
        ("stdout", text(&expected.stdout), text(&seen.stdout)),
        ("stderr", text(&expected.stderr), text(&seen.stderr)),
        ("exit", expected.exit.to_string(), seen.exit.to_string()),
    ] {
        if expected != seen {
            shown.push_str(&format!("--- {part} {other}\n{expected}\n--- {part} seen\n{seen}\n"));
        }
    }
    shown
}

/// Runs a file's cases on this machine, each twice so that what depends on chance is found, and writes down the outcome.
fn record(file: &Path) {
    let mut cases = read(file);
    for case in &mut cases {
        let first = native::run(case);
        assert_eq!(first, native::run(case), "{} is not the same twice: make it repeatable", case.name);
        case.expected = Some(first);
    }
    std::fs::write(file, format::print(&cases)).expect("the file can be written");
    say(&format!("{}: {} cases recorded", stem(file), cases.len()));
}

/// Runs a file's cases on this machine and in the sandbox and says how they differ; nothing is written.
fn compare(file: &Path) {
    let cases = read(file);
    let mut same = 0;
    for case in &cases {
        let (native, seen) = (native::run(case), ours::run(case));
        if native == seen {
            same += 1;
        } else {
            say(&shown(case, "natively", &native, &seen));
        }
    }
    say(&format!("{}: {same} of {} cases are the same", stem(file), cases.len()));
}
