//! What bounds other programs bounds this one.

use std::time::Duration;

use tidebox::{ExecuteRequest, Limits, SandboxBackend};

use super::{ready, run};

#[tokio::test]
async fn too_much_memory_is_an_exception_that_can_be_caught() {
    if !ready() {
        return;
    }
    let mut limits = Limits::default();
    limits.process_memory_bytes = 400 << 20;
    let sandbox = tidebox::sandbox().expect("the engine starts").limits(limits).build().expect("the sandbox is made");
    let caught = "try: x = bytearray(10**9)\nexcept MemoryError: print(\"no\")";
    let response = run(&sandbox, &format!("python3 -c '{caught}'")).await;
    assert_eq!((response.stdout.as_slice(), response.exit_code), (b"no\n".as_slice(), Some(0)));
}

#[tokio::test]
async fn a_loop_without_end_is_stopped() {
    if !ready() {
        return;
    }
    let sandbox = tidebox::sandbox().expect("the engine starts").build().expect("the sandbox is made");
    let mut request = ExecuteRequest::new("python3 -c 'while True: pass'");
    request.timeout = Some(Duration::from_secs(2));
    let response = sandbox.execute(request).await.expect("the command runs");
    assert_eq!(response.exit_code, Some(124));
}

#[tokio::test]
async fn recursion_without_end_is_an_exception() {
    if !ready() {
        return;
    }
    let sandbox = tidebox::sandbox().expect("the engine starts").build().expect("the sandbox is made");
    let response = run(&sandbox, "python3 -c 'def f(): f()\nf()' 2>&1 | tail -1").await;
    let said = String::from_utf8_lossy(&response.stdout).into_owned();
    assert!(said.starts_with("RecursionError: maximum recursion depth exceeded"), "{said}");
}

#[tokio::test]
async fn memory_that_nobody_catches_ends_the_program_and_nothing_else() {
    if !ready() {
        return;
    }
    let mut limits = Limits::default();
    limits.process_memory_bytes = 300 << 20;
    let sandbox = tidebox::sandbox().expect("the engine starts").limits(limits).build().expect("the sandbox is made");
    let program = "x = []\nwhile True: x.append(bytearray(1 << 20))";
    let response = run(&sandbox, &format!("python3 -c '{program}'; echo $?; echo after")).await;
    let (out, err) = (response.stdout_text().into_owned(), String::from_utf8_lossy(&response.stderr).into_owned());
    assert_eq!(out, "1\nafter\n", "{err}");
    assert!(err.ends_with("MemoryError\n"), "{err}");
}

#[tokio::test]
async fn output_is_cut_where_the_limit_is_and_files_are_refused_there() {
    if !ready() {
        return;
    }
    let mut limits = Limits::default();
    limits.output_bytes = 1000;
    limits.file_bytes = 8 << 20;
    let sandbox = tidebox::sandbox().expect("the engine starts").limits(limits).build().expect("the sandbox is made");
    let response = run(&sandbox, "python3 -c 'print(\"x\" * 10 ** 6)'").await;
    assert!(response.truncated && response.stdout.len() == 1000);
    let write = "try: open(\"big\", \"wb\").write(bytes(64 << 20))\nexcept OSError as error: print(error.strerror)";
    let response = run(&sandbox, &format!("python3 -c '{write}'")).await;
    assert_eq!(response.stdout_text(), "No space left on device\n");
}

#[tokio::test]
async fn threads_and_sockets_are_refused_in_words() {
    if !ready() {
        return;
    }
    let sandbox = tidebox::sandbox().expect("the engine starts").build().expect("the sandbox is made");
    let thread = "import threading\ntry: threading.Thread(target=print).start()\nexcept RuntimeError as e: print(e)";
    let socket = "import socket\ntry: socket.create_connection((\"example.com\", 80))\nexcept OSError as e: print(e)";
    let response = run(&sandbox, &format!("python3 -c '{thread}'; python3 -c '{socket}'")).await;
    let said = response.stdout_text().into_owned();
    assert!(
        said.starts_with("can't start new thread\n") && said.contains("there are no sockets in this sandbox"),
        "{said}"
    );
}

#[tokio::test]
async fn much_output_passes_a_pipe_within_little_memory() {
    if !ready() {
        return;
    }
    let mut limits = Limits::default();
    limits.process_memory_bytes = 200 << 20;
    limits.sandbox_memory_bytes = 500 << 20;
    let sandbox = tidebox::sandbox().expect("the engine starts").limits(limits).build().expect("the sandbox is made");
    let source = "import sys\nfor i in range(200): sys.stdout.write(\"y\" * (1 << 20))";
    let sink = "import sys\nprint(sum(len(block) for block in iter(lambda: sys.stdin.buffer.read(1 << 16), b\"\")))";
    let response = run(&sandbox, &format!("python3 -c '{source}' | python3 -c '{sink}'")).await;
    assert_eq!(response.stdout_text(), "209715200\n", "{}", String::from_utf8_lossy(&response.stderr));
}
