//! The development backend, on the real engine, keeps every promise of the contract in every dialect.

#![allow(clippy::print_stdout, reason = "the report belongs to the test's output")]

mod broken;
mod broken_provider;
mod defects;
mod layers;
mod variants;

use std::sync::Arc;
use std::time::Duration;

use tidebox::conformance::provider::{self, ProviderCapabilities};
use tidebox::conformance::{self, Capabilities, HostProbe, Report};
use tidebox::{Dialect, Limits, Sandbox, SandboxPath};
use tidebox_vfs_backend::VfsProvider;

/// What one command may print here: small, so that the case that prints more is quick.
const OUTPUT_BYTES: u64 = 1 << 20;

/// A busy machine wakes a task late; how exactly a timeout is met is measured elsewhere.
const SLACK: Duration = Duration::from_secs(20);

/// Something of the host that no sandbox may show: this file, and a variable that every test has.
fn probe() -> HostProbe {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/conformance/main.rs").to_owned();
    let value = std::env::var("CARGO_MANIFEST_DIR").expect("cargo and nextest set it for tests");
    let text = "Something of the host that no sandbox may show".to_owned();
    HostProbe { file, text, variable: "CARGO_MANIFEST_DIR".to_owned(), value }
}

fn capabilities(dialect: Dialect) -> Capabilities {
    Capabilities {
        dialect,
        output_bytes: Some(OUTPUT_BYTES),
        glob_files: Some(10_000),
        host: Some(probe()),
        may_close: true,
        timeout_slack: SLACK,
        ..Capabilities::FULL
    }
}

fn sandbox(dialect: Dialect) -> Sandbox {
    let mut limits = Limits::default();
    limits.output_bytes = OUTPUT_BYTES;
    let builder = tidebox::sandbox().expect("the engine starts");
    builder.dialect(dialect).limits(limits).build().expect("the sandbox is made")
}

/// Only what another dialect is for may be skipped: this backend claims everything.
fn assert_nothing_else_is_skipped(report: &Report) {
    for skipped in &report.skipped {
        assert!(skipped.reason.starts_with("the dialect "), "{}: {}", skipped.name, skipped.reason);
    }
}

async fn keeps_the_contract(dialect: Dialect) {
    let root = SandboxPath::parse("/workspace").expect("the path is absolute");
    let report = conformance::run(&sandbox(dialect), &capabilities(dialect), &root).await;
    println!("{report}");
    report.assert();
    assert_nothing_else_is_skipped(&report);
}

#[tokio::test]
async fn the_development_backend_keeps_the_contract_in_the_dialect_of_javascript() {
    keeps_the_contract(Dialect::Js).await;
}

#[tokio::test]
async fn the_development_backend_keeps_the_contract_in_the_dialect_of_python() {
    keeps_the_contract(Dialect::Python).await;
}

#[tokio::test]
async fn the_development_backend_keeps_the_contract_in_the_dialect_of_the_python_tests() {
    keeps_the_contract(Dialect::LangchainTests).await;
}

#[tokio::test]
async fn the_suite_works_in_any_directory_and_leaves_nothing_in_it() {
    use tidebox::SandboxBackend;
    let sandbox = sandbox(Dialect::Js);
    let root = SandboxPath::parse("/home/user/with space").expect("the path is absolute");
    let capabilities = Capabilities { may_close: false, ..capabilities(Dialect::Js) };
    for case in conformance::cases().filter(|case| case.name.starts_with("paths: ")) {
        let outcome = case.run(&sandbox, &capabilities, &root).await;
        assert_eq!(outcome, conformance::Outcome::Passed, "{}", case.name);
    }
    let left = sandbox.ls(&root).await.expect("ls answers").expect("the root is there");
    assert_eq!(left.entries, []);
}

#[tokio::test]
async fn the_local_provider_keeps_the_contract_of_providers() {
    let provider = Arc::new(VfsProvider::new(tidebox::sandbox));
    // More than two pages of the list.
    let capabilities = ProviderCapabilities { many: 250, ..ProviderCapabilities::full() };
    let report = provider::run(&*provider, &capabilities).await;
    println!("{report}");
    report.assert();
    assert_eq!(report.skipped, []);
}
