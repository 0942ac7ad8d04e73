//! Sessions that are saved and continue in another sandbox.

use std::time::Instant;

use tidebox::{
    ErrorKind, ExecuteRequest, Limits, PythonExt, PythonSession, Runtime, RuntimeConfig, Sandbox, SandboxBackend,
    SavedPythonSession,
};

use super::sandbox;

/// Runs code and returns the value of its last expression.
async fn value(session: &mut PythonSession<&Sandbox>, code: &str) -> String {
    let response = session.run(code).await.expect("the interpreter exists");
    assert_eq!(response.error, None, "{code}");
    response.value.unwrap_or_default()
}

const STATE: &str = "
import json, random, os, itertools
from dataclasses import dataclass
@dataclass
class Point:
    x: int
    y: int
point = Point(1, 2)
numbers = itertools.count(5)
def squares():
    for n in numbers:
        yield n * n
generator = squares(); next(generator)
notes = open('notes', 'w+'); notes.write('first'); notes.flush()
random.seed(1)
os.makedirs('below'); os.chdir('below'); os.umask(0o077)
";

#[tokio::test]
async fn a_python_session_continues_in_another_process() {
    let Some(first) = sandbox() else { return };
    let mut session = first.python_session().expect("python is installed");
    value(&mut session, STATE).await;
    let saved = session.save().await.expect("it can be saved").to_bytes();
    let files = first.snapshot().expect("it has a snapshot").to_bytes();
    assert!(saved.len() < 8 << 20, "{} bytes", saved.len());
    let drawn = value(&mut session, "random.random()").await;
    drop(session);
    drop(first);

    // Another runtime, as in another process: only the bytes and the pack are common.
    let runtime = Runtime::new(RuntimeConfig::default()).expect("the engine starts");
    let second = runtime.sandbox().snapshot_bytes(&files).expect("it is a snapshot").build().expect("it can be built");
    let saved = SavedPythonSession::from_bytes(&saved, &Limits::default()).expect("it is a saved session");
    let mut session = second.resume_python_session(&saved).await.expect("it continues");
    for (code, expected) in [
        ("point", "Point(x=1, y=2)"),
        ("next(generator)", "36"),
        ("notes.write(' second'); notes.seek(0); notes.read()", "'first second'"),
        ("os.getcwd()", "'/workspace/below'"),
        ("os.stat(os.open('made', os.O_CREAT | os.O_WRONLY)).st_mode & 0o777", "448"),
        ("json.dumps([1])", "'[1]'"),
        ("import pathlib; pathlib.Path('../notes').read_text()", "'first second'"),
    ] {
        assert_eq!(value(&mut session, code).await, expected, "{code}");
    }
    assert_ne!(value(&mut session, "random.random()").await, drawn);
}

#[tokio::test]
async fn forks_of_a_session_continue_independently() {
    let Some(origin) = sandbox() else { return };
    let mut session = origin.python_session().expect("python is installed");
    value(&mut session, "x = 1; log = open('log', 'w'); log.write('a'); log.flush()").await;
    let saved = session.save().await.expect("it can be saved");
    let (left, right) = (origin.fork().expect("it can be forked"), origin.fork().expect("it can be forked"));
    let mut left_session = left.resume_python_session(&saved).await.expect("it continues");
    let mut right_session = right.resume_python_session(&saved).await.expect("it continues");
    value(&mut left_session, "x = 2; log.write('left'); log.flush()").await;
    value(&mut right_session, "log.write('right'); log.flush()").await;
    value(&mut session, "x += 10; log.write('origin'); log.flush()").await;
    assert_eq!(value(&mut left_session, "x, open('log').read()").await, "(2, 'aleft')");
    assert_eq!(value(&mut right_session, "x, open('log').read()").await, "(1, 'aright')");
    assert_eq!(value(&mut session, "x, open('log').read()").await, "(11, 'aorigin')");
    let draws = ["import random, uuid; random.random()", "str(uuid.uuid4())"];
    for draw in draws {
        assert_ne!(value(&mut left_session, draw).await, value(&mut right_session, draw).await, "{draw}");
    }
}

