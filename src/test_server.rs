//! Servers from PyPI for tests.

use std::fmt;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Time for a server to start.
const START_TIME: Duration = Duration::from_secs(60);

/// A running server, until it is dropped.
pub(crate) struct TestServer(Child);

impl TestServer {
    pub(crate) fn start(command: &mut Command) -> Self {
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        // A server that has ended needs no signal.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn run(command: &mut Command) -> Result<(), String> {
    match command.stdout(Stdio::null()).output() {
        Ok(done) if done.status.success() => Ok(()),
        Ok(done) => Err(String::from_utf8_lossy(&done.stderr).lines().last().unwrap_or("it failed").to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns a program of a package, installed into a directory of the build that later runs find again. The error is a reason.
pub(crate) fn install(name: &str, package: &str, program: &str) -> Result<PathBuf, String> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("target").join(name);
    let dir = std::env::var_os("CARGO_TARGET_DIR").map_or(dir, |target| Path::new(&target).join(name));
    // Tests in other processes may install it at the same time.
    std::fs::create_dir_all(&dir).map_err(|error| error.to_string())?;
    let lock = std::fs::File::create(dir.join("lock")).map_err(|error| error.to_string())?;
    lock.lock().map_err(|error| error.to_string())?;
    let program = dir.join("bin").join(program);
    if !program.exists() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&dir))?;
        run(Command::new(dir.join("bin/pip")).args(["install", "--quiet", package]))?;
    }
    Ok(program)
}

/// Returns a port that no server uses.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Repeats an attempt until it succeeds.
pub(crate) fn eventually<T, E: fmt::Display>(mut attempt: impl FnMut() -> Result<T, E>) -> T {
    let end = Instant::now() + START_TIME;
    loop {
        match attempt() {
            Ok(value) => return value,
            Err(error) => assert!(Instant::now() < end, "the server starts within a minute: {error}"),
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}
