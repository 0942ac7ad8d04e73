//! Interpreter sessions that keep their variables.

use std::time::Duration;

use tidebox::{ErrorKind, ExecuteRequest, Limits, PythonExt, PythonResponse, PythonSession, Sandbox, SandboxBackend};
use tidebox::{OutputChunk, OutputStream, StopReason};

use super::{prints, ready, sandbox};

type Session<'a> = PythonSession<&'a Sandbox>;

async fn run(session: &mut Session<'_>, code: &str) -> PythonResponse {
    session.run(code).await.expect("the interpreter exists")
}

/// Runs code and checks that its last expression has this value and that it prints nothing.
async fn gives(session: &mut Session<'_>, code: &str, value: &str) {
    let response = run(session, code).await;
    assert_eq!(response.output.exit_code, None, "{code}: {}", response.output.output_text());
    assert_eq!((response.value.as_deref(), response.error.as_ref()), (Some(value), None), "{code}");
    assert_eq!(response.output.output_text(), "", "{code}");
}

#[tokio::test]
async fn state_persists_and_the_last_value_is_returned() {
    let Some(sandbox) = sandbox() else { return };
    let mut session = sandbox.python_session().expect("python is installed");
    for (code, value) in [
        ("x = 20\nx + 1", "21"),
        ("import json as j; j.dumps([x])", "'[20]'"),
        ("_ * 2", "'[20][20]'"),
        ("def f():\n    return x\nf()", "20"),
        ("file = open('notes', 'w'); file.write('abc')", "3"),
        ("file.write('def'); file.close(); open('notes').read()", "'abcdef'"),
        ("import sqlite3; c = sqlite3.connect('db'); c.execute('create table t (a)').rowcount", "-1"),
        ("c.execute('insert into t values (5)'); c.execute('select a from t').fetchone()", "(5,)"),
        ("import asyncio\nasync def g():\n    await asyncio.sleep(0)\n    return 7\nawait g()", "7"),
        ("__name__, type(f).__module__", "('__main__', 'builtins')"),
    ] {
        gives(&mut session, code, value).await;
    }
    for code in ["y = 1", "x;", "None", ""] {
        assert_eq!(run(&mut session, code).await.value, None, "{code}");
    }
    prints(&sandbox, "cat notes; echo more >> notes", "abcdef").await;
    gives(&mut session, "open('notes').read()", "'abcdefmore\\n'").await;
}

#[tokio::test]
async fn output_of_code_and_programs_arrives_by_stream() {
    let Some(sandbox) = sandbox() else { return };
    let mut session = sandbox.python_session().expect("python is installed");
    let code = "import subprocess, sys\nprint('one', flush=True)\nprint('two', file=sys.stderr)\nsubprocess.run(['echo', 'three'])\ninput()";
    let mut seen = Vec::new();
    let mut sink = |event: OutputChunk| seen.push((event.stream, String::from_utf8_lossy(&event.bytes).into_owned()));
    let response = session.run_with(code, None, Some(&mut sink)).await.expect("the interpreter exists");
    assert_eq!(response.output.stdout_text(), "one\nthree\n");
    assert!(response.output.stderr_text().starts_with("two\nTraceback"), "{}", response.output.stderr_text());
    assert_eq!(response.error.map(|error| error.name).as_deref(), Some("EOFError"), "there is nothing to read");
    assert_eq!(seen.first(), Some(&(OutputStream::Stdout, "one\n".to_owned())));
}

#[tokio::test]
async fn an_exception_is_reported_and_keeps_the_state() {
    let Some(sandbox) = sandbox() else { return };
    let mut session = sandbox.python_session().expect("python is installed");
    run(&mut session, "kept = 1").await;
    let response = run(&mut session, "def f():\n    return 1 / 0\n\nkept = 2\nf()").await;
    let error = response.error.expect("it fails");
    assert_eq!((error.name.as_str(), error.message.as_str()), ("ZeroDivisionError", "division by zero"));
    let lines = "Traceback (most recent call last):\n  File \"<cell 2>\", line 5, in <module>\n    f()\n";
    assert!(error.traceback.starts_with(lines) && !error.traceback.contains("_tidebox"), "{}", error.traceback);
    assert_eq!(response.output.stderr_text(), error.traceback);
    let wrong = run(&mut session, "kept = (").await.error.expect("it cannot be read");
    assert_eq!(wrong.name, "SyntaxError");
    gives(&mut session, "kept", "2").await;
}

