//! Every file of `sessions` contains the commands of one shell session. This shell runs each command in a new process with the
//! stored state; bash runs all of them in one process. The output must be the same.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Path of bash on the host. Without it the test is skipped with a message.
const BASH: &str = "/bin/bash";
/// Stands between two commands of a session.
const BETWEEN: &str = "----\n";

fn command(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    // Called `sh` it would be in posix mode.
    command
        .arg0("bash")
        .current_dir(folder)
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("HOME", "/tmp"), ("LC_ALL", "C.UTF-8")])
        .stdin(Stdio::null());
    command
}

fn output(mut command: Command) -> String {
    let output = command.output().expect("the shell starts");
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn empty(folder: PathBuf) -> PathBuf {
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("folder made");
    folder
}

#[test]
fn commands_of_a_session_print_what_one_bash_prints() {
    if !Path::new(BASH).exists() {
        println!("skipped: {BASH} is not on this machine");
        return;
    }
    let ours = Path::new(env!("CARGO_BIN_EXE_sh"));
    let folder = std::env::temp_dir().join(format!("tidebox-sh-sessions-{}", std::process::id()));
    let sessions = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions");
    let mut different = Vec::new();
    let mut compared = 0;
    for session in fs::read_dir(sessions).expect("the sessions are there") {
        let path = session.expect("listed").path();
        let text = fs::read_to_string(&path).expect("readable");
        let (theirs, work) = (empty(folder.join("bash/work")), empty(folder.join("ours/work")));
        let state = folder.join("state");
        let _ = fs::remove_file(&state);
        // Aliases work where people type, and so do they in a session.
        let mut driver = "shopt -s expand_aliases\n".to_owned();
        let mut got = String::new();
        for (at, text) in text.split(BETWEEN).enumerate() {
            let file = folder.join(format!("command{at}"));
            fs::write(&file, text).expect("written");
            driver.push_str(&format!("eval \"$(<{})\"\n", file.display()));
            let mut shell = command(ours, &work);
            shell.args(["-c", text]).env("TIDEBOX_SHELL_STATE", &state);
            got.push_str(&output(shell));
            compared += 1;
        }
        let mut bash = command(Path::new(BASH), &theirs);
        bash.args(["-c", &driver]);
        let expected = output(bash);
        if got != expected {
            different.push(format!("{}\n--- bash\n{expected}\n--- ours\n{got}", path.display()));
        }
    }
    let _ = fs::remove_dir_all(&folder);
    assert!(different.is_empty(), "{} sessions differ:\n{}", different.len(), different.join("\n"));
    assert!(compared > 50, "only {compared} commands were compared");
}
