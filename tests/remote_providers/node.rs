//! The providers' own clients for JavaScript, each by itself at the one version that its file in `clients` names.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::install::{installed, step};

/// A provider, and what its client is installed from.
const CLIENTS: [(&str, &str); 5] = [
    ("daytona", include_str!("clients/daytona.npm")),
    ("deno", include_str!("clients/deno.npm")),
    ("e2b", include_str!("clients/e2b.npm")),
    ("langsmith", include_str!("clients/langsmith.npm")),
    ("runloop", include_str!("clients/runloop.npm")),
];

/// A Node that finds the client of a provider. The error is one line that says what is missing.
pub(crate) fn node(provider: &str) -> Result<Command, String> {
    let node = step("node", Command::new("node").args(["-p", "process.execPath"]))?;
    let (_, packages) = CLIENTS.iter().find(|(name, _)| *name == provider).expect("it has a client for JavaScript");
    let folder = installed(&format!("client-npm-{provider}"), packages, |folder| {
        std::fs::write(folder.join("package.json"), "{\"private\":true}").map_err(|error| error.to_string())?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"]).arg(folder);
        step("npm install", npm.args(packages.split_whitespace())).map(drop)
    })?;
    let mut command = Command::new(PathBuf::from(node));
    // Nothing of this machine's own settings may point the client elsewhere.
    command.env_clear().env("HOME", "/nonexistent").env("NODE_PATH", folder.join("node_modules"));
    Ok(command)
}

/// The script that says and does the same with every client.
pub(crate) fn driver(provider: &str) -> Result<Command, String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/remote_providers/clients/driver.cjs");
    let mut command = node(provider)?;
    command.arg(script).arg(provider);
    Ok(command)
}
