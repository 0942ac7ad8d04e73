//! The suite sees what is wrong: a backend with one defect fails the case that is about it, which it passes without.

use tidebox::conformance::{self, Capabilities, Case, Outcome};
use tidebox::{Dialect, SandboxBackend, SandboxPath};

use crate::broken::{Broken, Defect};
use crate::{capabilities, sandbox};

/// A defect, and a case that must see it.
const SEEN_BY: &[(Defect, &str)] = &[
    (Defect::ExitCodeMadeUp, "execute: every exit code arrives as it is"),
    (Defect::StderrLost, "execute: standard error is part of the output"),
    (Defect::StreamsJoined, "execute: standard output and standard error are told apart"),
    (Defect::StdinDropped, "execute: standard input is what was given, byte for byte"),
    (Defect::EnvDropped, "execute: environment variables arrive as they are"),
    (Defect::CwdDropped, "execute: a command starts in the directory that was given"),
    (Defect::CwdDropped, "paths: a command in another directory means the same files"),
    (Defect::TimeoutLate, "execute: a command that computes is stopped when its time is up"),
    (Defect::TimeoutHidden, "execute: a command that waits is stopped when its time is up"),
    (Defect::TimeoutCodeUnknown, "execute: a command whose time is up has exit code 124"),
    (Defect::TimeoutOutputLost, "execute: what a command wrote before its time was up is kept"),
    (Defect::TruncationHidden, "execute: output over the limit is cut, says so, and the command goes on"),
    (Defect::OutputLossy, "execute: bytes that are not UTF-8 arrive as they are"),
    (Defect::StreamsAtTheEnd, "execute_streaming: output arrives while the command runs"),
    (Defect::OneAtATime, "at once: a command that runs keeps no other operation waiting"),
    (Defect::LinesNumbered, "read: a small file comes whole, as it is, with its window"),
    (Defect::WindowLies, "read: a page holds the lines asked for, and its window says which"),
    (Defect::WindowLies, "read: pages, each begun where the one before said, are the file"),
    (Defect::EmptyFileHasAWindow, "read: an empty file says that it is empty, wherever the page begins"),
    (Defect::PastEndIsEmpty, "read: a page past the end is an error that says how long the file is"),
    (Defect::PastEndIsEmpty, "read: a page at the very end is past the end"),
    (Defect::BytesAsText, "read: bytes that are not UTF-8 come as bytes, whatever the name"),
    (Defect::BytesTypedAsText, "read: bytes never have a text type"),
    (Defect::PagesOverlap, "read: pages, each begun where the one before said, are the file"),
    (Defect::DirectoriesEndInSlash, "ls: files and directories are listed by name with whole paths"),
    (Defect::ListUnordered, "ls: files and directories are listed by name with whole paths"),
    (Defect::HiddenNotListed, "ls: names with a leading dot are listed"),
    (Defect::LineEndAdded, "write: line ends are neither changed nor added"),
    (Defect::WriteRefused, "write: an existing file is replaced as a whole"),
    (Defect::WriteAppends, "write: an existing file is replaced as a whole"),
    (Defect::EditTakesTheFirst, "edit: a string that is there twice is refused, and the file stays"),
    (Defect::EditUncounted, "edit: every occurrence is replaced on request, and counted"),
    (Defect::DeleteOfNothingSucceeds, "delete: what is not there is refused"),
    (Defect::DeleteFlat, "delete: a directory is gone with everything in it"),
    (Defect::ColonsLost, "names: colons, dashes and what a search prints work in every tool"),
    (Defect::MissingRootIsEmpty, "grep: a place that is not there is an error and not an empty list"),
    (Defect::CutHidden, "grep: one match over the count marks the result as cut"),
    (Defect::CutHidden, "glob: one file over the limit marks the result as cut"),
    (Defect::LinesFromZero, "grep: lines are found with whole paths and numbers from 1"),
    (Defect::ResultsReversed, "upload_files: one result for each file, in order, with its path as it was given"),
    (Defect::ResultsReversed, "download_files: one result for each path, in order, with its path as it was given"),
    (Defect::FailureStopsTheRest, "upload_files: one file that fails stops no other"),
    (Defect::RelativeResolved, "upload_files: a relative path is invalid"),
    (Defect::DirectoryNotFound, "download_files: a directory is `is_directory`"),
    (Defect::StaleDownload, "paths: what a command renames has its new name for every tool"),
    (Defect::ModesIgnored, "download_files: a file that may not be read is refused"),
    (Defect::HarnessRefused, "harness: a large result is put aside, pages back and is searched"),
    (Defect::HostShown, "isolation: tools and transfers do not reach a file of the host"),
    (Defect::StaysOpen, "close: a closed sandbox answers every method with the error closed, and may be closed twice"),
];

fn case(name: &str) -> &'static Case {
    conformance::cases().find(|case| case.name == name).unwrap_or_else(|| panic!("there is a case {name:?}"))
}

async fn try_case(backend: &dyn SandboxBackend, name: &str, capabilities: &Capabilities) -> Outcome {
    let root = SandboxPath::parse("/workspace").expect("the path is absolute");
    case(name).run(backend, capabilities, &root).await
}

#[tokio::test]
async fn every_defect_is_seen_by_the_case_that_is_about_it() {
    let mut unseen = Vec::new();
    for (defect, name) in SEEN_BY {
        // A late timeout is three seconds late.
        let slack = if *defect == Defect::TimeoutLate { std::time::Duration::from_secs(1) } else { crate::SLACK };
        let capabilities = Capabilities { timeout_slack: slack, ..capabilities(Dialect::Js) };
        let broken = Broken::new(sandbox(Dialect::Js), *defect);
        match try_case(&broken, name, &capabilities).await {
            Outcome::Failed(_) => {}
            other => unseen.push(format!("{defect:?} by {name:?}: {other:?}")),
        }
    }
    assert!(unseen.is_empty(), "{}", unseen.join("\n"));
}

#[tokio::test]
async fn a_backend_of_another_dialect_than_it_claims_is_seen() {
    for (is, claims) in [
        (Dialect::Js, Dialect::Python),
        (Dialect::Python, Dialect::Js),
        (Dialect::Python, Dialect::LangchainTests),
        (Dialect::LangchainTests, Dialect::Python),
    ] {
        let sandbox = sandbox(is);
        let capabilities = Capabilities { may_close: false, ..capabilities(claims) };
        let mut failed = 0;
        // The cases that only another dialect passes over.
        for case in conformance::cases().filter(|case| case.skipped(&crate::capabilities(is)).is_some()) {
            let outcome = try_case(&sandbox, case.name, &capabilities).await;
            failed += usize::from(matches!(outcome, Outcome::Failed(_)));
        }
        assert!(failed >= 3, "{is:?} passes for {claims:?}: {failed}");
    }
}
