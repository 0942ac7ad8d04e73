//! Layers and saved sandboxes keep the contract, and a replay of the whole suite does.

use std::sync::Arc;
use std::time::Duration;

use tidebox::conformance::provider::{self, ProviderCapabilities};
use tidebox::conformance::{self, Outcome};
use tidebox::layer::{self, Cassette, Matching, Player, Recorder, Redaction};
use tidebox::{Dialect, SandboxBackend, SandboxPath, SandboxProvider};

use crate::{OUTPUT_BYTES, capabilities, sandbox};

/// What a replay cannot do, because it answers at once.
const ABOUT_TIME: &[&str] = &["execute_streaming: output arrives while the command runs"];

fn root() -> SandboxPath {
    SandboxPath::parse("/workspace").expect("the path is absolute")
}

#[tokio::test]
async fn a_backend_in_all_layers_keeps_the_contract_and_so_does_its_replay() {
    let recorder = Recorder::default();
    let backend: Arc<dyn SandboxBackend> = Arc::new(sandbox(Dialect::Js));
    let backend = layer::time_limit(backend, None, Duration::from_secs(120));
    let backend = layer::output_cap(backend, OUTPUT_BYTES);
    let backend = recorder.backend(layer::trace(backend, |_| {}));
    let report = conformance::run(&*backend, &capabilities(Dialect::Js), &root()).await;
    report.assert();

    let text = recorder.cassette().to_text().expect("a cassette has a text");
    let cassette = Cassette::parse(&text).expect("what was written can be read");
    let player = Player::new(cassette, Matching::InOrder, Redaction::new()).expect("a player");
    let replay = player.backend().expect("one sandbox was recorded");
    let mut failed = Vec::new();
    for case in conformance::cases() {
        if let Outcome::Failed(fault) = case.run(&*replay, &capabilities(Dialect::Js), &root()).await {
            println!("{}: {fault:?}", case.name);
            failed.push(case.name);
        }
    }
    assert_eq!(failed, ABOUT_TIME);
}

#[tokio::test]
async fn a_provider_that_saves_keeps_the_contract_and_so_does_its_replay() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let saving = tidebox::provider().and_then(|provider| provider.persist(folder.path()).build());
    let recorder = Recorder::default();
    let recorded = recorder.provider(Arc::new(saving.expect("the folder is free")));
    let report = provider::run(&*recorded, &ProviderCapabilities::full()).await;
    report.assert();
    assert_eq!(report.skipped, []);

    let player = Player::new(recorder.cassette(), Matching::InOrder, Redaction::new()).expect("a player");
    let replay: Arc<dyn SandboxProvider> = player.provider();
    provider::run(&*replay, &ProviderCapabilities::full()).await.assert();
}
