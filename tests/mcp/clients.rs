//! The official clients: every tool, progress, cancellation and resources, in each mode and over both transports.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Failed, Trial};

use crate::TIDEBOX;
use crate::http::HttpServer;
use crate::install::{installed, step};
use crate::trial::trial;

/// Versions of the protocol: negotiated with sessions, detected by the client, and without sessions.
const MODES: [&str; 3] = ["legacy", "auto", "2026-07-28"];

/// Builds the command that runs the session of a client: an interpreter with its packages and the script.
type MakeCommand = fn(&Path) -> Result<Command, Failed>;

pub(crate) fn trials() -> Vec<Trial> {
    let clients: [(&str, Result<PathBuf, String>, MakeCommand); 2] =
        [("python", prepare_python(), python), ("typescript", prepare_typescript(), typescript)];
    let mut trials = Vec::new();
    for (name, prepared, make) in &clients {
        for mode in MODES {
            let make = *make;
            trials.push(trial(&format!("the_{name}_client_over_stdio_{mode}"), prepared, move |dir| {
                run(make(&dir)?.args([mode, TIDEBOX, "mcp"]), mode)
            }));
            trials.push(trial(&format!("the_{name}_client_over_http_{mode}"), prepared, move |dir| {
                let server = HttpServer::start(&[]);
                run(make(&dir)?.args([mode, &server.url, &server.token]), mode)
            }));
        }
    }
    trials
}

fn prepare_python() -> Result<PathBuf, String> {
    let new = "import sys; sys.exit(sys.version_info < (3, 10) and 'Python 3.10 is needed, this is ' + sys.version)";
    step("python3", Command::new("python3").args(["-c", new]))?;
    let packages = include_str!("clients/mcp.txt");
    installed("mcp-python", packages, |dir| {
        step("python3 -m venv", Command::new("python3").args(["-m", "venv", "--clear"]).arg(dir.join("venv")))?;
        let requirements = dir.join("requirements.txt");
        fs::write(&requirements, packages).map_err(|error| error.to_string())?;
        let mut pip = Command::new(dir.join("venv/bin/pip"));
        pip.args(["install", "--quiet", "--retries", "1", "--timeout", "15", "--requirement"]);
        step("pip install", pip.arg(requirements)).map(drop)
    })
}

fn prepare_typescript() -> Result<PathBuf, String> {
    let version = step("node", Command::new("node").arg("--version"))?;
    let major = version.trim_start_matches('v').split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < 20) {
        return Err(format!("Node 20 is needed, this is {version}"));
    }
    let package = include_str!("clients/package.json");
    // The script is next to the packages, because Node searches the parent directories for them.
    let script = include_str!("clients/session.mjs");
    installed("mcp-typescript", &format!("{package}{script}"), |dir| {
        fs::write(dir.join("session.mjs"), script).map_err(|error| error.to_string())?;
        fs::write(dir.join("package.json"), package).map_err(|error| error.to_string())?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]);
        npm.args(["--fetch-retries", "1", "--fetch-timeout", "15000"]);
        step("npm install", npm.current_dir(dir)).map(drop)
    })
}

fn python(dir: &Path) -> Result<Command, Failed> {
    let mut command = Command::new(dir.join("venv/bin/python"));
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/clients/session.py"));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    Ok(command)
}

fn typescript(dir: &Path) -> Result<Command, Failed> {
    let mut command = Command::new("node");
    command.arg(dir.join("session.mjs"));
    Ok(command)
}

fn run(command: &mut Command, mode: &str) -> Result<(), Failed> {
    let output = command.output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    // Skipped parts are printed by the session.
    print!(
        "{}",
        text.lines().filter(|line| line.starts_with("skipped")).map(|line| format!("{line}\n")).collect::<String>()
    );
    if output.status.success() && text.contains(&format!("the session is done: {mode}")) {
        return Ok(());
    }
    Err(format!("{}\n{text}", output.status).into())
}
