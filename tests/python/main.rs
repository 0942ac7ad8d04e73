//! `python3` in the sandbox: typical use of the pack by people and agents.
//!
//! `cargo xtask test` adds the pack. Without it these tests fail in CI, and elsewhere print how to add it.

mod command;
mod data;
mod libraries;
mod limits;
mod network;
mod numbers;
mod packages;
mod processes;
mod programs;
mod pytest;
mod saved_session;
#[path = "../network/server.rs"]
mod server;
mod session;
mod slim;
mod sockets;
mod threads;

use tidebox::{ExecuteRequest, ExecuteResponse, Packs, Sandbox, SandboxBackend};

/// Creates a sandbox with Python, or returns the reason why it is not available.
fn sandbox() -> Option<Sandbox> {
    let builder = tidebox::sandbox().expect("the engine starts");
    ready().then(|| builder.build().expect("the sandbox is built"))
}

fn ready() -> bool {
    let ready = Packs::user().ready().iter().any(|pack| pack.name() == "python");
    let why = "the pack python is not here; add it with `tidebox pack add python`, which needs pip and its index";
    assert!(ready || std::env::var_os("CI").is_none(), "{why}");
    if !ready {
        eprintln!("skipped: {why}");
    }
    ready
}

async fn run(sandbox: &Sandbox, command: &str) -> ExecuteResponse {
    sandbox.execute(ExecuteRequest::new(command)).await.expect("the command runs")
}

/// Runs a command and checks that it succeeds with this output and an empty standard error.
async fn prints(sandbox: &Sandbox, command: &str, expected: &str) {
    let response = run(sandbox, command).await;
    let (out, err) = (String::from_utf8_lossy(&response.stdout), String::from_utf8_lossy(&response.stderr));
    assert_eq!((out.as_ref(), err.as_ref(), response.exit_code), (expected, "", Some(0)), "{command}");
}

/// Runs a command and checks that it fails with this code and prints this to standard error.
async fn fails(sandbox: &Sandbox, command: &str, code: i32, text: &str) {
    let response = run(sandbox, command).await;
    let err = String::from_utf8_lossy(&response.stderr);
    assert_eq!(response.exit_code, Some(code), "{command}: {err}");
    assert!(err.contains(text), "{command} said: {err}");
}
