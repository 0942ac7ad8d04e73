//! `python3` in the sandbox: the pack as people and agents use it.
//!
//! The pack is added by `cargo xtask test`. Where it is not, these tests fail on a machine of CI and say what to do on
//! others.

mod command;
mod data;
mod limits;
mod numbers;
mod packages;
mod processes;
mod programs;
mod pytest;
mod session;

use tidebox::{ExecuteRequest, ExecuteResponse, Packs, Sandbox, SandboxBackend};

/// A sandbox with Python, or why there is none.
fn sandbox() -> Option<Sandbox> {
    let builder = tidebox::sandbox().expect("the engine starts");
    ready().then(|| builder.build().expect("the sandbox is made"))
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

/// Runs a command that succeeds, prints this, and complains of nothing.
async fn prints(sandbox: &Sandbox, command: &str, expected: &str) {
    let response = run(sandbox, command).await;
    let (out, err) = (String::from_utf8_lossy(&response.stdout), String::from_utf8_lossy(&response.stderr));
    assert_eq!((out.as_ref(), err.as_ref(), response.exit_code), (expected, "", Some(0)), "{command}");
}

/// Runs a command that fails with this code and says this on standard error.
async fn fails(sandbox: &Sandbox, command: &str, code: i32, said: &str) {
    let response = run(sandbox, command).await;
    let err = String::from_utf8_lossy(&response.stderr);
    assert_eq!(response.exit_code, Some(code), "{command}: {err}");
    assert!(err.contains(said), "{command} said: {err}");
}
