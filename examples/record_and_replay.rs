//! Records a sandbox once and replays it without one.

use std::sync::Arc;

use tidebox::layer::{RecordMode, Redaction};
use tidebox::{CassetteFile, Error, ErrorKind, ExecuteRequest, SandboxBackend, SandboxPath, Secret, WriteRequest};

/// The program under test.
async fn build(sandbox: &dyn SandboxBackend) -> Result<String, Error> {
    let script = SandboxPath::parse("/workspace/build.sh")?;
    sandbox.write(WriteRequest::new(script, "echo \"built with $TOKEN\"")).await??;
    let request = ExecuteRequest::new("bash build.sh").with_env("TOKEN", "t0p-secret");
    Ok(sandbox.execute(request).await?.stdout_text().into_owned())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let dir = tempfile::tempdir().expect("a temporary directory can be created");
    let path = dir.path().join("build.json");
    let redaction = Redaction::new().secret("TOKEN", Secret::new("t0p-secret"));

    // The first run has no recording, so it creates a live sandbox. Any backend or provider works.
    let file = CassetteFile::open(&path, RecordMode::Missing)?.redaction(redaction.clone());
    let live = || async { Ok(Arc::new(tidebox::sandbox()?.build()?) as Arc<dyn SandboxBackend>) };
    let sandbox = file.backend(live).await?;
    assert_eq!(build(&*sandbox).await?, "built with t0p-secret\n");
    assert!(file.save()?);
    let text = std::fs::read_to_string(&path).expect("the cassette was saved");
    assert!(!text.contains("t0p-secret") && text.contains("built with [redacted:TOKEN]"));

    // Later runs replay the cassette, without a sandbox and without network.
    let file = CassetteFile::open(&path, RecordMode::Never)?.redaction(redaction);
    let none = || async { Err(Error::new(ErrorKind::Unavailable, "connect", "the cassette is only replayed")) };
    let sandbox = file.backend(none).await?;
    assert_eq!(build(&*sandbox).await?, "built with [redacted:TOKEN]\n");
    assert!(file.unused().is_empty());

    // An unrecorded request fails and reports the closest recorded one.
    let error = sandbox.execute(ExecuteRequest::new("bash build.sh --fast")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotRecorded);
    assert!(
        error.message().contains(r#"command: requested "bash build.sh --fast", recorded "bash build.sh""#),
        "{error}"
    );
    Ok(())
}
