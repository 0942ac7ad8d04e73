//! Tests that the suite detects defects: a backend with one defect fails the corresponding case, which it passes otherwise.

use tidebox::conformance::{self, Capabilities, Case, CaseOutcome};
use tidebox::{Dialect, SandboxBackend, SandboxPath};

use crate::faulty_backend::{Defect, FaultyBackend};
use crate::{capabilities, sandbox};

/// A defect, and the case that must detect it.
const SEEN_BY: &[(Defect, &str)] = &[
    (Defect::ExitCodeMadeUp, "execute: every exit code is unchanged"),
    (Defect::StderrLost, "execute: standard error is part of the output"),
    (Defect::StreamsJoined, "execute: standard output and standard error are separate"),
    (Defect::StdinDropped, "execute: standard input arrives byte for byte"),
    (Defect::EnvDropped, "execute: environment variables are unchanged"),
    (Defect::CwdDropped, "execute: a command starts in the requested directory"),
    (Defect::CwdDropped, "paths: commands in another directory see the same files"),
    (Defect::TimeoutLate, "execute: a computing command is stopped at its timeout"),
    (Defect::TimeoutHidden, "execute: a waiting command is stopped at its timeout"),
    (Defect::TimeoutCodeUnknown, "execute: a timed-out command has exit code 124"),
    (Defect::TimeoutOutputLost, "execute: output before the timeout is kept"),
    (Defect::TruncationHidden, "execute: output over the limit is truncated and marked, and the command continues"),
    (Defect::OutputLossy, "execute: non-UTF-8 bytes are unchanged"),
    (Defect::StreamsAtTheEnd, "execute_streaming: output arrives while the command runs"),
    (Defect::OneAtATime, "concurrency: a running command does not block other operations"),
    (Defect::LinesNumbered, "read: a small file is returned whole and unchanged, with its window"),
    (Defect::WindowLies, "read: a page contains the requested lines and its window"),
    (Defect::WindowLies, "read: consecutive pages add up to the file"),
    (Defect::EmptyFileHasAWindow, "read: an empty file returns the notice for every offset"),
    (Defect::PastEndIsEmpty, "read: a page past the end is an error with the file's length"),
    (Defect::PastEndIsEmpty, "read: a page at the very end is past the end"),
    (Defect::BytesAsText, "read: non-UTF-8 content is binary for every file name"),
    (Defect::BytesTypedAsText, "read: binary content never has a text type"),
    (Defect::PagesOverlap, "read: consecutive pages add up to the file"),
    (Defect::DirectoriesEndInSlash, "ls: files and directories are sorted by name with absolute paths"),
    (Defect::ListUnordered, "ls: files and directories are sorted by name with absolute paths"),
    (Defect::HiddenNotListed, "ls: names with a leading dot are listed"),
    (Defect::LineEndAdded, "write: line endings are neither changed nor added"),
    (Defect::WriteRefused, "write: an existing file is replaced as a whole"),
    (Defect::WriteAppends, "write: an existing file is replaced as a whole"),
    (Defect::EditTakesTheFirst, "edit: a repeated string is rejected, and the file is unchanged"),
    (Defect::EditUncounted, "edit: replace_all replaces and counts every occurrence"),
    (Defect::DeleteOfNothingSucceeds, "delete: a missing file is an error"),
    (Defect::DeleteFlat, "delete: a directory is deleted with its contents"),
    (Defect::ColonsLost, "names: colons, dashes and text like search output work in every tool"),
    (Defect::MissingRootIsEmpty, "grep: a missing directory is an error and not an empty list"),
    (Defect::CutHidden, "grep: one match over the limit marks the result as truncated"),
    (Defect::CutHidden, "glob: one file over the limit marks the result as truncated"),
    (Defect::LinesFromZero, "grep: matches have absolute paths and line numbers from 1"),
    (Defect::ResultsReversed, "upload_files: results are in request order with the requested paths"),
    (Defect::ResultsReversed, "download_files: results are in request order with the requested paths"),
    (Defect::FailureStopsTheRest, "upload_files: one failed file does not affect others"),
    (Defect::RelativeResolved, "upload_files: a relative path is invalid"),
    (Defect::DirectoryNotFound, "download_files: a directory is `is_directory`"),
    (Defect::StaleDownload, "paths: a file renamed by a command has its new name for every tool"),
    (Defect::ModesIgnored, "download_files: a file without read permission is rejected"),
    (Defect::HarnessRefused, "offload: a large result can be written, paged and searched"),
    (Defect::HostShown, "isolation: file tools and transfers cannot read a host file"),
    (Defect::StaysOpen, "close: every method of a closed sandbox fails with closed, and closing twice succeeds"),
];

fn case(name: &str) -> &'static Case {
    conformance::cases().find(|case| case.name == name).unwrap_or_else(|| panic!("there is a case {name:?}"))
}

async fn try_case(backend: &dyn SandboxBackend, name: &str, capabilities: &Capabilities) -> CaseOutcome {
    let root = SandboxPath::parse("/workspace").expect("the path is absolute");
    case(name).run(backend, capabilities, &root).await
}

#[tokio::test]
async fn every_backend_defect_fails_its_case() {
    let mut unseen = Vec::new();
    for (defect, name) in SEEN_BY {
        // A late timeout is three seconds late.
        let slack = if *defect == Defect::TimeoutLate { std::time::Duration::from_secs(1) } else { crate::SLACK };
        let capabilities = Capabilities { timeout_tolerance: slack, ..capabilities(Dialect::Js) };
        let faulty = FaultyBackend::new(sandbox(Dialect::Js), *defect);
        match try_case(&faulty, name, &capabilities).await {
            CaseOutcome::Failed(_) => {}
            other => unseen.push(format!("{defect:?} by {name:?}: {other:?}")),
        }
    }
    assert!(unseen.is_empty(), "{}", unseen.join("\n"));
}

#[tokio::test]
async fn a_wrongly_claimed_dialect_fails_the_suite() {
    for (is, claims) in [
        (Dialect::Js, Dialect::Python),
        (Dialect::Python, Dialect::Js),
        (Dialect::Python, Dialect::LangchainTests),
        (Dialect::LangchainTests, Dialect::Python),
    ] {
        let sandbox = sandbox(is);
        let capabilities = Capabilities { allow_close: false, ..capabilities(claims) };
        let mut failed = 0;
        // Only cases that the actual dialect would skip.
        for case in conformance::cases().filter(|case| case.skip_reason(&crate::capabilities(is)).is_some()) {
            let outcome = try_case(&sandbox, case.name, &capabilities).await;
            failed += usize::from(matches!(outcome, CaseOutcome::Failed(_)));
        }
        assert!(failed >= 3, "{is:?} passes for {claims:?}: {failed}");
    }
}