#[tokio::test]
async fn the_deadline_ends_only_the_interpreter() {
    let Some(sandbox) = sandbox() else { return };
    let mut session = sandbox.python_session().expect("python is installed");
    let mut other = sandbox.python_session().expect("python is installed");
    run(&mut other, "kept = 5").await;
    let code = "open('before', 'w').write('x')\nwhile True: pass";
    let response = session.run_with(code, Some(Duration::from_secs(3)), None).await.expect("the interpreter exists");
    assert_eq!((response.output.stopped_by, response.output.exit_code), (Some(StopReason::Timeout), Some(124)));
    assert!(response.output.stderr_text().contains("it ran for 3s"), "{}", response.output.stderr_text());
    assert!(session.has_exited());
    let error = session.run("1").await.expect_err("it has ended");
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert!(error.message().contains("start another session"), "{error}");
    prints(&sandbox, "cat before", "x").await;
    gives(&mut other, "kept", "5").await;
    let code = "import time; time.sleep(0.1); 'time is counted for each'";
    gives(&mut other, code, "'time is counted for each'").await;
}

#[tokio::test]
async fn dropping_a_call_ends_the_interpreter() {
    let Some(sandbox) = sandbox() else { return };
    let mut session = sandbox.python_session().expect("python is installed");
    run(&mut session, "x = 1").await;
    tokio::select! {
        biased;
        _ = session.run("while True: pass") => panic!("it never ends"),
        () = tokio::time::sleep(Duration::from_millis(50)) => {}
    }
    assert!(session.has_exited());
    drop(session);
    prints(&sandbox, "ps -e | grep -c python3 || true", "0\n").await;
}

#[tokio::test]
async fn an_exit_ends_the_interpreter_with_its_code() {
    let Some(sandbox) = sandbox() else { return };
    let mut session = sandbox.python_session().expect("python is installed");
    let response = run(&mut session, "import atexit; atexit.register(print, 'bye'); exit(3)").await;
    assert_eq!((response.output.exit_code, response.output.stdout_text().as_ref()), (Some(3), "bye\n"));
    assert!(session.has_exited() && response.output.stopped_by.is_none());
}

#[tokio::test]
async fn memory_and_output_limits_apply_to_each_call() {
    if !ready() {
        return;
    }
    let mut limits = Limits::default();
    limits.process_memory_bytes = 400 << 20;
    limits.output_bytes = 1000;
    let sandbox = tidebox::sandbox().expect("the engine starts").limits(limits).build().expect("the sandbox is built");
    let mut session = sandbox.python_session().expect("python is installed");
    for _ in 0..2 {
        let response = run(&mut session, "print('x' * 5000)").await;
        assert!(response.output.truncated && response.output.stdout.len() == 1000);
    }
    assert!(!run(&mut session, "print('x')").await.output.truncated);
    let response = run(&mut session, "b = bytearray(10**9)").await;
    assert_eq!(response.error.map(|error| error.name).as_deref(), Some("MemoryError"));
    let response = run(&mut session, "'y' * 2000").await;
    let text = "the value is longer than the output that the sandbox allows";
    assert_eq!((response.value, response.error.map(|error| error.message).as_deref()), (None, Some(text)));
    gives(&mut session, "1", "1").await;
}

#[tokio::test]
async fn drawn_figures_are_returned_as_images() {
    let Some(sandbox) = sandbox() else { return };
    let mut session = sandbox.python_session().expect("python is installed");
    run(&mut session, "import matplotlib.pyplot as plt").await;
    let shown = run(&mut session, "plt.plot([1, 4, 9]); plt.show()\nplt.figure(figsize=(2, 1));").await;
    assert_eq!(shown.figures, ["/tmp/figures/figure-1.png", "/tmp/figures/figure-2.png"]);
    assert_eq!(shown.output.output_text(), "");
    let paths = shown.figures.iter().map(|path| path.clone().into_bytes()).collect();
    let pictures = sandbox.download_files(paths).await.expect("the sandbox exists");
    let sizes: Vec<(u32, u32)> = pictures
        .into_iter()
        .map(|picture| {
            let png = picture.result.expect("the picture exists");
            assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"), "it is a picture");
            let size = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().expect("four bytes"));
            (size(16), size(20))
        })
        .collect();
    assert_eq!(sizes, [(640, 480), (200, 100)]);
    assert!(run(&mut session, "1").await.figures.is_empty());
}

#[tokio::test]
async fn a_sandbox_without_python_reports_how_to_add_it() {
    let mut config = tidebox::RuntimeConfig::default();
    config.packs = Vec::new();
    let runtime = tidebox::Runtime::new(config).expect("the engine starts");
    let sandbox = runtime.sandbox().build().expect("the sandbox is built");
    let error = sandbox.python_session().expect_err("Python is not installed");
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert!(error.message().contains("tidebox pack add python"), "{error}");
}

#[tokio::test]
async fn closing_the_sandbox_ends_its_sessions() {
    let Some(sandbox) = sandbox() else { return };
    let mut session = sandbox.python_session().expect("python is installed");
    run(&mut session, "x = 1").await;
    sandbox.close().await.expect("it closes");
    let response = run(&mut session, "x").await;
    assert_eq!((response.value, response.output.stopped_by), (None, Some(StopReason::Cancelled)));
    assert!(session.has_exited());
    assert!(sandbox.execute(ExecuteRequest::new("true")).await.is_err());
}
