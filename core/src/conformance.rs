//! The conformance suite: each requirement of the contract as one small asynchronous function that runs against any backend.
//!
//! To test a backend, state its capabilities and a directory that the suite may write to:
//!
//! ```
//! # use tidebox_core::{SandboxBackend, SandboxPath, conformance::{self, Capabilities}};
//! # async fn example(backend: &dyn SandboxBackend) {
//! let root = SandboxPath::parse("/home/user").expect("the path is absolute");
//! let capabilities = Capabilities { non_utf8_names: false, ..Capabilities::FULL };
//! let report = conformance::run(backend, &capabilities, &root).await;
//! println!("{report}");
//! report.assert_success();
//! # }
//! ```
//!
//! Cases whose capabilities are missing are skipped; the report lists them with the reason. [`cases`] returns the individual
//! cases, for a test runner with one test per case. [`provider`] is the suite for providers.
//!
//! Every case works in a separate directory below the root and deletes it afterwards. Exceptions: cases that need
//! [`Capabilities::offload_directories`] write to `/large_tool_results` and `/conversation_history` and delete their files; those
//! that need [`Capabilities::allow_close`] end the sandbox.

mod capabilities;
mod case;
mod concurrency;
mod context;
mod delete;
mod edit;
mod execute;
mod failure;
mod file_names;
mod glob;
mod grep;
mod isolation;
mod lifecycle;
mod ls;
mod offload;
mod output_limit;
mod port;
mod process;
pub mod provider;
mod read;
mod report;
mod shared_paths;
mod stop;
mod stream;
mod terminal;
mod transfer;
mod write;

pub use capabilities::{Capabilities, HostProbe, PortProbe, Requirement};
pub use case::{Case, CaseOutcome};
pub use failure::CaseFailure;
pub use report::{Failed, Report, Skipped};

use crate::backend::SandboxBackend;
use crate::path::SandboxPath;

/// The cases by group. The case that closes the sandbox is the last.
const GROUPS: &[&[Case]] = &[
    lifecycle::CASES,
    execute::CASES,
    output_limit::CASES,
    stop::CASES,
    stream::CASES,
    process::CASES,
    terminal::CASES,
    port::CASES,
    ls::CASES,
    read::CASES,
    read::errors::CASES,
    read::kind::CASES,
    write::CASES,
    edit::CASES,
    edit::errors::CASES,
    delete::CASES,
    grep::CASES,
    grep::scope::CASES,
    glob::CASES,
    glob::dialect::CASES,
    transfer::CASES,
    transfer::errors::CASES,
    file_names::CASES,
    shared_paths::CASES,
    concurrency::CASES,
    offload::CASES,
    isolation::CASES,
    lifecycle::CLOSING,
];

/// Returns every case. Those that close the sandbox come last.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    GROUPS.iter().copied().flatten()
}

/// Runs every case whose requirements the backend meets, one after the other.
///
/// `root` is a directory that exists or can be created, and that the suite may write to. The cases delete everything they create
/// in it.
pub async fn run(backend: &dyn SandboxBackend, capabilities: &Capabilities, root: &SandboxPath) -> Report {
    let mut report = Report::default();
    for case in cases() {
        let outcome = case.run(backend, capabilities, root).await;
        report.add(case.name, outcome);
    }
    report
}

#[cfg(test)]
mod tests;
