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
