//! File operations derived from POSIX sh keep the contract, whichever shell and tools there are.

#![allow(clippy::print_stdout, reason = "the report belongs to the test's output")]

mod derived;
mod local;
mod sandboxed;

use std::path::PathBuf;
use std::time::Duration;

use derived::{Derived, Machine};
use local::Local;
use sandboxed::Sandboxed;
use tidebox::conformance::{self, Capabilities};
use tidebox::{Dialect, SandboxPath};

/// What these machines can do beside the file operations. Commands are theirs and are tested elsewhere.
fn capabilities(dialect: Dialect) -> Capabilities {
    Capabilities {
        dialect,
        separate_streams: false,
        binary_output: false,
        streaming: false,
        stdin: false,
        env: false,
        cwd: false,
        fresh_shell: false,
        timeout: false,
        timeout_exit_code: false,
        timeout_output: false,
        timeout_slack: Duration::from_secs(20),
        nothing_outlives: false,
        modes: false,
        harness_directories: false,
        glob_files: Some(10_000),
        ..Capabilities::FULL
    }
}

async fn keeps_the_contract<M: Machine>(machine: M, root: &SandboxPath, dialect: Dialect) {
    let report = conformance::run(&Derived::new(machine), &capabilities(dialect), root).await;
    println!("{report}");
    report.assert();
}

async fn with_shell(shell: &str) {
    let Some(program) = local::find(shell) else {
        println!("skipped: there is no {shell} on this machine");
        return;
    };
    // In what dialects differ is no matter of the shell; our own is tried in all of them.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let root = folder.path().canonicalize().expect("the folder is there");
    let path = SandboxPath::parse(root.to_string_lossy().as_bytes()).expect("the path is absolute");
    keeps_the_contract(Local::new(program, root, Dialect::Js), &path, Dialect::Js).await;
}

#[tokio::test]
async fn file_operations_over_dash_keep_the_contract() {
    with_shell("dash").await;
}

#[tokio::test]
async fn file_operations_over_bash_keep_the_contract() {
    with_shell("bash").await;
}

#[tokio::test]
async fn file_operations_over_busybox_keep_the_contract() {
    with_shell("busybox").await;
}

#[tokio::test]
async fn file_operations_over_our_own_shell_keep_the_contract() {
    let root = SandboxPath::parse("/workspace").expect("the path is absolute");
    for dialect in Dialect::ALL {
        keeps_the_contract(Sandboxed::new(dialect, true), &root, dialect).await;
    }
}

#[tokio::test]
async fn file_operations_keep_the_contract_where_output_is_text() {
    let root = SandboxPath::parse("/workspace").expect("the path is absolute");
    keeps_the_contract(Sandboxed::new(Dialect::Js, false), &root, Dialect::Js).await;
}

/// A folder that holds what busybox is called by.
pub(crate) fn applets(busybox: &PathBuf, folder: &std::path::Path) {
    let status = std::process::Command::new(busybox).args(["--install", "-s"]).arg(folder).status();
    assert!(status.is_ok_and(|status| status.success()), "busybox installs its names");
}
