//! The providers' official clients against the emulators, as an independent check of the protocols.
//!
//! Each client is installed separately, at the version pinned in its file in `clients`: their dependencies conflict.

use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use self::Language::{JavaScript, Python};
use crate::coverage;
use crate::coverage::Feature::{
    self, Delete, Download, Find, Killed, Labels, Limit, List, Live, Make, Over, Run, Serve, Stop, Streams, Upload,
    Wake,
};
use crate::driver;
use crate::emulator;
use crate::methods;
use crate::node;

/// Language of a client.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    JavaScript,
}

/// Features that each client's session verifies and reports.
pub(crate) const SESSIONS: [(&str, Language, &[Feature]); 12] = [
    (
        "daytona",
        Python,
        &[Make, Run, Streams, Live, Limit, Killed, Serve, Upload, Download, List, Labels, Find, Wake, Delete],
    ),
    (
        "daytona",
        JavaScript,
        &[Make, Run, Streams, Live, Limit, Killed, Serve, Upload, Download, List, Labels, Find, Wake, Delete],
    ),
    ("deno", Python, &[Make, Run, Streams, Live, Stop, Serve, Upload, Download, List, Labels, Find, Delete, Over]),
    ("deno", JavaScript, &[Make, Run, Streams, Live, Stop, Serve, Upload, Download, List, Labels, Find, Delete, Over]),
    (
        "e2b",
        Python,
        &[
            Make, Run, Streams, Live, Limit, Killed, Stop, Serve, Upload, Download, List, Labels, Find, Wake, Delete,
            Over,
        ],
    ),
    (
        "e2b",
        JavaScript,
        &[
            Make, Run, Streams, Live, Limit, Killed, Stop, Serve, Upload, Download, List, Labels, Find, Wake, Delete,
            Over,
        ],
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
    (
        "modal",
        Python,
        &[Make, Run, Streams, Live, Limit, Killed, Serve, Upload, Download, List, Labels, Find, Delete, Over],
    ),
    (
        "modal",
        JavaScript,
        &[Make, Run, Streams, Live, Limit, Killed, Serve, Upload, Download, List, Labels, Find, Delete, Over],
    ),
    ("runloop", Python, &[Make, Run, Streams, Live, Stop, Serve, Upload, Download, List, Find, Wake, Delete, Over]),
    ("runloop", JavaScript, &[Make, Run, Streams, Live, Stop, Serve, Upload, Download, List, Find, Wake, Delete, Over]),
];

/// Returns a Python or Node command with the client, without environment variables of the host that could redirect it.
fn runner(provider: &str, language: Language) -> Result<Command, String> {
    if language == JavaScript {
        return node::node(provider);
    }
    let mut command = Command::new(driver::python(provider)?);
    command.env_clear().env("HOME", "/nonexistent").env("PYTHONDONTWRITEBYTECODE", "1");
    Ok(command)
}

/// Runs a session of a client, or returns why it cannot run.
async fn session(provider: &'static str, language: Language) {
    let runner = tokio::task::spawn_blocking(move || runner(provider, language)).await.expect("the installation runs");
    let mut command = match runner {
        Ok(command) => command,
        Err(missing) => {
            println!("skipped: the official client of {provider} for {language:?} is not installed: {missing}");
            return;
        }
    };
    let serving = emulator(provider).await;
    let ending = if language == Python { "py" } else { "cjs" };
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/remote_providers/clients");
    command.arg(clients.join(format!("{provider}_session.{ending}"))).envs(serving.variables().to_vec());
    let output = tokio::task::spawn_blocking(move || command.output());
    let output = output.await.expect("the client runs").expect("the client starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let text = format!("{printed}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("the session is done"), "{text}");
    let declared = SESSIONS.iter().find(|(of, by, _)| (*of, *by) == (provider, language)).expect("listed in the table");
    coverage::exactly(declared.2, coverage::parse_features(&printed));
    methods::the_page_has_the_table(provider, language, &printed);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_e2b_client_runs_a_session() {
    session("e2b", Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_e2b_client_in_javascript_runs_a_session() {
    session("e2b", JavaScript).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_daytona_client_runs_a_session() {
    session("daytona", Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_daytona_client_in_javascript_runs_a_session() {
    session("daytona", JavaScript).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_modal_client_runs_a_session() {
    session("modal", Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_modal_client_in_javascript_runs_a_session() {
    session("modal", JavaScript).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_runloop_client_runs_a_session() {
    session("runloop", Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_runloop_client_in_javascript_runs_a_session() {
    session("runloop", JavaScript).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_langsmith_client_runs_a_session() {
    session("langsmith", Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_langsmith_client_in_javascript_runs_a_session() {
    session("langsmith", JavaScript).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_deno_client_runs_a_session() {
    session("deno", Python).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_official_deno_client_in_javascript_runs_a_session() {
    session("deno", JavaScript).await;
}

#[test]
fn every_session_is_listed_once() {
    let clients = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/remote_providers/clients");
    let files = std::fs::read_dir(clients).expect("the directory exists").map(|file| file.expect("a file").file_name());
    let mut there: Vec<String> =
        files.filter_map(|name| name.into_string().ok().filter(|name| name.contains("_session."))).collect();
    let ending = |language| if language == Python { "py" } else { "cjs" };
    let mut listed: Vec<String> =
        SESSIONS.iter().map(|(provider, language, _)| format!("{provider}_session.{}", ending(*language))).collect();
    there.sort();
    listed.sort();
    assert_eq!(listed, there);
}
