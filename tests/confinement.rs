//! A confined process runs sandboxes, and code that escaped from one reaches nothing.

#![cfg(all(target_os = "linux", feature = "confine"))]

use std::fs;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::process::Command;

use tidebox::{Confinement, ExecuteRequest, MountExt as _, MountMode, SandboxBackend as _};

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the runtime starts")
}

/// The exit code of the tool is the number of things that the escaped code could do.
fn escape() -> u8 {
    let files = ["/etc/passwd", "/etc/shadow", "/proc/1/environ"].map(|path| fs::read(path).map(drop));
    let home = std::env::home_dir().map(|home| fs::read_dir(home).map(drop));
    let written = fs::write("/tmp/escaped", "x");
    let started = Command::new("/bin/true").status().map(drop);
    let connected = TcpStream::connect("127.0.0.1:1").map(drop);
    let all = files.into_iter().chain(home).chain([written, started]);
    let reached =
        all.filter(|outcome| outcome.as_ref().err().map(std::io::Error::kind) != Some(ErrorKind::PermissionDenied));
    let refused = connected.is_err_and(|error| error.kind() == ErrorKind::PermissionDenied);
    u8::try_from(reached.count()).expect("few") + u8::from(!refused)
}

#[test]
fn code_that_escaped_from_a_confined_sandbox_opens_no_file() {
    // Restrictions last as long as their thread.
    let confined = || {
        let dir = tempfile::tempdir().expect("created");
        fs::write(dir.path().join("data"), "mounted\n").expect("written");
        Confinement::new().read(dir.path()).apply().expect("the kernel has Landlock");
        let sandbox = tidebox::sandbox().expect("the runtime starts");
        let sandbox = sandbox.mount_host(dir.path(), "/data", MountMode::ReadOnly).expect("allowed");
        // Stands for a guest that runs code in the host.
        let sandbox = sandbox.host_tool("escape", |_| async { escape() }).build().expect("built");
        let command = "cat /data/data; seq 3 | sort -r | head -1; escape; echo escapes: $?";
        let response = runtime().block_on(sandbox.execute(ExecuteRequest::new(command))).expect("the command runs");
        response.output_text().into_owned()
    };
    let output = std::thread::spawn(confined).join().expect("the thread ends without a panic");
    assert_eq!(output, "mounted\n3\nescapes: 0\n");
}
