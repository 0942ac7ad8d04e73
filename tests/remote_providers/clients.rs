//! The providers' own clients against our emulators: a third party that knows the protocol and not us.

use std::path::Path;
use std::process::Command;

use crate::emulator;
use crate::install::{installed, step};

const REQUIREMENTS: &str = include_str!("clients/requirements.txt");

/// A Python with the official clients.
fn python() -> Result<std::path::PathBuf, String> {
    let folder = installed("provider-clients", REQUIREMENTS, |folder| {
        step("python3 -m venv", Command::new("python3").args(["-m", "venv"]).arg(folder.join("venv")))?;
        let requirements = folder.join("requirements.txt");
        std::fs::write(&requirements, REQUIREMENTS).map_err(|error| error.to_string())?;
        let mut pip = Command::new(folder.join("venv/bin/pip"));
        step("pip install", pip.args(["install", "--quiet", "--requirement"]).arg(requirements)).map(drop)
    })?;
    Ok(folder.join("venv/bin/python"))
}

/// Runs a session of a client, or says why there is none.
async fn session(provider: &'static str, script: &'static str) {
    let python = match tokio::task::spawn_blocking(python).await.expect("the installation runs") {
        Ok(python) => python,
        Err(missing) => {
            println!("skipped: the official client of {provider} is not there: {missing}");
            return;
        }
    };
    let serving = emulator(provider).await;
    let variables = serving.variables().to_vec();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/remote_providers/clients").join(script);
    let output = tokio::task::spawn_blocking(move || {
        // Nothing of this machine's own settings may point the client elsewhere.
        Command::new(python).arg(script).env_clear().env("HOME", "/nonexistent").envs(variables).output()
    });
    let output = output.await.expect("the client runs").expect("the client starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("the session is done"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_e2b_works_a_session_over_the_emulator() {
    session("e2b", "e2b_session.py").await;
}
