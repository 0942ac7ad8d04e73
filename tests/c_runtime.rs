//! Runs the tests of the runtime for programs in C, which `cargo xtask pack c-runtime` compiles.

use std::sync::Arc;
use std::time::Duration;

use tidebox::{
    ExecuteRequest, OutputCursor, Process, ProcessState, ReadOutput, Sandbox, SandboxBackend, SpawnRequest,
    TerminalSize,
};

/// Returns a sandbox with one program, or prints that it is missing.
fn sandbox(name: &str) -> Option<Sandbox> {
    let program = std::env::current_exe().expect("the test has a path");
    let target = program.ancestors().nth(3).expect("the test is in target/debug/deps");
    let Ok(wasm) = std::fs::read(target.join(format!("c-runtime/{name}.wasm"))) else {
        eprintln!("skipped: {name}.wasm is missing; run `cargo xtask pack c-runtime`");
        return None;
    };
    Some(tidebox::sandbox().expect("the engine starts").tool(name, wasm).build().expect("the sandbox is built"))
}

/// Runs one program, which checks itself and prints the checks that fail.
async fn run(name: &str, command: &str) {
    let Some(sandbox) = sandbox(name) else { return };
    let response = sandbox.execute(ExecuteRequest::new(command)).await.expect("the command completes");
    assert_eq!((response.exit_code, response.output_text().as_ref()), (Some(0), "0 failed\n"));
}

#[tokio::test]
async fn processes_pipes_and_signals_work_in_c() {
    run("processes", "processes").await;
}

#[tokio::test]
async fn modes_links_and_directories_work_in_c() {
    run("files", "files").await;
}

#[tokio::test]
async fn terminal_calls_in_c_fail_without_a_terminal() {
    run("terminal", "terminal none").await;
}

#[tokio::test]
async fn settings_and_size_of_a_terminal_work_in_c() {
    let Some(sandbox) = sandbox("terminal") else { return };
    let backend: Arc<dyn SandboxBackend> = Arc::new(sandbox);
    let wait = Duration::from_secs(90);
    let request = SpawnRequest::new("exec terminal").with_terminal(TerminalSize::new(30, 100)).with_timeout(wait);
    let process = Process::spawn(backend, request).await.expect("the process starts");
    let (mut output, mut after) = (String::new(), OutputCursor::START);
    let exit_code = loop {
        let page = process.read(ReadOutput::after(after).with_wait(wait)).await.expect("it is known");
        after = page.next;
        output.push_str(&String::from_utf8_lossy(&page.bytes()));
        if let ProcessState::Ended { exit_code, .. } = page.state
            && page.chunks.is_empty()
        {
            break exit_code;
        }
    };
    assert_eq!((exit_code, &*output), (Some(0), "0 failed\r\n"));
}
