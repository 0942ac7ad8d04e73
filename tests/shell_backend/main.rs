//! File operations derived from POSIX sh fulfil the contract with every supported shell and set of tools.

#![allow(clippy::print_stdout, reason = "the report belongs to the test's output")]

mod derived;
mod local;
mod sandboxed;

use std::path::PathBuf;
use std::time::Duration;

use derived::{Derived, ShellHost};
use local::Local;
use sandboxed::Sandboxed;
use tidebox::conformance::{self, Capabilities};
use tidebox::{Dialect, SandboxPath};

/// Capabilities of these backends in addition to file operations. Commands depend on the shell and are tested elsewhere.
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
        timeout_tolerance: Duration::from_secs(20),
        kills_background: false,
        processes: false,
        terminals: false,
        keeps_background: false,
        modes: false,
        offload_directories: false,
        glob_files: Some(10_000),
        ..Capabilities::FULL
    }
}

async fn keeps_the_contract<M: ShellHost>(host: M, root: &SandboxPath, dialect: Dialect) {
    let report = conformance::run(&Derived::new(host), &capabilities(dialect), root).await;
    println!("{report}");
    report.assert_success();
}

async fn with_shell(shell: &str) {
    let Some(program) = local::find(shell) else {
        println!("skipped: the host has no {shell}");
        return;
    };
    // The differences between dialects do not depend on the shell; all of them are tested with Tidebox's shell.
    let dir = tempfile::tempdir().expect("a temporary directory");
    let root = dir.path().canonicalize().expect("the directory exists");
    let path = SandboxPath::parse(root.to_string_lossy().as_bytes()).expect("the path is absolute");
    keeps_the_contract(Local::new(program, root, Dialect::Js), &path, Dialect::Js).await;
}

#[tokio::test]
async fn derived_file_operations_pass_the_suite_with_dash() {
    with_shell("dash").await;
}

#[tokio::test]
async fn derived_file_operations_pass_the_suite_with_bash() {
    with_shell("bash").await;
}

#[tokio::test]
async fn derived_file_operations_pass_the_suite_with_busybox() {
    with_shell("busybox").await;
}

#[tokio::test]
async fn derived_file_operations_pass_the_suite_with_tidebox() {
    let root = SandboxPath::parse("/workspace").expect("the path is absolute");
    for dialect in Dialect::ALL {
        keeps_the_contract(Sandboxed::new(dialect, true), &root, dialect).await;
    }
}

#[tokio::test]
async fn derived_file_operations_pass_with_text_output() {
    let root = SandboxPath::parse("/workspace").expect("the path is absolute");
    keeps_the_contract(Sandboxed::new(Dialect::Js, false), &root, Dialect::Js).await;
}

/// Creates a directory with links to busybox under its command names.
pub(crate) fn applets(busybox: &PathBuf, dir: &std::path::Path) {
    let status = std::process::Command::new(busybox).args(["--install", "-s"]).arg(dir).status();
    assert!(status.is_ok_and(|status| status.success()), "busybox installs its names");
}
