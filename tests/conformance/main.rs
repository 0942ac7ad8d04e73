//! The development backend, on the real engine, fulfils the contract in every dialect.

#![allow(clippy::print_stdout, reason = "the report belongs to the test's output")]

mod defects;
mod faulty_backend;
mod faulty_provider;
mod layers;
mod port_probe;
mod variants;

use std::sync::Arc;
use std::time::Duration;

use tidebox::conformance::provider::{self, ProviderCapabilities};
use tidebox::conformance::{self, Capabilities, HostProbe, Report};
use tidebox::{Dialect, Limits, Sandbox, SandboxPath};
use tidebox_vfs_backend::VfsProvider;

/// Output limit of one command in bytes: small, so that the case that exceeds it is fast.
const OUTPUT_BYTES: u64 = 1 << 20;

/// Tolerance for timeouts: a busy host wakes tasks late. Other tests measure the precision of timeouts.
const SLACK: Duration = Duration::from_secs(20);

/// Host data that no sandbox may expose: this file, and a variable that every test has.
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
        ports: Some(port_probe::get),
        host: Some(probe()),
        allow_close: true,
        timeout_tolerance: SLACK,
        ..Capabilities::FULL
    }
}

fn sandbox(dialect: Dialect) -> Sandbox {
    let mut limits = Limits::default();
    limits.output_bytes = OUTPUT_BYTES;
    let builder = tidebox::sandbox().expect("the engine starts");
    builder.dialect(dialect).limits(limits).build().expect("the sandbox is built")
}

/// Only cases for another dialect may be skipped: this backend claims every capability.
fn assert_nothing_else_is_skipped(report: &Report) {
    for skipped in &report.skipped {
        assert!(skipped.reason.starts_with("the dialect "), "{}: {}", skipped.name, skipped.reason);
    }
}

async fn keeps_the_contract(dialect: Dialect) {
    let root = SandboxPath::parse("/workspace").expect("the path is absolute");
    let report = conformance::run(&sandbox(dialect), &capabilities(dialect), &root).await;
    println!("{report}");
    report.assert_success();
    assert_nothing_else_is_skipped(&report);
}

#[tokio::test]
async fn the_local_backend_passes_in_the_javascript_dialect() {
    keeps_the_contract(Dialect::Js).await;
}

#[tokio::test]
async fn the_local_backend_passes_in_the_python_dialect() {
    keeps_the_contract(Dialect::Python).await;
}

#[tokio::test]
async fn the_local_backend_passes_in_the_python_tests_dialect() {
    keeps_the_contract(Dialect::LangchainTests).await;
}

#[tokio::test]
async fn the_suite_works_in_any_directory_and_leaves_nothing_in_it() {
    use tidebox::SandboxBackend;
    let sandbox = sandbox(Dialect::Js);
    let root = SandboxPath::parse("/data/user/with space").expect("the path is absolute");
    let capabilities = Capabilities { allow_close: false, ..capabilities(Dialect::Js) };
    for case in conformance::cases().filter(|case| case.name.starts_with("paths: ")) {
        let outcome = case.run(&sandbox, &capabilities, &root).await;
        assert_eq!(outcome, conformance::CaseOutcome::Passed, "{}", case.name);
    }
    let left = sandbox.ls(&root).await.expect("ls responds").expect("the root exists");
    assert_eq!(left.entries, []);
}

#[tokio::test]
async fn the_local_provider_passes_the_provider_suite() {
    let provider = Arc::new(VfsProvider::new(tidebox::sandbox));
    // More than two pages of the list of sandboxes.
    let capabilities = ProviderCapabilities { list_sandboxes: 250, ..ProviderCapabilities::full() };
    let report = provider::run(&*provider, &capabilities).await;
    println!("{report}");
    report.assert_success();
    assert_eq!(report.skipped, []);
}
