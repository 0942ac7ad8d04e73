//! Runs the built command, and bash for comparison.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// A host variable that must not be visible in a sandbox.
pub(crate) const PLANTED: (&str, &str) = ("TIDEBOX_TEST_SECRET", "planted-7f3a");

/// Result of a program.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) elapsed: Duration,
}

impl Ran {
    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }
}

/// The built command with these arguments, not started.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tidebox"));
    command.args(arguments).env(PLANTED.0, PLANTED.1);
    command
}

/// Runs `tidebox` with these arguments and empty standard input.
pub(crate) fn tidebox(arguments: &[&str]) -> Ran {
    tidebox_reading(arguments, b"")
}

/// Runs `tidebox` with these arguments and this standard input.
pub(crate) fn tidebox_reading(arguments: &[&str], stdin: &[u8]) -> Ran {
    finish(command(arguments), stdin)
}

/// Runs `tidebox exec` with only a command.
pub(crate) fn exec(line: &str) -> Ran {
    tidebox(&["exec", line])
}

/// Runs bash in an empty directory without user settings.
pub(crate) fn bash(line: &str) -> Ran {
    let dir = tempfile::tempdir().expect("a temporary directory can be created");
    let mut command = Command::new("bash");
    command
        .args(["--noprofile", "--norc", "-c", line])
        .current_dir(dir.path())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", dir.path())
        .env("LC_ALL", "C");
    finish(command, b"")
}

/// Writes a host file for `--file`.
pub(crate) fn host_file(dir: &Path, name: &str, content: &[u8], executable: bool) -> String {
    let path = dir.join(name);
    std::fs::write(&path, content).expect("the file can be written");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = if executable { 0o755 } else { 0o644 };
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("the mode can be set");
    }
    path.to_str().expect("the temporary directory has a UTF-8 name").to_owned()
}

pub(crate) fn finish(mut command: Command, stdin: &[u8]) -> Ran {
    let before = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{command:?} starts: {error}"));
    // The command may have exited without reading its input.
    let _ = child.stdin.take().expect("stdin is a pipe").write_all(stdin);
    let Output { status, stdout, stderr } = child.wait_with_output().expect("the command ends");
    Ran { code: status.code(), stdout, stderr, elapsed: before.elapsed() }
}
