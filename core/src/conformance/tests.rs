use std::collections::BTreeSet;

use super::*;
use crate::dialect::Dialect;

#[test]
fn case_names_are_unique_and_start_with_the_method() {
    let mut names = BTreeSet::new();
    for name in cases().map(|case| case.name).chain(provider::cases().map(|case| case.name)) {
        assert!(names.insert(name), "{name}");
        let (method, promise) = name.split_once(": ").unwrap();
        assert!(!method.is_empty() && promise.len() > 10 && !promise.ends_with('.'), "{name}");
    }
    assert!(names.len() >= 200, "{}", names.len());
}

#[test]
fn every_case_has_a_dialect_and_skips_state_a_reason() {
    let full = |dialect| Capabilities {
        dialect,
        output_bytes: Some(1 << 20),
        glob_files: Some(10_000),
        ports: Some(|_, _| Box::pin(async { Ok((404, Vec::new())) })),
        host: Some(HostProbe { file: "/f".into(), text: "t".into(), variable: "v".into(), value: "x".into() }),
        allow_close: true,
        ..Capabilities::FULL
    };
    for case in cases() {
        let dialects = [Dialect::Js, Dialect::Python, Dialect::LangchainTests];
        assert!(dialects.iter().any(|dialect| case.skip_reason(&full(*dialect)).is_none()), "{}", case.name);
        // A requirement that every backend meets would be useless.
        if let Some(need) = case.requirements.first()
            && !matches!(need, Requirement::Dialect(..))
        {
            let reason = case.skip_reason(&nothing()).unwrap();
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
        kills_background: false,
        processes: false,
        terminals: false,
        keeps_background: false,
        non_utf8_names: false,
        symlinks: false,
        modes: false,
        sizes: false,
        modified: false,
        file_bytes: 0,
        offload_directories: false,
        ..Capabilities::FULL
    }
}

#[test]
fn a_report_lists_skips_and_failures_and_ends_with_counts() {
    let mut report = Report::default();
    assert!(!report.is_success(), "an empty run is not a success");
    report.add("ls: a", CaseOutcome::Passed);
    assert!(report.is_success());
    report.add("ls: b", CaseOutcome::Skipped("the backend does not claim that it supports symbolic links".to_owned()));
    report.add("ls: c", CaseOutcome::Failed(CaseFailure::new("one entry", "none")));
    assert!(!report.is_success());
    let printed = report.to_string();
    assert!(printed.contains("skipped  ls: b\n         the backend does not claim"), "{printed}");
    assert!(printed.contains("FAILED   ls: c\n         expected one entry\n         actual   none\n"), "{printed}");
    assert!(printed.ends_with("1 passed, 1 failed, 1 skipped"), "{printed}");
}

#[test]
#[should_panic(expected = "the backend does not fulfill the contract")]
fn assert_success_panics_on_a_failed_case() {
    let mut report = Report::default();
    report.add("ls: a", CaseOutcome::Passed);
    report.add("ls: b", CaseOutcome::Failed(CaseFailure::new("one entry", "none")));
    report.assert_success();
}

#[test]
fn long_actual_values_are_truncated() {
    let fault = CaseFailure::new("short", "é".repeat(1000));
    assert!(fault.actual.len() < 1000 && fault.actual.ends_with("... (2000 bytes)"), "{}", fault.actual);
}
