//! The shared test suite: every promise of the contract as one small asynchronous function, run against any backend.
//!
//! A backend is proved by telling what it can do and where the suite may write:
//!
//! ```
//! # use tidebox_core::{SandboxBackend, SandboxPath, conformance::{self, Capabilities}};
//! # async fn example(backend: &dyn SandboxBackend) {
//! let root = SandboxPath::parse("/home/user").expect("the path is absolute");
//! let capabilities = Capabilities { byte_names: false, ..Capabilities::FULL };
//! let report = conformance::run(backend, &capabilities, &root).await;
//! println!("{report}");
//! report.assert();
//! # }
//! ```
//!
//! What a backend does not claim is skipped, and the report says so with the reason. [`cases`] gives the cases one by one,
//! for a test runner with a test for each. [`provider`] does the same for what makes sandboxes.
//!
//! Every case works in a directory of its own below the root and deletes it afterwards. The exceptions are those that need
//! [`Capabilities::harness_directories`], which write to `/large_tool_results` and `/conversation_history` and delete what
//! they wrote, and [`Capabilities::may_close`], which ends the sandbox.

mod capabilities;
mod case;
mod concurrency;
mod delete;
mod edit;
mod execute;
mod fault;
mod glob;
mod grep;
mod ground;
mod harness;
mod isolation;
mod life;
mod limit;
mod ls;
mod names;
mod path_space;
pub mod provider;
mod read;
mod report;
mod stop;
mod stream;
mod transfer;
mod write;

pub use capabilities::{Capabilities, HostProbe, Need};
pub use case::{Case, Outcome};
pub use fault::Fault;
pub use report::{Failed, Report, Skipped};

use crate::backend::SandboxBackend;
use crate::path::SandboxPath;

/// The cases, group by group. The one that closes the sandbox is the last.
const GROUPS: &[&[Case]] = &[
    life::CASES,
    execute::CASES,
    limit::CASES,
    stop::CASES,
    stream::CASES,
    ls::CASES,
    read::CASES,
    read::refusal::CASES,
    read::kind::CASES,
    write::CASES,
    edit::CASES,
    edit::refusal::CASES,
    delete::CASES,
    grep::CASES,
    grep::scope::CASES,
    glob::CASES,
    glob::dialect::CASES,
    transfer::CASES,
    transfer::refusal::CASES,
    names::CASES,
    path_space::CASES,
    concurrency::CASES,
    harness::CASES,
    isolation::CASES,
    life::CLOSING,
];

/// Every case. Those that close the sandbox come last.
pub fn cases() -> impl Iterator<Item = &'static Case> {
    GROUPS.iter().copied().flatten()
}

/// Runs every case whose needs the backend meets, one after the other.
///
/// `root` is a directory that exists, or can be made, and that the suite may write to. Cases leave nothing behind in it.
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
