//! A live sandbox is recorded over a long session that uses every method; the cassette must replay the same results.

use std::fs;
use std::sync::Arc;

use tidebox::layer::{RecordMode, Redaction};
use tidebox::{
    CassetteFile, EditRequest, Error, ErrorKind, ExecuteRequest, GlobRequest, GrepRequest, OutputChunk, ReadRequest,
    Result, SandboxBackend, SandboxPath, Upload, WriteRequest,
};

fn path(bytes: impl AsRef<[u8]>) -> SandboxPath {
    SandboxPath::parse(bytes).expect("the test's paths are absolute")
}

async fn new_sandbox() -> Result<Arc<dyn SandboxBackend>> {
    Ok(Arc::new(tidebox::sandbox()?.build()?))
}

async fn no_live() -> Result<Arc<dyn SandboxBackend>> {
    Err(Error::new(ErrorKind::Unavailable, "connect", "a replay must not need a live sandbox"))
}

/// Runs a typical agent session and returns all results.
async fn session(sandbox: &dyn SandboxBackend) -> Vec<String> {
    let mut seen = Vec::new();
    let mut see = |what: &dyn std::fmt::Debug| seen.push(format!("{what:?}"));
    see(sandbox.id());
    let odd = b"/workspace/caf\xe9 \xff's\n.bin";
    see(&sandbox
        .upload_files(vec![
            Upload::new("/workspace/notes.md", "# Plan\nread\nwrite\n"),
            Upload::new(odd.as_slice(), b"\x00\x01\xff\xfe".repeat(64)),
            Upload::new("/no/\0/such", "x"),
        ])
        .await);
    see(&sandbox.ls(&path("/workspace")).await);
    see(&sandbox.read(ReadRequest::new(path(odd))).await);
    see(&sandbox.read(ReadRequest::new(path("/workspace/notes.md")).with_offset(1).with_limit(1)).await);
    see(&sandbox.read(ReadRequest::new(path("/workspace/none"))).await);
    see(&sandbox.write(WriteRequest::new(path("/workspace/a/b/c.txt"), "one\ntwo\nthree\n")).await);
    see(&sandbox.edit(EditRequest::new(path("/workspace/a/b/c.txt"), "two", "2")).await);
    see(&sandbox.edit(EditRequest::new(path("/workspace/a/b/c.txt"), "two", "2")).await);
    see(&sandbox.grep(GrepRequest::new("e", path("/workspace")).with_glob("*.txt").with_max_count(1)).await);
    see(&sandbox.glob(GlobRequest::new("**/*", path("/workspace"))).await);
    for command in [
        "cat notes.md; wc -l < a/b/c.txt >&2; exit 3",
        "head -c 300 /dev/urandom | base64 -w 0; date +%s%N",
        "printf '\\xff\\xfe\\n'; printf 'mixed' >&2; printf '\\0'",
        "while :; do :; done",
    ] {
        let mut events = Vec::new();
        let request = ExecuteRequest::new(command).with_timeout(std::time::Duration::from_secs(2));
        see(&sandbox.execute_streaming(request.clone(), &mut |event: OutputChunk| events.push(event)).await);
        see(&events);
        see(&sandbox.execute(request.with_stdin("in\n").with_env("A", "b").with_cwd(path("/tmp"))).await);
    }
    let (one, two) = tokio::join!(
        sandbox.execute(ExecuteRequest::new("for i in 1 2 3; do echo one $i; done")),
        sandbox.execute(ExecuteRequest::new("for i in 1 2 3; do echo two $i; done")),
    );
    see(&(one, two));
    see(&sandbox.download_files(vec![odd.to_vec(), b"/workspace/none".to_vec(), b"/workspace".to_vec()]).await);
    see(&sandbox.delete(&path("/workspace/a")).await);
    see(&sandbox.delete(&path("/workspace/a")).await);
    see(&sandbox.execute(ExecuteRequest::new("true").with_env("", "x")).await);
    see(&sandbox.close().await);
    see(&sandbox.ls(&path("/workspace")).await);
    seen
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_returns_the_recorded_results_without_waiting() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("new/folder/session.json");
    let recording = CassetteFile::open(&file, RecordMode::Missing).unwrap();
    let started = std::time::Instant::now();
    let lived = session(&*recording.backend(new_sandbox).await.unwrap()).await;
    let lived_for = started.elapsed();
    assert!(recording.save().unwrap());
    assert!(!fs::read_to_string(&file).unwrap().contains("\\ufffd"), "bytes are kept as bytes");

    let replay = CassetteFile::open(&file, RecordMode::Never).unwrap();
    let sandbox = replay.backend(no_live).await.unwrap();
    let started = std::time::Instant::now();
    let replayed = session(&*sandbox).await;
    assert!(started.elapsed() < lived_for / 2, "the endless loops took four seconds of {lived_for:?}");
    for (replayed, lived) in replayed.iter().zip(&lived) {
        assert_eq!(replayed, lived);
    }
    assert_eq!(replayed.len(), lived.len());
    assert_eq!(replay.unused(), [""; 0]);
    assert!(!replay.save().unwrap(), "a replay changes nothing");
}

#[tokio::test]
async fn a_new_request_is_recorded_after_catching_up() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("session.json");
    let run = async |commands: &[&str]| {
        let opened = CassetteFile::open(&file, RecordMode::Missing).unwrap().redaction(Redaction::new());
        let sandbox = opened.backend(new_sandbox).await.unwrap();
        let mut output = String::new();
        for command in commands {
            output += &sandbox.execute(ExecuteRequest::new(*command)).await.unwrap().output_text();
        }
        (output, opened.save().unwrap())
    };
    assert_eq!(run(&["echo 1 > n", "cat n"]).await, ("1\n".to_owned(), true));
    let before = fs::read(&file).unwrap();
    assert_eq!(run(&["echo 1 > n", "cat n"]).await, ("1\n".to_owned(), false));
    assert_eq!(fs::read(&file).unwrap(), before);
    assert_eq!(run(&["echo 1 > n", "cat n", "cat n n"]).await, ("1\n1\n1\n".to_owned(), true));
    assert!(!run(&["echo 1 > n", "cat n", "cat n n"]).await.1);
}

#[tokio::test]
async fn missing_or_damaged_files_are_named() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let file = dir.path().join("none.json");
    let missing = CassetteFile::open(&file, RecordMode::Never).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::Storage);
    assert!(missing.message().contains("none.json") && missing.message().contains("record it first"), "{missing}");
    fs::write(&file, "{\n\"tidebox_cassette\": 1,\n\"interactions\": [}").unwrap();
    for mode in [RecordMode::Never, RecordMode::Missing] {
        let damaged = CassetteFile::open(&file, mode).unwrap_err();
        assert_eq!(damaged.kind(), ErrorKind::InvalidRequest);
        assert!(damaged.to_string().contains("line=3, file="), "{damaged}");
    }
    assert!(CassetteFile::open(&file, RecordMode::Always).is_ok());
}
