//! Scripts with the recorded output of real bash 5.2 and the GNU tools, replayed in the sandbox. Each file of
//! `tests/spec/cases` contains the cases of one feature and is one test.
//!
//! `cargo xtask spec record` runs the cases with bash and the tools of the host and writes the results into the files.
//! `cargo xtask spec compare` runs them in both and prints the differences. Both need root, because they create
//! namespaces that look like the sandbox. `cargo xtask spec differences` rewrites `tests/spec/DIFFERENCES.md`.

mod differences;
mod format;
mod native;
mod sandbox;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use format::{Case, Outcome};
use libtest_mimic::{Arguments, Failed, Trial};

/// The package's directory at run time. The one at build time may be another clone that shares the target directory.
fn package() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo and nextest set it for tests").into()
}

fn main() -> ExitCode {
    let files = files();
    let filter = std::env::var("TIDEBOX_SPEC_FILES").unwrap_or_default();
    let selected = || files.iter().filter(|file| file.to_string_lossy().contains(&filter));
    match std::env::var("TIDEBOX_SPEC").as_deref() {
        Ok("record") => selected().for_each(|file| record(file)),
        Ok("compare") if Path::new(&filter).is_file() => compare(Path::new(&filter)),
        Ok("compare") => selected().for_each(|file| compare(file)),
        Ok("differences") => differences::write(&package(), &files),
        _ => {
            let own = [
                Trial::test("printed_cases_parse_to_the_same_cases", || {
                    format::printed_cases_parse_to_the_same_cases();
                    Ok(())
                }),
                Trial::test("differences_page_is_up_to_date", {
                    let files = files.clone();
                    move || differences::check(&package(), &files)
                }),
            ];
            let replays = files.into_iter().map(|file| Trial::test(stem(&file), move || replay(&file)));
            return libtest_mimic::run(&Arguments::from_args(), replays.chain(own).collect()).exit_code();
        }
    }
    ExitCode::SUCCESS
}

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(package().join("tests/spec/cases")).expect("tests/spec/cases exists");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("the directory can be listed").path()).collect();
    files.sort();
    files
}

fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(file: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(file).expect("cases are UTF-8");
    format::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn print_line(line: &str) {
    writeln!(std::io::stdout(), "{line}").expect("standard output is open");
}

/// Variables of the cases of Git, whose file names begin with `git-`: fixed identities and times, so that object ids are equal, and
/// a `PATH` with the Git of Debian.
const GIT_VARIABLES: &[(&str, &str)] = &[
    ("PATH", "/usr/bin:/bin"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_AUTHOR_NAME", "A U Thor"),
    ("GIT_AUTHOR_EMAIL", "author@example.com"),
    ("GIT_AUTHOR_DATE", "1700000000 +0000"),
    ("GIT_COMMITTER_NAME", "C O Mitter"),
    ("GIT_COMMITTER_EMAIL", "committer@example.com"),
    ("GIT_COMMITTER_DATE", "1700000000 +0000"),
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_CONFIG_KEY_0", "init.defaultBranch"),
    ("GIT_CONFIG_VALUE_0", "main"),
];

fn is_git(file: &Path) -> bool {
    stem(file).starts_with("git-")
}

fn variables(file: &Path) -> &'static [(&'static str, &'static str)] {
    if is_git(file) { GIT_VARIABLES } else { &[] }
}

/// Runs the cases of a file in the sandbox and compares the results with the recorded ones.
fn replay(file: &Path) -> Result<(), Failed> {
    let cases = read(file);
    if is_git(file) && !sandbox::has_git() {
        print_line(&format!("{}: skipped: the pack git is not installed", stem(file)));
        return Ok(());
    }
    let (mut failures, mut names) = (Vec::new(), BTreeSet::new());
    for case in &cases {
        let name = &case.name;
        if !names.insert(name) {
            failures.push(format!("duplicate case name: {name}\n"));
        }
        let Some(expected) = &case.expected else {
            failures.push(format!("{name} is not recorded: run `cargo xtask spec record {}`\n", stem(file)));
            continue;
        };
        let actual = sandbox::run(case, variables(file));
        match (*expected == actual, &case.differs) {
            (true, None) | (false, Some(_)) => {}
            (true, Some(_)) => failures.push(format!("{name} no longer differs: remove `--- differs`\n")),
            (false, None) => failures.push(format_mismatch(case, "expected", expected, &actual)),
        }
    }
    let passed = cases.len().saturating_sub(failures.len());
    print_line(&format!("{}: {passed} of {} cases as recorded", stem(file), cases.len()));
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n").into()) }
}

/// The parts in which two outcomes of a case differ, one after the other.
fn format_mismatch(case: &Case, label: &str, expected: &Outcome, actual: &Outcome) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut message = format!("=== {}\n{}", case.name, text(&case.script));
    for (part, expected, actual) in [
        ("stdout", text(&expected.stdout), text(&actual.stdout)),
        ("stderr", text(&expected.stderr), text(&actual.stderr)),
        ("exit", expected.exit.to_string(), actual.exit.to_string()),
    ] {
        if expected != actual {
            message.push_str(&format!("--- {part} {label}\n{expected}\n--- {part} actual\n{actual}\n"));
        }
    }
    message
}

/// Runs the cases of a file on the host, each twice to find unstable output, and writes the outcomes into the file.
fn record(file: &Path) {
    let mut cases = read(file);
    for case in &mut cases {
        let first = native::run(case, variables(file));
        assert_eq!(
            first,
            native::run(case, variables(file)),
            "two runs of {} differ: make its output stable",
            case.name
        );
        case.expected = Some(first);
    }
    std::fs::write(file, format::print(&cases)).expect("the file can be written");
    print_line(&format!("{}: {} cases recorded", stem(file), cases.len()));
}

/// Runs the cases of a file on the host and in the sandbox and prints the differences. Writes no files.
fn compare(file: &Path) {
    let cases = read(file);
    let mut same = 0;
    for case in &cases {
        let (native, actual) = (native::run(case, variables(file)), sandbox::run(case, variables(file)));
        if native == actual {
            same += 1;
        } else {
            print_line(&format_mismatch(case, "native", &native, &actual));
        }
    }
    print_line(&format!("{}: {same} of {} cases are the same", stem(file), cases.len()));
}
