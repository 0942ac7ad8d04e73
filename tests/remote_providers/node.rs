//! The providers' official JavaScript clients, each installed separately at the version pinned in its file in
//! `clients`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::install::{installed, step};

/// Provider, and package of its client.
const CLIENTS: [(&str, &str); 6] = [
    ("daytona", include_str!("clients/daytona.npm")),
    ("deno", include_str!("clients/deno.npm")),
    ("e2b", include_str!("clients/e2b.npm")),
    ("langsmith", include_str!("clients/langsmith.npm")),
    ("modal", include_str!("clients/modal.npm")),
    ("runloop", include_str!("clients/runloop.npm")),
];

/// Returns a Node command that finds the client of a provider. The error is one line that names what is missing.
pub(crate) fn node(provider: &str) -> Result<Command, String> {
    let node = step("node", Command::new("node").args(["-p", "process.execPath"]))?;
    let (_, packages) = CLIENTS.iter().find(|(name, _)| *name == provider).expect("it has a JavaScript client");
    let dir = installed(&format!("client-npm-{provider}"), packages, |dir| {
        std::fs::write(dir.join("package.json"), "{\"private\":true}").map_err(|error| error.to_string())?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]).arg(dir);
        step("npm install", npm.args(packages.split_whitespace())).map(drop)
    })?;
    let mut command = Command::new(PathBuf::from(node));
    // Settings of the host must not redirect the client.
    command.env_clear().env("HOME", "/nonexistent").env("NODE_PATH", dir.join("node_modules"));
    Ok(command)
}

/// Returns a command that runs the same operations with every client.
pub(crate) fn driver(provider: &str) -> Result<Command, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/remote_providers/clients/driver.cjs");
    let mut command = node(provider)?;
    command.arg(script).arg(provider);
    Ok(command)
}
