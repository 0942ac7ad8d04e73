//! Compares the shell with real bash: every script of `userland/sh/tests/corpus` runs in both, and standard output, standard
//! error and exit code must be equal.
//!
//! A line `# differs: <reason>` in a script excludes standard error from the comparison.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tidebox::{ExecuteRequest, Sandbox, SandboxBackend};

/// Outcome of a script.
#[derive(Debug, PartialEq, Eq)]
struct Ran {
    stdout: String,
    stderr: String,
    exit_code: Option<i32>,
}

fn corpus() -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("userland/sh/tests/corpus");
    let mut scripts: Vec<PathBuf> = std::fs::read_dir(&dir)
        .expect("the corpus exists")
        .map(|entry| entry.expect("the corpus can be listed").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sh"))
        .collect();
    scripts.sort();
    scripts
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs the script with the host's bash, in an empty directory and with the sandbox's variables.
fn by_bash(name: &str, script: &[u8]) -> Ran {
    let dir = tempfile::tempdir().expect("a directory can be created");
    std::fs::write(dir.path().join(name), script).expect("the script can be written");
    // Reset ignored signals: `trap` would print those that the parent process ignores (as `nohup` does).
    let output = Command::new("env")
        .args(["--default-signal", "bash", name])
        .current_dir(dir.path())
        .env_clear()
        .envs([("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LANG", "C.UTF-8"), ("TERM", "dumb")])
        .env("HOME", dir.path())
        // In the sandbox, a shell that runs the command line starts the script's shell.
        .env("SHLVL", "1")
        .stdin(Stdio::null())
        .output()
        .expect("bash runs");
    // A script that prints its working directory must not differ only because of the path.
    let here = dir.path().to_str().expect("temporary directories have plain names");
    let reported = |bytes: &[u8]| text(bytes).replace(here, "/workspace");
    Ran { stdout: reported(&output.stdout), stderr: reported(&output.stderr), exit_code: output.status.code() }
}

async fn by_ours(sandbox: &Sandbox, name: &str, script: &[u8]) -> Ran {
    let upload = tidebox::Upload::new(format!("/workspace/{name}"), script);
    sandbox.upload_files(vec![upload]).await.expect("upload responds");
    let response = sandbox.execute(ExecuteRequest::new(format!("bash {name}"))).await.expect("the script runs");
    Ran { stdout: text(&response.stdout), stderr: text(&response.stderr), exit_code: response.exit_code }
}

/// Returns whether the host has the bash version that the shell implements; older ones differ in script-visible behaviour.
fn bash_is_current() -> bool {
    let script = "((BASH_VERSINFO[0] * 100 + BASH_VERSINFO[1] >= 502))";
    Command::new("bash").args(["-c", script]).status().is_ok_and(|status| status.success())
}

#[tokio::test]
async fn every_script_of_the_corpus_matches_bash() {
    if !bash_is_current() {
        eprintln!("skipped: the host has no bash 5.2 or newer to compare with");
        return;
    }
    let scripts = corpus();
    assert!(scripts.len() > 50, "only {} scripts were found", scripts.len());
    let mut differing = Vec::new();
    for path in &scripts {
        let name = path.file_name().and_then(|name| name.to_str()).expect("scripts have plain names");
        let script = std::fs::read(path).expect("the script can be read");
        let sandbox = tidebox::sandbox().and_then(|sandbox| sandbox.build()).expect("a sandbox is created");
        let (mut theirs, mut ours) = (by_bash(name, &script), by_ours(&sandbox, name, &script).await);
        if text(&script).lines().any(|line| line.starts_with("# differs: ")) {
            theirs.stderr.clear();
            ours.stderr.clear();
        }
        if theirs != ours {
            eprintln!("{name}\n  bash: {theirs:?}\n  ours: {ours:?}");
            differing.push(name.to_owned());
        }
    }
    assert!(differing.is_empty(), "{} of {} scripts differ: {differing:?}", differing.len(), scripts.len());
}
