//! Every script of `corpus` runs here in the shell and in real bash, over the same operating system, and must print the
//! same and end with the same code.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Path of bash on the host. Without it the test is skipped with a message.
const BASH: &str = "/bin/bash";

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let mut scripts: Vec<PathBuf> =
        fs::read_dir(folder).expect("the corpus is there").map(|entry| entry.expect("listed").path()).collect();
    scripts.sort();
    scripts
}

/// Runs one script in an empty directory. The name of the directory is replaced in the output.
fn run(shell: &Path, name: &str, script: &Path, folder: &Path) -> (i32, String) {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).expect("folder made");
    fs::copy(script, folder.join("case.sh")).expect("script copied");
    // Both shells must have the same name, because messages start with it. Signals that the test runner ignores (as `nohup`
    // does) would appear in the output of `trap`.
    let started = Command::new("env")
        .args(["--default-signal", BASH, "-c", "exec -a \"$1\" \"$0\" case.sh 2>&1", &shell.to_string_lossy(), name])
        .current_dir(folder)
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("HOME", "/tmp"), ("LC_ALL", "C.UTF-8")])
        .stdin(Stdio::null())
        .output();
    let Output { status, stdout, .. } = started.expect("bash starts");
    let text = String::from_utf8_lossy(&stdout).replace(&*folder.to_string_lossy(), "FOLDER");
    (status.code().unwrap_or(-1), text)
}

#[test]
fn scripts_print_what_bash_prints() {
    if !Path::new(BASH).exists() {
        println!("skipped: {BASH} is not on this machine");
        return;
    }
    let ours = Path::new(env!("CARGO_BIN_EXE_sh"));
    let folder = std::env::temp_dir().join(format!("tidebox-sh-{}", std::process::id()));
    let mut different = Vec::new();
    for script in scripts() {
        let expected = run(Path::new(BASH), "bash", &script, &folder.join("bash/work"));
        let got = run(ours, "bash", &script, &folder.join("ours/work"));
        if expected != got {
            different.push(format!("{}\n--- bash\n{expected:?}\n--- ours\n{got:?}", script.display()));
        }
    }
    let _ = fs::remove_dir_all(folder);
    assert!(different.is_empty(), "{} scripts differ:\n{}", different.len(), different.join("\n"));
}
