//! `docs/security.md` names existing tests, all fuzz targets, and all limits with their defaults.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tidebox::Limits;
use tidebox::network::NetworkLimits;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn page() -> String {
    fs::read_to_string(root().join("docs/security.md")).expect("docs/security.md exists")
}

/// All Rust sources of the host's crates and of the shell.
fn sources() -> String {
    let crates = [
        "core",
        "kernel",
        "wasi-runner",
        "vfs-backend",
        "mounts",
        "network",
        "emulators",
        "src",
        "tests",
        "userland/sh/src",
    ];
    let mut dirs: Vec<PathBuf> = crates.iter().map(|dir| root().join(dir)).collect();
    let mut text = String::new();
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(&dir).expect("the directory exists") {
            let path = entry.expect("the directory can be listed").path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                text += &fs::read_to_string(&path).expect("sources are text");
            }
        }
    }
    text
}

#[test]
fn every_named_test_and_file_exists() {
    let (page, sources) = (page(), sources());
    let mut names = 0;
    for name in page.split('`').skip(1).step_by(2) {
        let is_test =
            name.matches('_').count() > 2 && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'));
        if is_test {
            assert!(sources.contains(&format!("fn {name}(")), "{name}");
            names += 1;
        } else if name.ends_with(".rs") {
            assert!(root().join(name).exists(), "{name}");
        } else if name.ends_with(".md") {
            assert!(root().join(name).exists() || root().join("docs").join(name).exists(), "{name}");
        }
    }
    assert!(names > 40, "only {names} tests are named");
    let cases: Vec<&str> = page.split("\"isolation: ").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(cases.len(), 3);
    for case in cases {
        assert!(sources.contains(&format!("\"isolation: {case}\"")), "{case}");
    }
}

/// The fields and values of the `Debug` output.
fn fields(limits: &impl std::fmt::Debug) -> Vec<(String, String)> {
    let printed = format!("{limits:#?}");
    let lines = printed.lines().filter_map(|line| line.trim().trim_end_matches(',').split_once(": "));
    lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// Formats a number like the page: 512 MiB, 1 GiB, 200,000, 120 s.
fn format_value(name: &str, value: &str) -> String {
    if value == "None" {
        return "none".to_owned();
    }
    if let Some(seconds) = value.strip_suffix(".0s").or_else(|| value.strip_suffix('s')) {
        return format!("{} s", Duration::from_secs(seconds.parse().expect("whole seconds")).as_secs());
    }
    let number: u64 = value.parse().expect("a number");
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units
        .iter()
        .find(|(unit, _)| name.ends_with("_bytes") && name != "path_bytes" && number.is_multiple_of(*unit))
    {
        Some((unit, sign)) => format!("{} {sign}", number / unit),
        None if number >= 1000 => format!("{},{:03}", number / 1000, number % 1000),
        None => number.to_string(),
    }
}

#[test]
fn the_page_of_limits_has_a_row_for_each() {
    let page = fs::read_to_string(root().join("docs/limits.md")).expect("docs/limits.md exists");
    for (name, value) in fields(&Limits::default()) {
        let row = page.lines().find(|line| line.starts_with(&format!("| `{name}` (")));
        let row = row.unwrap_or_else(|| panic!("{name} has no row"));
        assert!(row.contains(&format!("| {} |", format_value(&name, &value))), "{row}");
    }
}

/// The first two cells of the rows of a section's tables whose first cell is code.
fn rows(page: &str, section: &str) -> Vec<(String, String)> {
    let (_, rest) = page.split_once(&format!("\n## {section}\n")).unwrap_or_else(|| panic!("{section} is a section"));
    let text = rest.split_once("\n## ").map_or(rest, |(text, _)| text);
    let cells = text.lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split('|').map(str::trim);
        Some((cells.next()?.trim_end_matches('`').to_owned(), cells.next()?.to_owned()))
    });
    cells.collect()
}

#[test]
fn every_fuzz_target_is_listed_with_its_input() {
    let source = fs::read_to_string(root().join("fuzz/src/lib.rs")).expect("fuzz/src/lib.rs exists");
    let targets: Vec<&str> =
        source.split("Target { name: \"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(targets.len() > 10, "the targets are read wrongly: {targets:?}");
    let rows = rows(&page(), "Fuzzing");
    let listed: Vec<&str> = rows.iter().map(|(target, _)| target.as_str()).collect();
    assert_eq!(listed, targets);
    assert!(rows.iter().all(|(_, input)| input.contains(':')), "an input without a property: {rows:?}");
}

#[test]
fn every_limit_is_listed_with_its_default() {
    let page = page();
    let sections = ["Limits", "Authority granted by the application"];
    let rows: BTreeSet<(String, String)> = sections.iter().flat_map(|section| rows(&page, section)).collect();
    let all = fields(&Limits::default()).into_iter().chain(fields(&NetworkLimits::default()));
    let all: BTreeSet<_> = all.map(|(name, value)| (name.clone(), format_value(&name, &value))).collect();
    assert!(all.len() > 20);
    assert_eq!(rows, all);
}
