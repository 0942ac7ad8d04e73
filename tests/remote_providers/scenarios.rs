//! Scenarios with the same result at every provider, whatever its protocol.

use std::time::{Duration, Instant};

use tidebox::{ErrorKind, ExecuteRequest, ListRequest, SandboxBackend, Selector, Upload};

use crate::coverage::Feature;
use crate::driver::home;
use crate::{adapter, create_sandbox, emulator, fault, http_error};

/// Timeout for expected events, long enough for a loaded host.
const PATIENCE: Duration = Duration::from_secs(60);

/// A rejected creation with a requested pause is retried once, after the pause.
pub(crate) async fn a_requested_pause_is_respected(provider: &str, path: &str) -> [Feature; 1] {
    let serving = emulator(provider).await;
    fault(&serving, path, 1, http_error(429, Some(1)));
    let started = Instant::now();
    let provider = adapter(provider, serving.options());
    provider.get_or_create(Selector::any_new()).await.expect("created after a retry");
    assert!(started.elapsed() >= Duration::from_secs(1), "the server's pause was kept");
    assert_eq!(provider.list(ListRequest::default()).await.expect("a list").sandboxes.len(), 1);
    [Feature::Pause]
}

/// An expired sandbox is not found and not listed, and can be deleted; existing handles return errors.
pub(crate) async fn an_expired_sandbox_is_deleted(provider: &str) -> [Feature; 1] {
    let serving = emulator(provider).await;
    let mut options = serving.options();
    options.time_to_live = Duration::from_secs(3);
    let provider = adapter(provider, options);
    let started = Instant::now();
    let sandbox = provider.get_or_create(Selector::labels([("a", "1")])).await.expect("created");
    if serving.provider() == "daytona" {
        // The provider counts lifetimes in minutes, so the test shortens this one in the emulator.
        assert!(serving.registry().update(sandbox.id().as_str(), |room| room.set_ttl(Duration::from_secs(3))));
    }
    while !provider.list(ListRequest::default()).await.expect("a list").sandboxes.is_empty() {
        assert!(started.elapsed() < PATIENCE, "the sandbox is still listed");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert!(started.elapsed() >= Duration::from_secs(2), "the sandbox existed");
    let error = provider.get_or_create(Selector::Id(sandbox.id().clone())).await.expect_err("the sandbox has expired");
    assert_eq!(error.kind(), ErrorKind::SandboxNotFound);
    let ran = sandbox.execute(ExecuteRequest::new("true")).await.expect_err("the server has stopped");
    assert_eq!(ran.kind(), ErrorKind::SandboxNotFound, "{ran}");
    let stored = sandbox.upload_files(vec![Upload::new("/tmp/file", "x")]).await.expect_err("nor is anything stored");
    assert_eq!(stored.kind(), ErrorKind::SandboxNotFound, "{stored}");
    let fetched = sandbox.download_files(vec![b"/tmp/file".to_vec()]).await.expect_err("nor fetched");
    assert_eq!(fetched.kind(), ErrorKind::SandboxNotFound, "{fetched}");
    provider.delete(sandbox.id()).await.expect("deleting a missing sandbox succeeds");
    [Feature::Over]
}

/// If the setup script fails, its message is returned and no sandbox remains.
pub(crate) async fn a_failing_setup_leaves_no_sandbox(provider: &str) {
    let serving = emulator(provider).await;
    let mut options = serving.options();
    options.setup = Some("echo reason >&2; exit 3".to_owned());
    let provider = adapter(provider, options);
    let error = provider.get_or_create(Selector::any_new()).await.expect_err("the script failed");
    assert!(error.message().contains("reason"), "{error}");
    assert!(provider.list(ListRequest::default()).await.expect("a list").sandboxes.is_empty());
}

/// Dropping a command's future kills it in the sandbox.
pub(crate) async fn a_dropped_command_is_killed(provider: &str) -> [Feature; 1] {
    let serving = emulator(provider).await;
    let sandbox = create_sandbox(&serving).await;
    let size = || size_of(&*sandbox, "/tmp/grows");
    let started = async {
        while size().await == 0 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let endless = sandbox.execute(ExecuteRequest::new("while :; do echo x >> /tmp/grows; sleep 0.05; done"));
    tokio::select! {
        ended = endless => panic!("it ended by itself: {ended:?}"),
        started = tokio::time::timeout(PATIENCE, started) => started.expect("the command starts"),
    }
    wait_until_it_stays(&*sandbox, "/tmp/grows").await;
    [Feature::Stop]
}

/// Waits until no process writes to a file any more.
pub(crate) async fn wait_until_it_stays(sandbox: &dyn SandboxBackend, path: &str) {
    let (start, mut before, mut still) = (Instant::now(), 0, 0);
    while still < 3 {
        assert!(start.elapsed() < PATIENCE, "the process still writes");
        tokio::time::sleep(Duration::from_millis(500)).await;
        let now = size_of(sandbox, path).await;
        still = if now == before { still + 1 } else { 0 };
        before = now;
    }
}

/// Returns the length of a file, 0 if it does not exist.
async fn size_of(sandbox: &dyn SandboxBackend, path: &str) -> usize {
    let files = sandbox.download_files(vec![path.as_bytes().to_vec()]).await.expect("a transfer");
    files.first().and_then(|file| file.result.as_ref().ok()).map_or(0, Vec::len)
}

/// In a transfer of several files, each succeeds or fails with its own error code.
pub(crate) async fn each_file_has_a_separate_result(provider: &str) {
    let serving = emulator(provider).await;
    let sandbox = create_sandbox(&serving).await;
    let below = |path: &str| format!("{}/{path}", home(provider));
    let files = vec![
        Upload::new(below("new/deep/a"), "1"),
        Upload::new("relative", "2"),
        Upload::new(below("new/deep/a/below"), "3"),
        Upload::new("/tmp", "4"),
        Upload::new(below("b"), "5"),
    ];
    let results = sandbox.upload_files(files).await.expect("a transfer").into_iter();
    let codes: Vec<_> =
        results.map(|file| file.result.err().map(|error| error.code.transfer_code().as_str())).collect();
    assert_eq!(codes, [None, Some("invalid_path"), Some("invalid_path"), Some("is_directory"), None]);
    let paths = [below("new/deep/a"), "/tmp".to_owned(), "/none".to_owned(), below("b")].map(String::into_bytes);
    let files = sandbox.download_files(paths.into()).await.expect("a transfer").into_iter();
    let reported: Vec<_> = files.map(|file| file.result.map_err(|error| error.code.transfer_code().as_str())).collect();
    assert_eq!(reported, [Ok(b"1".to_vec()), Err("is_directory"), Err("file_not_found"), Ok(b"5".to_vec())]);
}
