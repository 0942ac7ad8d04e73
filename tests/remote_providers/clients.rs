//! The providers' own clients against our emulators: a third party that knows the protocol and not us.
//!
//! Each is installed by itself, at the one version that its file in `clients` names: they do not agree about what they are made of.

use std::path::Path;
use std::process::Command;

use crate::driver;
use crate::emulator;
use crate::node;

/// A client in one language.
struct Client {
    provider: &'static str,
    /// The file with the session.
    script: &'static str,
    /// Makes what runs the script.
    runner: fn(&'static Self) -> Result<Command, String>,
}

/// A Python with the client, and with nothing of this machine's own settings that may point it elsewhere.
fn python(client: &'static Client) -> Result<Command, String> {
    let mut command = Command::new(driver::python(client.provider)?);
    command.env_clear().env("HOME", "/nonexistent");
    Ok(command)
}

/// A Node with the client.
fn javascript(client: &'static Client) -> Result<Command, String> {
    node::node(client.provider)
}

/// Runs a session of a client, or says why there is none.
async fn session(client: &'static Client) {
    let runner = tokio::task::spawn_blocking(|| (client.runner)(client)).await.expect("the installation runs");
    let mut command = match runner {
        Ok(command) => command,
        Err(missing) => {
            println!("skipped: the official client of {} is not there: {missing}", client.provider);
            return;
        }
    };
    let serving = emulator(client.provider).await;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/remote_providers/clients").join(client.script);
    command.arg(script).envs(serving.variables().to_vec());
    let output = tokio::task::spawn_blocking(move || command.output());
    let output = output.await.expect("the client runs").expect("the client starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("the session is done"), "{text}");
}

static E2B_PYTHON: Client = Client { provider: "e2b", script: "e2b_session.py", runner: python };

static E2B_NODE: Client = Client { provider: "e2b", script: "e2b_session.cjs", runner: javascript };

static MODAL_PYTHON: Client = Client { provider: "modal", script: "modal_session.py", runner: python };

static DAYTONA_PYTHON: Client = Client { provider: "daytona", script: "daytona_session.py", runner: python };

static DAYTONA_NODE: Client = Client { provider: "daytona", script: "daytona_session.cjs", runner: javascript };

static RUNLOOP_PYTHON: Client = Client { provider: "runloop", script: "runloop_session.py", runner: python };

static RUNLOOP_NODE: Client = Client { provider: "runloop", script: "runloop_session.cjs", runner: javascript };

static DENO_PYTHON: Client = Client { provider: "deno", script: "deno_session.py", runner: python };

static DENO_NODE: Client = Client { provider: "deno", script: "deno_session.cjs", runner: javascript };

static LANGSMITH_PYTHON: Client = Client { provider: "langsmith", script: "langsmith_session.py", runner: python };

static LANGSMITH_NODE: Client = Client { provider: "langsmith", script: "langsmith_session.cjs", runner: javascript };

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_e2b_works_a_session_over_the_emulator() {
    session(&E2B_PYTHON).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_e2b_in_javascript_works_a_session_over_the_emulator() {
    session(&E2B_NODE).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_daytona_works_a_session_over_the_emulator() {
    session(&DAYTONA_PYTHON).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_daytona_in_javascript_works_a_session_over_the_emulator() {
    session(&DAYTONA_NODE).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_modal_works_a_session_over_the_emulator() {
    session(&MODAL_PYTHON).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_runloop_works_a_session_over_the_emulator() {
    session(&RUNLOOP_PYTHON).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_runloop_in_javascript_works_a_session_over_the_emulator() {
    session(&RUNLOOP_NODE).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_langsmith_works_a_session_over_the_emulator() {
    session(&LANGSMITH_PYTHON).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_langsmith_in_javascript_works_a_session_over_the_emulator() {
    session(&LANGSMITH_NODE).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_deno_works_a_session_over_the_emulator() {
    session(&DENO_PYTHON).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_deno_in_javascript_works_a_session_over_the_emulator() {
    session(&DENO_NODE).await;
}
