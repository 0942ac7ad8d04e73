//! The official clients of E2B and Daytona.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result};

use crate::project::Project;
use crate::python_package::venv;
use crate::step::Progress;

/// Packages of the clients.
const E2B: &str = include_str!("../../../tests/remote_providers/clients/e2b.txt");
const DAYTONA: &str = include_str!("../../../tests/remote_providers/clients/daytona.txt");

/// Calls of each client: create a sandbox, write a file, run a command, find a sandbox, read a file.
const E2B_CALLS: &str = r#"
from e2b import Sandbox
name, home = "E2B", "/home/user"
create = lambda: Sandbox.create(timeout=3600, request_timeout=10)
identify = lambda sandbox: sandbox.sandbox_id
write = lambda sandbox, path, text: sandbox.files.write(path, text, request_timeout=10)
run = lambda sandbox, line: sandbox.commands.run(line, timeout=10, request_timeout=10).exit_code == 0
find = lambda identifier: Sandbox.connect(identifier, timeout=3600)
read = lambda sandbox, path: sandbox.files.read(path, request_timeout=10)
"#;
const DAYTONA_CALLS: &str = r#"
from daytona import Daytona
daytona = Daytona()
name, home = "Daytona", "/home/daytona"
create = lambda: daytona.create(timeout=10)
identify = lambda sandbox: sandbox.id
write = lambda sandbox, path, text: sandbox.fs.upload_file(text.encode(), path, timeout=10)
run = lambda sandbox, line: sandbox.process.exec(line, timeout=10).exit_code == 0
find = lambda identifier: daytona.get(identifier)
read = lambda sandbox, path: sandbox.fs.download_file(path, 10).decode()
"#;

/// Runs until the end, and prints counts.
const SCRIPT: &str = r#"
import sys, time
end = time.time() + float(sys.argv[1])
acknowledged, unknown, missing, kept = 0, 0, 0, []
def attempt(call):
    global unknown
    try:
        return True, call()
    except Exception:
        unknown += 1
        time.sleep(0.1)
        return False, None
while time.time() < end:
    done, sandbox = attempt(create)
    if not done:
        continue
    identifier, files = identify(sandbox), {}
    for number in range(10):
        path, text = f"{home}/{number}.txt", f"{identifier} {number}"
        if number % 2:
            done, _ = attempt(lambda: write(sandbox, path, text))
        else:
            done, result = attempt(lambda: run(sandbox, f"printf '%s' '{text}' > {path}"))
            done = done and result
        if done:
            acknowledged += 1
            files[path] = text
    kept.append((identifier, files))
for identifier, files in kept:
    limit = time.time() + 60
    while True:
        try:
            sandbox = find(identifier)
            found = {path: read(sandbox, path) for path in files}
            break
        except Exception as error:
            if time.time() > limit:
                print(f"  {identifier}: {error!r}")
                found = {}
                break
            time.sleep(0.2)
    for path, text in files.items():
        if found.get(path) != text:
            missing += 1
            print(f"  {identifier} {path}: {found.get(path)!r} instead of {text!r}")
print(f"official client of {name}: {len(kept)} sandboxes, {acknowledged} writes acknowledged, {unknown} calls failed, {missing} missing")
sys.exit(1 if missing or not acknowledged else 0)
"#;

/// Programs of Python with the clients.
#[derive(Debug)]
pub(super) struct Installed {
    e2b: PathBuf,
    daytona: PathBuf,
}

/// Installs the clients into the target directory. Their dependencies conflict.
pub(super) fn install(project: &Project, progress: &mut Progress) -> Result<Installed> {
    let mut python = |name: &str, package: &str| -> Result<PathBuf> {
        Ok(venv(project, progress, name, &[package.trim()])?.join("python"))
    };
    Ok(Installed { e2b: python("client-e2b", E2B)?, daytona: python("client-daytona", DAYTONA)? })
}

/// Running clients.
#[derive(Debug)]
pub(super) struct Official(Vec<Child>);

impl Official {
    /// Starts the clients, which work until `end`.
    pub(super) fn start(installed: &Installed, e2b: SocketAddr, daytona: SocketAddr, end: Instant) -> Result<Self> {
        let (e2b, daytona) = (format!("http://{e2b}"), format!("http://{daytona}/api"));
        let e2b = [("E2B_API_URL", e2b.as_str()), ("E2B_SANDBOX_URL", &e2b), ("E2B_API_KEY", "fleet")];
        let daytona = [("DAYTONA_API_URL", daytona.as_str()), ("DAYTONA_API_KEY", "fleet")];
        let seconds = end.saturating_duration_since(Instant::now()).as_secs_f64().to_string();
        let start = |python: &PathBuf, calls: &str, variables: &[(&str, &str)]| {
            Command::new(python)
                .args(["-c", &format!("{calls}{SCRIPT}"), &seconds])
                .envs(variables.iter().copied())
                .stdin(Stdio::null())
                .spawn()
                .context("cannot start Python")
        };
        Ok(Self(vec![start(&installed.e2b, E2B_CALLS, &e2b)?, start(&installed.daytona, DAYTONA_CALLS, &daytona)?]))
    }

    /// Waits for their ends. Returns whether they have found all that was acknowledged.
    pub(super) fn finish(self) -> Result<bool> {
        let mut is_right = true;
        for mut child in self.0 {
            is_right &= child.wait()?.success();
        }
        Ok(is_right)
    }
}
