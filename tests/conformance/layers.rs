//! Layers, saved sandboxes and a replay of the whole suite fulfil the contract.

use std::sync::Arc;
use std::time::Duration;

use tidebox::conformance::provider::{self, ProviderCapabilities};
use tidebox::conformance::{self, Capabilities, CaseOutcome};
use tidebox::layer::{self, Cassette, Matching, Recorder, Redaction, Replayer};
use tidebox::{Dialect, SandboxBackend, SandboxPath, SandboxProvider};

use crate::{OUTPUT_BYTES, capabilities, sandbox};

/// Capabilities that a replay does not have, because it returns results immediately.
const ABOUT_TIME: &[&str] =
    &["execute_streaming: output arrives while the command runs", "read_process: a reader waits for output"];

fn root() -> SandboxPath {
    SandboxPath::parse("/workspace").expect("the path is absolute")
}

#[tokio::test]
async fn a_layered_backend_and_its_replay_pass_the_suite() {
    let recorder = Recorder::default();
    let backend: Arc<dyn SandboxBackend> = Arc::new(sandbox(Dialect::Js));
    let backend = layer::timeout(backend, None, Duration::from_secs(120));
    let backend = layer::output_limit(backend, OUTPUT_BYTES);
    let backend = recorder.backend(layer::trace(backend, |_| {}));
    let report = conformance::run(&*backend, &capabilities(Dialect::Js), &root()).await;
    report.assert_success();

    let text = recorder.cassette().to_text().expect("a cassette has a text");
    let cassette = Cassette::parse(&text).expect("what was written can be read");
    let player = Replayer::new(cassette, Matching::InOrder, Redaction::new()).expect("a player");
    let replay = player.backend().expect("one sandbox was recorded");
    // The recorded addresses lead to no server.
    let capabilities = Capabilities { ports: None, ..capabilities(Dialect::Js) };
    let mut failed = Vec::new();
    for case in conformance::cases() {
        if let CaseOutcome::Failed(fault) = case.run(&*replay, &capabilities, &root()).await {
            println!("{}: {fault:?}", case.name);
            failed.push(case.name);
        }
    }
    assert_eq!(failed, ABOUT_TIME);
}

#[tokio::test]
async fn a_saving_provider_and_its_replay_pass_the_suite() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let saving = tidebox::provider().and_then(|provider| provider.save_in(dir.path()).build());
    let recorder = Recorder::default();
    let recorded = recorder.provider(Arc::new(saving.expect("the directory is free")));
    let report = provider::run(&*recorded, &ProviderCapabilities::full()).await;
    report.assert_success();
    assert_eq!(report.skipped, []);

    let player = Replayer::new(recorder.cassette(), Matching::InOrder, Redaction::new()).expect("a player");
    let replay: Arc<dyn SandboxProvider> = player.provider();
    provider::run(&*replay, &ProviderCapabilities::full()).await.assert_success();
}
