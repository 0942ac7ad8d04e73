//! Sandboxes that are forked, saved or configured differently fulfil the same contract.

use tidebox::conformance::provider::{self, ProviderCapabilities};
use tidebox::conformance::{self, Capabilities};
use tidebox::{Dialect, ExecuteRequest, Limits, Sandbox, SandboxBackend, SandboxBuilder, SandboxPath, ShellMode};

use crate::{OUTPUT_BYTES, assert_nothing_else_is_skipped, capabilities};

/// 2026-11-21, in nanoseconds.
const TODAY: u64 = 1_795_219_200_000_000_000;

fn builder(dialect: Dialect) -> SandboxBuilder {
    let mut limits = Limits::default();
    limits.output_bytes = OUTPUT_BYTES;
    tidebox::sandbox().expect("the engine starts").dialect(dialect).limits(limits)
}

async fn run(sandbox: &Sandbox, capabilities: &Capabilities) -> conformance::Report {
    let root = SandboxPath::parse("/workspace").expect("the path is absolute");
    let report = conformance::run(sandbox, capabilities, &root).await;
    println!("{report}");
    report.assert_success();
    report
}

#[tokio::test]
async fn a_deterministic_sandbox_passes_the_suite() {
    let sandbox = builder(Dialect::Python).deterministic(7, TODAY).build().expect("the sandbox is built");
    // The order of processes that outlive a call would depend on the host.
    let capabilities =
        Capabilities { processes: false, terminals: false, keeps_background: false, ..capabilities(Dialect::Python) };
    let report = run(&sandbox, &capabilities).await;
    let other = report.skipped.iter().filter(|skipped| !skipped.reason.starts_with("the dialect "));
    assert!(other.clone().all(|skipped| skipped.reason.contains("processes that outlive")), "{:?}", report.skipped);
    assert_eq!(other.count(), 22, "{:?}", report.skipped);
}

#[tokio::test]
async fn a_fork_of_a_used_sandbox_passes_the_suite() {
    let sandbox = builder(Dialect::Js).build().expect("the sandbox is built");
    let used = ExecuteRequest::new("mkdir -p a/b; seq 1 1000 > a/b/c; ln -s a d; chmod 700 a");
    sandbox.execute(used).await.expect("the command runs");
    let fork = sandbox.fork().expect("the sandbox is forked");
    assert_nothing_else_is_skipped(&run(&fork, &capabilities(Dialect::Js)).await);
}

#[tokio::test]
async fn a_persistent_shell_passes_the_rest_of_the_suite() {
    let sandbox = builder(Dialect::Js).shell_mode(ShellMode::Persistent).build().expect("the sandbox is built");
    let capabilities = Capabilities { fresh_shell: false, ..capabilities(Dialect::Js) };
    let report = run(&sandbox, &capabilities).await;
    let other = report.skipped.iter().filter(|skipped| !skipped.reason.starts_with("the dialect "));
    assert_eq!(other.count(), 1, "{:?}", report.skipped);
}

#[tokio::test]
async fn a_provider_with_disk_storage_passes_the_provider_suite() {
    let dir = tempfile::tempdir().expect("a directory can be created");
    let provider = tidebox::provider().expect("the engine starts").save_in(dir.path()).build();
    let report = provider::run(&provider.expect("the provider is built"), &ProviderCapabilities::full()).await;
    println!("{report}");
    report.assert_success();
    assert_eq!(report.skipped, []);
}
