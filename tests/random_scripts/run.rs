//! Running a script by real bash, or by a shell that was built for this machine.

use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::format::{Case, Outcome};

/// Longer than any script of the grammar takes; those that take longer are left out.
const PATIENCE: Duration = Duration::from_secs(10);

/// The home of both shells, which is not the folder that they run in, because some output shortens it.
const HOME: &str = "/home/tester";

/// Runs a script in a sandbox, in a folder with a name as long as on this machine: some output is cut to a length.
pub(crate) fn in_sandbox(script: &str) -> Outcome {
    let folder = std::env::temp_dir().join(".tmp000000/workspace");
    let here = folder.to_str().expect("temporary folders have plain names");
    let case = Case { script: script.as_bytes().to_vec(), ..Case::default() };
    let outcome = crate::ours::run_in(&case, Some(here), &[("HOME", HOME)]);
    let told = |bytes: &[u8]| replaced(bytes, here.as_bytes(), b"/workspace");
    Outcome { stdout: told(&outcome.stdout), stderr: told(&outcome.stderr), exit: outcome.exit }
}

/// Runs a script with `bash -c` in an empty folder, where `program` is bash or a shell that stands in for it; `None`
/// when it does not end.
pub(crate) fn by_program(program: &Path, script: &str) -> Option<Outcome> {
    let above = tempfile::tempdir().expect("a folder can be made");
    let folder = above.path().join("workspace");
    std::fs::create_dir(&folder).expect("a folder can be made");
    let (stdout, stderr) = (file(), file());
    let mut child = starter(program)
        .arg(script)
        .current_dir(&folder)
        .env_clear()
        .envs([("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LANG", "C.UTF-8"), ("TERM", "dumb"), ("TZ", "UTC")])
        .envs([("HOME", HOME), ("SHLVL", "0")])
        .stdin(Stdio::null())
        .stdout(stdout.try_clone().expect("a descriptor is free"))
        .stderr(stderr.try_clone().expect("a descriptor is free"))
        .process_group(0)
        .spawn()
        .expect("the shell starts");
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            break status;
        }
        if start.elapsed() > PATIENCE {
            // What it started goes with it; that is why it has a group of its own.
            let group = format!("-{}", child.id());
            let _ = Command::new("kill").args(["-9", "--", &group]).status();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_micros(if start.elapsed().as_millis() < 50 { 200 } else { 5_000 }));
    };
    let here = folder.to_str().expect("temporary folders have plain names");
    let told = |file| replaced(&read(file), here.as_bytes(), b"/workspace");
    let exit = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    Some(Outcome { stdout: told(stdout), stderr: told(stderr), exit })
}

/// What runs the script that it gets as its last argument. Descriptors that this test inherited are closed for bash.
fn starter(program: &Path) -> Command {
    if program == Path::new("bash") {
        let mut sh = Command::new("/bin/sh");
        sh.args(["-c", "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; exec bash -c \"$1\"", "sh"]);
        return sh;
    }
    let mut shell = Command::new(program);
    shell.arg0("bash").arg("-c");
    shell
}

fn file() -> std::fs::File {
    tempfile::tempfile().expect("a file can be made")
}

fn read(mut file: std::fs::File) -> Vec<u8> {
    use std::io::{Read as _, Seek as _};
    let mut bytes = Vec::new();
    file.rewind().and_then(|()| file.read_to_end(&mut bytes)).expect("the output can be read");
    bytes
}

fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(from) {
            out.extend_from_slice(to);
            at += from.len();
        } else {
            out.push(bytes[at]);
            at += 1;
        }
    }
    out
}