#[tokio::test]
async fn what_cannot_be_saved_is_named_and_the_session_continues() {
    let Some(sandbox) = sandbox() else { return };
    for (code, reason, mend) in [
        ("import os; ends = os.pipe()", "a pipe; close it", "[os.close(end) for end in ends]"),
        ("import socket; server = socket.create_server(('localhost', 0))", "a socket; close it", "server.close()"),
        ("gone = open('gone', 'w'); os.remove('gone')", "a file that was deleted", "gone.close()"),
        (
            "import subprocess; child = subprocess.Popen(['sleep', '5'])",
            "child processes",
            "child.kill(); child.wait()",
        ),
        ("os.mkdir('d'); os.chdir('d'); os.rmdir('../d')", "working directory was removed", "os.chdir('/')"),
    ] {
        let mut session = sandbox.python_session().expect("python is installed");
        value(&mut session, &format!("import os\n{code}\nkept = 1")).await;
        let error = session.save().await.expect_err("it cannot be saved");
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{code}");
        assert!(error.message().contains(reason), "{code}: {error}");
        assert_eq!(value(&mut session, "kept").await, "1", "{code}");
        value(&mut session, mend).await;
        session.save().await.unwrap_or_else(|error| panic!("{code}: {error}"));
    }
}

#[tokio::test]
async fn a_session_is_not_resumed_without_its_files() {
    let Some(first) = sandbox() else { return };
    let mut session = first.python_session().expect("python is installed");
    value(&mut session, "notes = open('notes', 'w')").await;
    let saved = session.save().await.expect("it can be saved");
    let Some(other) = sandbox() else { return };
    let error = other.resume_python_session(&saved).await.expect_err("a file is missing");
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert!(error.message().contains("/workspace/notes"), "{error}");
    assert_eq!(
        other.execute(ExecuteRequest::new("ls; ps -e | grep -c python3 || true")).await.expect("it runs").output_text(),
        "0\n"
    );
}

#[tokio::test]
async fn a_new_and_an_ended_session_can_and_cannot_be_saved() {
    let Some(sandbox) = sandbox() else { return };
    let mut session = sandbox.python_session().expect("python is installed");
    let saved = session.save().await.expect("a session that has run nothing can be saved");
    let mut resumed = sandbox.resume_python_session(&saved).await.expect("it continues");
    assert_eq!(value(&mut resumed, "1 + 1").await, "2");
    session.run("exit()").await.expect("the interpreter exists");
    assert_eq!(session.save().await.expect_err("it has exited").kind(), ErrorKind::InvalidRequest);
}

/// A forged session is a program like any other: whatever its memory holds, the host and other sandboxes are unaffected.
#[tokio::test]
async fn a_forged_session_is_only_a_strange_program() {
    let Some(sandbox) = sandbox() else { return };
    let mut session = sandbox.python_session().expect("python is installed");
    value(&mut session, "x = list(range(1000))").await;
    let bytes = session.save().await.expect("it can be saved").to_bytes();
    let started = Instant::now();
    let (mut refused, mut resumed) = (0, 0);
    for round in 0..40u64 {
        let forged = forge(&bytes, round);
        let Ok(saved) = SavedPythonSession::from_bytes(&forged, &Limits::default()) else {
            refused += 1;
            continue;
        };
        let Ok(mut session) = sandbox.resume_python_session(&saved).await else { continue };
        resumed += 1;
        let timeout = Some(std::time::Duration::from_secs(2));
        session.run_with("sum(x)", timeout, None).await.expect("the host is unaffected");
    }
    assert!(resumed > 0, "{refused} of 40 were refused in {:?}", started.elapsed());
    assert_eq!(value(&mut session, "sum(x)").await, "499500");
}

/// Changes bytes of the stored pages and writes a valid digest.
fn forge(bytes: &[u8], round: u64) -> Vec<u8> {
    use sha2::{Digest, Sha256};

    let mut forged = bytes[..bytes.len() - 32].to_vec();
    let mut state = round.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for _ in 0..=round {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let at = 60 + (state as usize) % (forged.len() - 60);
        forged[at] ^= (state >> 32) as u8;
    }
    let digest = Sha256::digest(&forged);
    forged.extend_from_slice(&digest);
    forged
}
