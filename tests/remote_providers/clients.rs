//! The providers' own clients against our emulators: a third party that knows the protocol and not us.
//!
//! Each is installed by itself, at the one version that its file in `clients` names: they do not agree about what they are made of.

use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use self::Language::{JavaScript, Python};
use crate::driver;
use crate::emulator;
use crate::node;
use crate::proved;
use crate::proved::Feature::{
    self, Delete, Download, Find, Killed, Labels, Limit, List, Live, Make, Over, Run, Stop, Streams, Upload, Wake,
};

/// The language of a client.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    JavaScript,
}

/// What the session of each client proves, and says so by itself.
pub(crate) const SESSIONS: [(&str, Language, &[Feature]); 11] = [
    ("daytona", Python, &[Make, Run, Streams, Live, Limit, Killed, Upload, Download, List, Labels, Find, Wake, Delete]),
    (
        "daytona",
        JavaScript,
        &[Make, Run, Streams, Live, Limit, Killed, Upload, Download, List, Labels, Find, Wake, Delete],
    ),
    ("deno", Python, &[Make, Run, Streams, Live, Stop, Upload, Download, List, Labels, Find, Delete, Over]),
    ("deno", JavaScript, &[Make, Run, Streams, Live, Stop, Upload, Download, List, Labels, Find, Delete, Over]),
    (
        "e2b",
        Python,
        &[Make, Run, Streams, Live, Limit, Killed, Stop, Upload, Download, List, Labels, Find, Wake, Delete, Over],
    ),
    (
        "e2b",
        JavaScript,
        &[Make, Run, Streams, Live, Limit, Killed, Stop, Upload, Download, List, Labels, Find, Wake, Delete, Over],
    ),
    (
        "langsmith",
        Python,
        &[Make, Run, Streams, Live, Limit, Killed, Stop, Upload, Download, List, Labels, Find, Wake, Delete],
    ),
    (
        "langsmith",
        JavaScript,
        &[Make, Run, Streams, Live, Limit, Killed, Stop, Upload, Download, List, Find, Wake, Delete],
    ),
    ("modal", Python, &[Make, Run, Streams, Live, Limit, Killed, Upload, Download, List, Labels, Find, Delete, Over]),
    ("runloop", Python, &[Make, Run, Streams, Live, Stop, Upload, Download, List, Find, Wake, Delete, Over]),
    ("runloop", JavaScript, &[Make, Run, Streams, Live, Stop, Upload, Download, List, Find, Wake, Delete, Over]),
];

/// What runs a session: a Python or a Node with the client, and with nothing of this machine's own settings that may point it
/// elsewhere.
fn runner(provider: &str, language: Language) -> Result<Command, String> {
    if language == JavaScript {
        return node::node(provider);
    }
    let mut command = Command::new(driver::python(provider)?);
    command.env_clear().env("HOME", "/nonexistent").env("PYTHONDONTWRITEBYTECODE", "1");
    Ok(command)
}

/// Runs a session of a client, or says why there is none.
async fn session(provider: &'static str, language: Language) {
    let runner = tokio::task::spawn_blocking(move || runner(provider, language)).await.expect("the installation runs");
    let mut command = match runner {
        Ok(command) => command,
        Err(missing) => {
            println!("skipped: the official client of {provider} for {language:?} is not there: {missing}");
            return;
        }
    };
    let serving = emulator(provider).await;
    let ending = if language == Python { "py" } else { "cjs" };
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/remote_providers/clients");
    command.arg(clients.join(format!("{provider}_session.{ending}"))).envs(serving.variables().to_vec());
    let output = tokio::task::spawn_blocking(move || command.output());
    let output = output.await.expect("the client runs").expect("the client starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let text = format!("{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("the session is done"), "{text}");
    let declared = SESSIONS.iter().find(|(of, by, _)| (*of, *by) == (provider, language)).expect("it is in the table");
    proved::exactly(declared.2, proved::said(&said));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_e2b_works_a_session_over_the_emulator() {
    session("e2b", Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_e2b_in_javascript_works_a_session_over_the_emulator() {
    session("e2b", JavaScript).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_daytona_works_a_session_over_the_emulator() {
    session("daytona", Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_daytona_in_javascript_works_a_session_over_the_emulator() {
    session("daytona", JavaScript).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_modal_works_a_session_over_the_emulator() {
    session("modal", Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_runloop_works_a_session_over_the_emulator() {
    session("runloop", Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_runloop_in_javascript_works_a_session_over_the_emulator() {
    session("runloop", JavaScript).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_langsmith_works_a_session_over_the_emulator() {
    session("langsmith", Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_langsmith_in_javascript_works_a_session_over_the_emulator() {
    session("langsmith", JavaScript).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_deno_works_a_session_over_the_emulator() {
    session("deno", Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_client_of_deno_in_javascript_works_a_session_over_the_emulator() {
    session("deno", JavaScript).await;
}

#[test]
fn every_session_is_in_the_table_of_what_sessions_prove_once() {
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/remote_providers/clients");
    let files = std::fs::read_dir(clients).expect("the folder is there").map(|file| file.expect("a file").file_name());
    let mut there: Vec<String> =
        files.filter_map(|name| name.into_string().ok().filter(|name| name.contains("_session."))).collect();
    let ending = |language| if language == Python { "py" } else { "cjs" };
    let mut listed: Vec<String> =
        SESSIONS.iter().map(|(provider, language, _)| format!("{provider}_session.{}", ending(*language))).collect();
    there.sort();
    listed.sort();
    assert_eq!(listed, there);
}
