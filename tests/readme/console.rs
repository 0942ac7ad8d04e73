//! Runs the `console` blocks of the documentation: lines after `$ ` are commands, the others are their output.
//!
//! The blocks of a page share a directory. `...` as the last line of an output matches any further lines.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{path, read};

/// A comment before a block that requires the pack `python`.
const NEEDS_PYTHON: &str = "<!-- needs the pack python -->";

/// A comment before a block that no test runs; `cargo xtask docs check` prints the reasons.
const NOT_RUN: &str = "<!-- not run: ";

/// A command and the output that the page shows.
struct Step {
    command: String,
    output: String,
    needs_python: bool,
}

fn steps(text: &str, needs_python: bool) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { command: command.to_owned(), output: String::new(), needs_python });
        } else {
            let step = steps.last_mut().unwrap_or_else(|| panic!("a block starts with output: {line}"));
            if step.command.ends_with('\\') {
                step.command += &format!("\n{line}");
            } else {
                step.output += &format!("{line}\n");
            }
        }
    }
    steps
}

/// The commands of all blocks of a page.
fn page_steps(page: &str) -> Vec<Step> {
    let mut all = Vec::new();
    for (before, rest) in page.match_indices("```console\n").map(|(at, mark)| (&page[..at], &page[at + mark.len()..])) {
        let comment = before.lines().last().unwrap_or_default();
        let (text, _) = rest.split_once("```").expect("a block ends");
        if !comment.starts_with(NOT_RUN) {
            all.extend(steps(text, comment == NEEDS_PYTHON));
        }
    }
    all
}

/// Runs a command as in a terminal, with both streams in order.
fn run(command: &str, dir: &Path) -> String {
    let tidebox = Path::new(env!("CARGO_BIN_EXE_tidebox")).parent().expect("an absolute path").to_path_buf();
    let mut search = vec![tidebox];
    search.extend(std::env::split_paths(&std::env::var_os("PATH").expect("PATH is set")));
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("exec 2>&1\n{command}")).current_dir(dir).stdin(Stdio::null());
    let output = shell.env("PATH", std::env::join_paths(search).expect("valid paths")).output().expect("sh starts");
    String::from_utf8(output.stdout).expect("the output is UTF-8")
}

fn matches(actual: &str, expected: &str) -> bool {
    expected.strip_suffix("...\n").map_or(actual == expected, |start| actual.starts_with(start))
}

fn check(name: &str, steps: &[Step]) -> Vec<String> {
    let dir = tempfile::tempdir().expect("a directory can be created");
    let mut errors = Vec::new();
    for step in steps {
        if step.needs_python && !has_python(dir.path()) {
            eprintln!("skipped: `{}` of {name} needs the pack python; run `tidebox pack add python`", step.command);
            continue;
        }
        let actual = run(&step.command, dir.path());
        if !matches(&actual, &step.output) {
            errors.push(format!("{name}\n$ {}\nexpected:\n{}actual:\n{actual}", step.command, step.output));
        }
    }
    errors
}

fn has_python(dir: &Path) -> bool {
    run("tidebox pack list", dir).lines().any(|line| line.starts_with("python\t") && line.contains("\tready\t"))
}

fn pages() -> Vec<PathBuf> {
    let dirs = ["docs/start", "docs/guides"].map(|dir| fs::read_dir(path(dir)).expect("the directory exists"));
    let mut pages: Vec<PathBuf> =
        dirs.into_iter().flatten().map(|entry| entry.expect("a readable entry").path()).collect();
    pages.extend(["docs/index.md", "docs/comparison.md"].map(path));
    pages.sort();
    pages
}

#[test]
fn commands_of_the_pages_print_what_the_pages_show() {
    let mut errors = Vec::new();
    let mut commands = 0;
    for page in pages() {
        let steps = page_steps(&fs::read_to_string(&page).expect("pages are UTF-8"));
        commands += steps.len();
        errors.extend(check(&page.display().to_string(), &steps));
    }
    assert!(commands > 10, "only {commands} commands");
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn the_recorded_session_prints_the_same_again() {
    let errors = check("docs/images/session.txt", &steps(&read("docs/images/session.txt"), false));
    assert!(errors.is_empty(), "run `cargo xtask docs record`\n{}", errors.join("\n"));
}

#[test]
fn other_output_does_not_match() {
    assert!(matches("a\nb\n", "a\n...\n"));
    assert!(!matches("a\nb\n", "a\n"));
    assert!(!matches("b\n", "a\n...\n"));
}
