use std::collections::BTreeSet;

use super::*;
use crate::dialect::Dialect;

#[test]
fn every_case_has_a_name_of_its_own_that_begins_with_its_method() {
    let mut names = BTreeSet::new();
    for name in cases().map(|case| case.name).chain(provider::cases().map(|case| case.name)) {
        assert!(names.insert(name), "{name}");
        let (method, promise) = name.split_once(": ").unwrap();
        assert!(!method.is_empty() && promise.len() > 10 && !promise.ends_with('.'), "{name}");
    }
    assert!(names.len() >= 200, "{}", names.len());
}

#[test]
fn every_case_is_for_some_dialect_and_what_is_not_claimed_is_skipped_with_the_reason() {
    let full = |dialect| Capabilities {
        dialect,
        output_bytes: Some(1 << 20),
        glob_files: Some(10_000),
        host: Some(HostProbe { file: "/f".into(), text: "t".into(), variable: "v".into(), value: "x".into() }),
        may_close: true,
        ..Capabilities::FULL
    };
    for case in cases() {
        let dialects = [Dialect::Js, Dialect::Python, Dialect::LangchainTests];
        assert!(dialects.iter().any(|dialect| case.skipped(&full(*dialect)).is_none()), "{}", case.name);
        // A need that nobody can lack would be none.
        if let Some(need) = case.needs.first()
            && !matches!(need, Need::Dialect(..))
        {
            let reason = case.skipped(&nothing()).unwrap();
            assert!(reason.starts_with("the backend does not claim that it "), "{reason}");
        }
    }
}

fn nothing() -> Capabilities {
    Capabilities {
        execute: false,
        exit_codes: false,
        separate_streams: false,
        binary_output: false,
        streaming: false,
        stdin: false,
        env: false,
        cwd: false,
        fresh_shell: false,
        timeout: false,
        timeout_exit_code: false,
        timeout_output: false,
        nothing_outlives: false,
        byte_names: false,
        symlinks: false,
        modes: false,
        sizes: false,
        modified: false,
        file_bytes: 0,
        harness_directories: false,
        ..Capabilities::FULL
    }
}

#[test]
fn a_report_prints_what_was_skipped_and_what_failed_and_ends_with_the_counts() {
    let mut report = Report::default();
    assert!(!report.is_good(), "a run of nothing proves nothing");
    report.add("ls: a", Outcome::Passed);
    assert!(report.is_good());
    report.add("ls: b", Outcome::Skipped("the backend does not claim that it has symbolic links".to_owned()));
    report.add("ls: c", Outcome::Failed(Fault::new("one entry", "none")));
    assert!(!report.is_good());
    let printed = report.to_string();
    assert!(printed.contains("skipped  ls: b\n         the backend does not claim"), "{printed}");
    assert!(printed.contains("FAILED   ls: c\n         expected one entry\n         seen     none\n"), "{printed}");
    assert!(printed.ends_with("1 passed, 1 failed, 1 skipped"), "{printed}");
}

#[test]
#[should_panic(expected = "the backend does not keep the contract")]
fn a_report_with_a_failure_ends_a_test() {
    let mut report = Report::default();
    report.add("ls: a", Outcome::Passed);
    report.add("ls: b", Outcome::Failed(Fault::new("one entry", "none")));
    report.assert();
}

#[test]
fn what_was_seen_is_shown_in_part_when_it_is_long() {
    let fault = Fault::new("short", "é".repeat(1000));
    assert!(fault.seen.len() < 1000 && fault.seen.ends_with("... (2000 bytes)"), "{}", fault.seen);
}
