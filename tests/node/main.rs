//! The pack `node`: recorded cases with the output of Node 22, and hostile scripts.
//!
//! `cargo xtask pack node` builds the pack, and `tidebox pack add node` installs it. Without it these tests print that and check
//! nothing. `TIDEBOX_RECORD_NODE=PROGRAM` writes the expected results with that Node.

#![allow(clippy::print_stdout, reason = "skipped parts are printed with the reason")]

mod agent;
mod cases;
mod hostile;
mod network;
mod npm;
#[path = "../network/server.rs"]
mod server;
#[path = "../terminal/session.rs"]
mod session;
mod terminal;

use tidebox::{ExecuteRequest, ExecuteResponse, Packs, Sandbox, SandboxBackend};

/// Returns whether the pack is installed, and prints how to install it.
fn is_ready() -> bool {
    let ready = Packs::user().ready().iter().any(|pack| pack.name() == "node");
    if !ready {
        eprintln!("skipped: the pack node is not installed; run `cargo xtask pack node`, then `tidebox pack add node`");
    }
    ready
}

/// Creates a sandbox with a time zone.
fn sandbox() -> Sandbox {
    tidebox::sandbox().expect("the engine starts").env("TZ", "UTC").build().expect("the sandbox is built")
}

/// Runs a command in the sandbox.
async fn run(sandbox: &Sandbox, command: &str) -> ExecuteResponse {
    sandbox.execute(ExecuteRequest::new(command)).await.expect("the sandbox responds")
}
