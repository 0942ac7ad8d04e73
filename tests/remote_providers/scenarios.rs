//! What has to happen alike at every provider, whatever it says on the wire.

use std::time::{Duration, Instant};

use tidebox::{ErrorKind, ExecuteRequest, ListRequest, SandboxBackend, Selector, Upload};

use crate::driver::home;
use crate::proved::Feature;
use crate::{adapter, emulator, fault, made, refuse};

/// A machine may be loaded: what has to come is waited for as long as this.
const PATIENCE: Duration = Duration::from_secs(60);

/// A creation that is refused at this path, with the time of a pause, is made after it, once.
pub(crate) async fn a_pause_that_is_asked_for_is_kept(provider: &str, path: &str) -> [Feature; 1] {
    let serving = emulator(provider).await;
    fault(&serving, path, 1, refuse(429, Some(1)));
    let begun = Instant::now();
    let provider = adapter(provider, serving.options());
    provider.get_or_create(Selector::any_new()).await.expect("it is made after all");
    assert!(begun.elapsed() >= Duration::from_secs(1), "the server's pause was kept");
    assert_eq!(provider.list(ListRequest::default()).await.expect("a list").sandboxes.len(), 1);
    [Feature::Pause]
}

/// A sandbox whose time to live is over is not found, not listed, and may be deleted; who still has it cannot use it.
pub(crate) async fn a_sandbox_whose_time_is_over_is_gone(provider: &str) -> [Feature; 1] {
    let serving = emulator(provider).await;
    let mut options = serving.options();
    options.time_to_live = Duration::from_secs(3);
    let provider = adapter(provider, options);
    let begun = Instant::now();
    let sandbox = provider.get_or_create(Selector::labels([("a", "1")])).await.expect("it is made");
    if serving.provider() == "daytona" {
        // It counts lives in minutes, so this one is shortened behind its back.
        assert!(serving.house().change(sandbox.id().as_str(), |room| room.live(Duration::from_secs(3))));
    }
    while !provider.list(ListRequest::default()).await.expect("a list").sandboxes.is_empty() {
        assert!(begun.elapsed() < PATIENCE, "it is still listed");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert!(begun.elapsed() >= Duration::from_secs(2), "it lived");
    let error = provider.get_or_create(Selector::Id(sandbox.id().clone())).await.expect_err("it is gone");
    assert_eq!(error.kind(), ErrorKind::SandboxNotFound);
    let ran = sandbox.execute(ExecuteRequest::new("true")).await.expect_err("nothing runs there any more");
    assert_eq!(ran.kind(), ErrorKind::SandboxNotFound, "{ran}");
    let stored = sandbox.upload_files(vec![Upload::new("/tmp/file", "x")]).await.expect_err("nor is anything stored");
    assert_eq!(stored.kind(), ErrorKind::SandboxNotFound, "{stored}");
    let fetched = sandbox.download_files(vec![b"/tmp/file".to_vec()]).await.expect_err("nor fetched");
    assert_eq!(fetched.kind(), ErrorKind::SandboxNotFound, "{fetched}");
    provider.delete(sandbox.id()).await.expect("deleting what is gone is no error");
    [Feature::Over]
}

/// Where the script that sets a sandbox up fails, its words are told and no sandbox stays.
pub(crate) async fn a_set_up_that_fails_leaves_nothing(provider: &str) {
    let serving = emulator(provider).await;
    let mut options = serving.options();
    options.setup = Some("echo reason >&2; exit 3".to_owned());
    let provider = adapter(provider, options);
    let error = provider.get_or_create(Selector::any_new()).await.expect_err("the script failed");
    assert!(error.message().contains("reason"), "{error}");
    assert!(provider.list(ListRequest::default()).await.expect("a list").sandboxes.is_empty());
}

/// A command whose future is dropped ends in the sandbox.
pub(crate) async fn a_command_that_nobody_waits_for_is_killed(provider: &str) -> [Feature; 1] {
    let serving = emulator(provider).await;
    let sandbox = made(&serving).await;
    let size = || size_of(&*sandbox, "/tmp/grows");
    let begun = async {
        while size().await == 0 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    let endless = sandbox.execute(ExecuteRequest::new("while :; do echo x >> /tmp/grows; sleep 0.05; done"));
    tokio::select! {
        ended = endless => panic!("it ended by itself: {ended:?}"),
        begun = tokio::time::timeout(PATIENCE, begun) => begun.expect("it begins"),
    }
    let (dropped, mut before, mut still) = (Instant::now(), 0, 0);
    while still < 3 {
        assert!(dropped.elapsed() < PATIENCE, "it still writes");
        tokio::time::sleep(Duration::from_millis(500)).await;
        let now = size().await;
        still = if now == before { still + 1 } else { 0 };
        before = now;
    }
    [Feature::Stop]
}

/// The length of a file, 0 where it is not there.
async fn size_of(sandbox: &dyn SandboxBackend, path: &str) -> usize {
    let files = sandbox.download_files(vec![path.as_bytes().to_vec()]).await.expect("a transfer");
    files.first().and_then(|file| file.result.as_ref().ok()).map_or(0, Vec::len)
}

/// Of several files in one transfer each is done, or refused with the code of its own reason.
pub(crate) async fn each_file_has_its_own_result(provider: &str) {
    let serving = emulator(provider).await;
    let sandbox = made(&serving).await;
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
    let told: Vec<_> = files.map(|file| file.result.map_err(|error| error.code.transfer_code().as_str())).collect();
    assert_eq!(told, [Ok(b"1".to_vec()), Err("is_directory"), Err("file_not_found"), Ok(b"5".to_vec())]);
}
