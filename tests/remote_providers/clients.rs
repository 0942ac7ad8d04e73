//! The providers' own clients against our emulators: a third party that knows the protocol and not us.
//!
//! Each is installed by itself, at the one version that its file in `clients` names: they do not agree about what they are made of.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::driver;
use crate::emulator;
use crate::install::{installed, step};

/// A client in one language.
struct Client {
    provider: &'static str,
    /// What is installed.
    packages: &'static str,
    /// The file with the session.
    script: &'static str,
    /// Makes what runs the script.
    runner: fn(&'static Self) -> Result<Command, String>,
}

/// A Python with the client.
fn python(client: &'static Client) -> Result<Command, String> {
    driver::python(client.provider).map(Command::new)
}

/// A Node with the client.
fn node(client: &'static Client) -> Result<Command, String> {
    let node = step("node", Command::new("node").args(["-p", "process.execPath"]))?;
    let folder = installed(&format!("client-npm-{}", client.provider), client.packages, |folder| {
        std::fs::write(folder.join("package.json"), "{\"private\":true}").map_err(|error| error.to_string())?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]).arg(folder);
        step("npm install", npm.args(client.packages.split_whitespace())).map(drop)
    })?;
    let mut command = Command::new(PathBuf::from(node));
    command.env("NODE_PATH", folder.join("node_modules"));
    Ok(command)
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
    let modules: Vec<_> =
        command.get_envs().map(|(name, value)| (name.to_owned(), value.map(ToOwned::to_owned))).collect();
    // Nothing of this machine's own settings may point the client elsewhere.
    command.arg(script).env_clear().env("HOME", "/nonexistent").envs(serving.variables().to_vec());
    command.envs(modules.into_iter().filter_map(|(name, value)| Some((name, value?))));
    let output = tokio::task::spawn_blocking(move || command.output());
    let output = output.await.expect("the client runs").expect("the client starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("the session is done"), "{text}");
}

static E2B_PYTHON: Client =
    Client { provider: "e2b", packages: include_str!("clients/e2b.txt"), script: "e2b_session.py", runner: python };

static MODAL_PYTHON: Client = Client {
    provider: "modal",
    packages: include_str!("clients/modal.txt"),
    script: "modal_session.py",
    runner: python,
};

static DAYTONA_PYTHON: Client = Client {
    provider: "daytona",
    packages: include_str!("clients/daytona.txt"),
    script: "daytona_session.py",
    runner: python,
};

static DAYTONA_NODE: Client = Client {
    provider: "daytona",
    packages: include_str!("clients/daytona.npm"),
    script: "daytona_session.cjs",
    runner: node,
};

static RUNLOOP_PYTHON: Client = Client {
    provider: "runloop",
    packages: include_str!("clients/runloop.txt"),
    script: "runloop_session.py",
    runner: python,
};

static RUNLOOP_NODE: Client = Client {
    provider: "runloop",
    packages: include_str!("clients/runloop.npm"),
    script: "runloop_session.cjs",
    runner: node,
};

static DENO_PYTHON: Client =
    Client { provider: "deno", packages: include_str!("clients/deno.txt"), script: "deno_session.py", runner: python };

static DENO_NODE: Client =
    Client { provider: "deno", packages: include_str!("clients/deno.npm"), script: "deno_session.cjs", runner: node };

static LANGSMITH_PYTHON: Client = Client {
    provider: "langsmith",
    packages: include_str!("clients/langsmith.txt"),
    script: "langsmith_session.py",
    runner: python,
};

static LANGSMITH_NODE: Client = Client {
    provider: "langsmith",
    packages: include_str!("clients/langsmith.npm"),
    script: "langsmith_session.cjs",
    runner: node,
};

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_e2b_works_a_session_over_the_emulator() {
    session(&E2B_PYTHON).await;
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
