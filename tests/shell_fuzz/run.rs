//! Runs a script with real bash, or with a shell built for the host.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::format::{Case, Outcome};

/// Timeout of a script, longer than any script of the grammar needs; slower scripts are skipped.
const PATIENCE: Duration = Duration::from_secs(10);

/// The home directory of both shells. It is not their working directory, because some output abbreviates it.
const HOME: &str = "/home/tester";

/// Condition in which a shell runs. Behaviour that occurs only in some conditions is nondeterministic: concurrent processes are
/// scheduled differently on one processor, and reads of freed memory depend on the memory layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Usual,
    OneProcessor,
    /// `GLIBC_TUNABLES`.
    Memory(&'static str),
}

/// All conditions except the usual one.
pub(crate) const UNUSUAL: [Condition; 5] = [
    Condition::OneProcessor,
    Condition::Memory("glibc.malloc.tcache_count=0"),
    Condition::Memory("glibc.malloc.tcache_count=1"),
    Condition::Memory("glibc.malloc.tcache_count=0:glibc.malloc.mxfast=0"),
    Condition::Memory("glibc.malloc.tcache_count=0:glibc.malloc.perturb=128"),
];

/// Runs a script in a sandbox. The directory name is as long as on the host, because some output is cut to a length.
pub(crate) fn in_sandbox(script: &str) -> Outcome {
    let dir = std::env::temp_dir().join(".tmp000000/workspace");
    let here = dir.to_str().expect("temporary directories have plain names");
    let case = Case { script: script.as_bytes().to_vec(), ..Case::default() };
    let outcome = crate::ours::run_in(&case, Some(here), &[("HOME", HOME)]);
    Outcome {
        stdout: normalize_output(&outcome.stdout, here),
        stderr: normalize_output(&outcome.stderr, here),
        exit: outcome.exit,
    }
}

/// Runs a script with `bash -c` in an empty directory, where `program` is bash or a replacement. Returns `None` if it does not
/// end. All processes that it started have ended when this returns.
pub(crate) fn by_program(program: &Path, script: &str, condition: Condition) -> Option<Outcome> {
    let above = numbered_dir();
    let dir = above.path().join("workspace");
    std::fs::create_dir(&dir).expect("a directory can be created");
    let (stdout, stderr) = (file(), file());
    let mut child = starter(program, condition)
        .arg(script)
        .current_dir(&dir)
        .stdin(Stdio::null())
        .stdout(stdout.try_clone().expect("a descriptor is free"))
        .stderr(stderr.try_clone().expect("a descriptor is free"))
        .spawn()
        .expect("the shell starts");
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child can be waited for") {
            break Some(status);
        }
        if start.elapsed() > PATIENCE {
            break None;
        }
        std::thread::sleep(Duration::from_micros(if start.elapsed().as_millis() < 50 { 200 } else { 5_000 }));
    };
    let here = dir.to_str().expect("temporary directories have plain names");
    let outcome = status.map(|status| Outcome {
        stdout: normalize_output(&read(stdout), here),
        stderr: normalize_output(&read(stderr), here),
        exit: status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)),
    });
    end_session(child.id());
    let _ = child.wait();
    outcome
}

/// Command that runs the script given as its last argument, in a separate session: remaining processes are found by session,
/// even if `set -m` put them into other process groups. Closes descriptors inherited from this test.
fn starter(program: &Path, condition: Condition) -> Command {
    let pinned = if condition == Condition::OneProcessor { "taskset -c 0 " } else { "" };
    let tuned = match condition {
        Condition::Memory(tunables) => format!("GLIBC_TUNABLES={tunables}; export GLIBC_TUNABLES; "),
        _ => String::new(),
    };
    // The replacement must be called bash, too, which only bash can do; remove the variables that this adds.
    let shell = if program == Path::new("bash") {
        "bash -c \"$1\"".to_owned()
    } else {
        "bash -c 'unset OLDPWD; SHLVL=1; exec -a bash \"$0\" -c \"$1\"' \"$0\" \"$1\"".to_owned()
    };
    let mut starter = Command::new("setsid");
    starter
        .args(["/bin/sh", "-c"])
        .arg(format!("exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; {tuned}exec {pinned}{shell}"))
        .arg(program)
        .env_clear()
        .envs([("PATH", "/usr/local/bin:/usr/bin:/bin"), ("LANG", "C.UTF-8"), ("TERM", "dumb"), ("TZ", "UTC")])
        .envs([("HOME", HOME), ("SHLVL", "0")]);
    starter
}

/// Kills all processes of a session. On a loaded host a killed process may take a while to end.
fn end_session(session: u32) {
    let started = Instant::now();
    loop {
        let left = members(session);
        if left.is_empty() {
            return;
        }
        assert!(started.elapsed() < PATIENCE, "processes of session {session} cannot be ended: {left:?}");
        for pid in left {
            // A process that has already ended is not an error.
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The running processes of a session, without zombies.
fn members(session: u32) -> Vec<i32> {
    let mut found = Vec::new();
    for process in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Ok(text) = std::fs::read_to_string(process.path().join("stat")) else { continue };
        // After the name, which is in parentheses and may contain any characters: state, parent, group, session.
        let fields: Vec<&str> = text.rsplit(") ").next().unwrap_or_default().split(' ').collect();
        if let [state, _, _, of, ..] = fields[..]
            && of == session.to_string()
            && !matches!(state, "Z" | "X")
        {
            found.extend(process.file_name().to_str().and_then(|pid| pid.parse::<i32>().ok()));
        }
    }
    found
}

/// A directory whose name differs from that of another run only in digits, so that values derived from it also do.
fn numbered_dir() -> tempfile::TempDir {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number =
            std::process::id().wrapping_mul(1000).wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % 1_000_000;
        match tempfile::Builder::new().prefix(&format!(".tmp{number:06}")).rand_bytes(0).tempdir() {
            Ok(dir) => return dir,
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => panic!("cannot create a directory: {error}"),
        }
    }
}

/// The output, with the same name for every script directory, also where the script converts it to upper case.
fn normalize_output(bytes: &[u8], here: &str) -> Vec<u8> {
    let small = replaced(bytes, here.as_bytes(), b"/workspace");
    replaced(&small, here.to_uppercase().as_bytes(), b"/WORKSPACE")
}

fn file() -> std::fs::File {
    tempfile::tempfile().expect("a file can be created")
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
