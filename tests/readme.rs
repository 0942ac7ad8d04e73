//! The README shows what is compiled and run, and names commands that exist.

use std::fs;
use std::path::Path;
use std::process::Command;

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name} can be read: {error}"))
}

/// The text between the first line that opens a block of `language` and the line that closes it.
fn block(markdown: &str, language: &str) -> String {
    let lines = markdown.lines().skip_while(|line| *line != format!("```{language}")).skip(1);
    lines.take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect()
}

#[test]
fn the_rust_example_is_the_one_that_is_compiled() {
    assert_eq!(block(&read("README.md"), "rust"), read("examples/first_sandbox.rs"));
}

#[test]
fn every_example_runs_to_its_end() {
    // `cargo test` builds examples beside the command, but gives their place to nobody.
    let built =
        Path::new(env!("CARGO_BIN_EXE_tidebox")).parent().expect("the command lies in a folder").join("examples");
    let sources = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")).expect("there are examples");
    let mut failed = Vec::new();
    for source in sources {
        let source = source.expect("the folder can be listed").path();
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

#[test]
fn every_page_that_the_readme_links_is_there() {
    let readme = read("README.md");
    let links: Vec<&str> = readme.split("](").skip(1).filter_map(|rest| rest.split(')').next()).collect();
    assert!(!links.is_empty());
    for link in links.iter().filter(|link| !link.contains("://")) {
        assert!(Path::new(env!("CARGO_MANIFEST_DIR")).join(link).exists(), "{link}");
    }
}

#[test]
fn every_option_in_the_readme_is_one_that_the_command_has() {
    let help = Command::new(env!("CARGO_BIN_EXE_tidebox")).arg("--help").output().expect("the command starts").stdout;
    let help = String::from_utf8(help).expect("the usage is text");
    let readme = read("README.md");
    let used = readme.lines().filter(|line| line.starts_with("tidebox ")).flat_map(str::split_whitespace);
    let options: Vec<&str> = used.filter(|word| word.starts_with("--")).collect();
    assert!(!options.is_empty());
    for option in options {
        assert!(help.contains(option), "{option}");
    }
}
