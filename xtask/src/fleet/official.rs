//! The official client of E2B, if its virtual environment is installed.

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result};

use crate::project::Project;

/// Runs until the end, and prints counts.
const SCRIPT: &str = r#"
import sys, time
from e2b import Sandbox
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
    done, sandbox = attempt(lambda: Sandbox.create(timeout=3600, request_timeout=10))
    if not done:
        continue
    files = {}
    for number in range(10):
        name, text = f"/home/user/{number}.txt", f"{sandbox.sandbox_id} {number}"
        if number % 2:
            done, _ = attempt(lambda: sandbox.files.write(name, text, request_timeout=10))
        else:
            done, result = attempt(lambda: sandbox.commands.run(f"printf '%s' '{text}' > {name}", timeout=10, request_timeout=10))
            done = done and result.exit_code == 0
        if done:
            acknowledged += 1
            files[name] = text
    kept.append((sandbox.sandbox_id, files))
for identifier, files in kept:
    limit = time.time() + 60
    while True:
        try:
            sandbox = Sandbox.connect(identifier, timeout=3600)
            read = {name: sandbox.files.read(name, request_timeout=10) for name in files}
            break
        except Exception as error:
            if time.time() > limit:
                print(f"  {identifier}: {error!r}")
                read = {}
                break
            time.sleep(0.2)
    for name, text in files.items():
        if read.get(name) != text:
            missing += 1
            print(f"  {identifier} {name}: {read.get(name)!r} instead of {text!r}")
print(f"official client of E2B: {len(kept)} sandboxes, {acknowledged} writes acknowledged, {unknown} calls failed, {missing} missing")
sys.exit(1 if missing or not acknowledged else 0)
"#;

/// A running client, or none.
#[derive(Debug)]
pub(super) struct Official(Option<Child>);

pub(super) fn start(project: &Project, address: SocketAddr, end: Instant) -> Result<Official> {
    let home = std::env::var_os("HOME").map(std::path::PathBuf::from).unwrap_or_default();
    let environment = home.join(".cache/tidebox/tests/client-python-e2b/venv/bin/python");
    if !environment.exists() {
        println!("official client of E2B: not run, because {} is missing", environment.display());
        return Ok(Official(None));
    }
    let url = format!("http://{address}");
    let seconds = end.saturating_duration_since(Instant::now()).as_secs_f64().to_string();
    let child = Command::new(environment)
        .current_dir(&project.root)
        .args(["-c", SCRIPT, &seconds])
        .envs([("E2B_API_URL", url.as_str()), ("E2B_SANDBOX_URL", &url), ("E2B_API_KEY", "fleet")])
        .stdin(Stdio::null())
        .spawn()
        .context("cannot start Python")?;
    Ok(Official(Some(child)))
}

impl Official {
    /// Waits for its end. Returns whether it has found all that was acknowledged.
    pub(super) fn finish(self) -> Result<bool> {
        match self.0 {
            Some(mut child) => Ok(child.wait()?.success()),
            None => Ok(true),
        }
    }
}
