//! The providers' official Python clients, each installed separately at the version pinned in its file in `clients`,
//! and one script that drives any of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::install::{installed, step};

/// Provider, package of its client, and directory for files in its sandboxes.
const CLIENTS: [(&str, &str, &str); 6] = [
    ("daytona", include_str!("clients/daytona.txt"), "/home/daytona"),
    ("deno", include_str!("clients/deno.txt"), "/home/app"),
    ("e2b", include_str!("clients/e2b.txt"), "/home/user"),
    ("langsmith", include_str!("clients/langsmith.txt"), "/root"),
    ("modal", include_str!("clients/modal.txt"), "/workspace"),
    ("runloop", include_str!("clients/runloop.txt"), "/home/user"),
];

fn client(provider: &str) -> &'static (&'static str, &'static str, &'static str) {
    CLIENTS.iter().find(|(name, ..)| *name == provider).expect("every provider has a client")
}

/// Returns a directory that every user of a sandbox may write to.
pub(crate) fn home(provider: &str) -> &'static str {
    client(provider).2
}

/// Returns a Python with the client of a provider. The error is one line that names what is missing.
pub(crate) fn python(provider: &str) -> Result<PathBuf, String> {
    let packages = client(provider).1;
    let dir = installed(&format!("client-python-{provider}"), packages, |dir| {
        step("python3 -m venv", Command::new("python3").args(["-m", "venv"]).arg(dir.join("venv")))?;
        let requirements = dir.join("requirements.txt");
        std::fs::write(&requirements, packages).map_err(|error| error.to_string())?;
        let mut pip = Command::new(dir.join("venv/bin/pip"));
        step("pip install", pip.args(["install", "--quiet", "--requirement"]).arg(requirements)).map(drop)
    })?;
    Ok(dir.join("venv/bin/python"))
}

/// Returns a command that runs the same operations with every client, without settings of the host.
pub(crate) fn driver(provider: &str) -> Result<Command, String> {
    let mut command = Command::new(python(provider)?);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/remote_providers/clients/driver.py");
    command.env_clear().env("HOME", "/nonexistent").env("PYTHONDONTWRITEBYTECODE", "1").arg(script).arg(provider);
    Ok(command)
}
