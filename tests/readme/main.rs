//! The README contains the tested example and existing options. Generated pages are up to date, and commands of the pages run.

mod console;
mod reference;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn read(name: &str) -> String {
    fs::read_to_string(path(name)).unwrap_or_else(|error| panic!("cannot read {name}: {error}"))
}

/// The content of the first code block in `language`.
fn block(markdown: &str, language: &str) -> String {
    let lines = markdown.lines().skip_while(|line| *line != format!("```{language}")).skip(1);
    lines.take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect()
}

#[test]
fn rust_example_equals_the_compiled_one() {
    assert_eq!(block(&read("README.md"), "rust"), read("examples/first_sandbox.rs"));
}

#[test]
fn every_example_succeeds() {
    // `cargo test` builds the examples in a directory next to the command, and sets no variable with its path.
    let built = Path::new(env!("CARGO_BIN_EXE_tidebox")).parent().expect("an absolute path").join("examples");
    let sources = fs::read_dir(path("examples")).expect("examples exist");
    let mut failed = Vec::new();
    for source in sources {
        let source = source.expect("the directory can be listed").path();
        if source.is_dir() {
            continue; // Examples in JavaScript, which `cargo xtask npm test` runs.
        }
        let name = source.file_stem().expect("an example has a name").to_string_lossy().into_owned();
        let example = built.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
        let output = Command::new(&example).output();
        let output = output.unwrap_or_else(|error| panic!("`cargo build --examples` builds {name}: {error}"));
        if !output.status.success() {
            failed.push(format!("{name}: {}\n{}", output.status, String::from_utf8_lossy(&output.stderr)));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// The names and the long help of `tidebox`, its commands, and theirs.
fn all_help() -> Vec<(String, String)> {
    let mut all = Vec::new();
    let mut open = vec![vec![]];
    while let Some(path) = open.pop() {
        let help = Command::new(env!("CARGO_BIN_EXE_tidebox")).args(&path).arg("--help").output();
        let help = String::from_utf8(help.expect("the command starts").stdout).expect("the help is UTF-8");
        // Clap indents empty lines.
        let help: String = help.lines().map(|line| format!("{}\n", line.trim_end())).collect();
        let listed = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
        let names =
            listed.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
        let names = names.filter(|name| *name != "help").collect::<Vec<_>>();
        // The last path is the next one.
        open.extend(names.into_iter().rev().map(|name| [&path[..], &[name.to_owned()]].concat()));
        all.push((["tidebox".to_owned()].into_iter().chain(path).collect::<Vec<_>>().join(" "), help));
    }
    all
}

#[test]
fn every_readme_option_is_in_the_help() {
    let help: String = all_help().into_iter().map(|(_, help)| help).collect();
    let readme = read("README.md");
    let used = readme.lines().filter(|line| line.starts_with("tidebox ")).flat_map(str::split_whitespace);
    let options: Vec<&str> = used.filter(|word| word.starts_with("--")).collect();
    assert!(!options.is_empty());
    for option in options {
        assert!(help.contains(option), "{option}");
    }
}

#[derive(Deserialize)]
struct Modules {
    module: Vec<Module>,
}

#[derive(Deserialize)]
struct Module {
    commands: Vec<String>,
}

/// `userland/commands.toml`.
#[derive(Deserialize)]
struct Notes {
    group: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    name: String,
    tools: Vec<Tool>,
}

#[derive(Deserialize)]
struct Tool {
    /// Names of commands that share a row, separated by blanks.
    commands: String,
    engine: String,
    #[serde(default)]
    gaps: String,
}

fn tables(notes: &Notes) -> String {
    let mut text = String::new();
    for group in &notes.group {
        text += &format!("\n## {}\n| command | engine | notable gaps |\n|---|---|---|\n", group.name);
        for tool in &group.tools {
            text += &format!("| `{}` | {} | {} |\n", tool.commands, tool.engine, tool.gaps);
        }
    }
    text + "\n"
}

#[test]
fn commands_page_is_up_to_date() {
    const START: &str = "<!-- tables: generated from userland/commands.toml -->\n";
    const END: &str = "<!-- end of tables -->\n";
    let modules: Modules = toml::from_str(&read("userland/tools.toml")).expect("tools.toml is valid");
    let notes: Notes = toml::from_str(&read("userland/commands.toml")).expect("commands.toml is valid");
    let installed: BTreeSet<&str> =
        modules.module.iter().flat_map(|module| &module.commands).map(String::as_str).collect();
    let described: Vec<&str> =
        notes.group.iter().flat_map(|group| &group.tools).flat_map(|tool| tool.commands.split(' ')).collect();
    assert_eq!(described.iter().copied().collect::<BTreeSet<_>>(), installed);
    assert_eq!(described.len(), installed.len(), "a command is in two rows of commands.toml");

    compare_generated("docs/commands.md", START, END, &tables(&notes));
}

/// Compares the generated part of a page, or writes it if `TIDEBOX_WRITE_PAGES` is set.
fn compare_generated(name: &str, start: &str, end: &str, text: &str) {
    let page = read(name);
    let (head, rest) = page.split_once(start).expect("the page marks the generated part");
    let (_, tail) = rest.split_once(end).expect("the page marks the end of the generated part");
    let generated = format!("{head}{start}{text}{end}{tail}");
    if std::env::var_os("TIDEBOX_WRITE_PAGES").is_some() {
        fs::write(path(name), &generated).expect("the page can be written");
    } else {
        assert_eq!(page, generated, "run `TIDEBOX_WRITE_PAGES=1 cargo test --test readme`");
    }
}
