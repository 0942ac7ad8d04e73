//! `tidebox snapshot`: the files of a sandbox and the state of its shell in one file.

use std::fs;
use std::future::pending;
use std::io::{self, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};
use serde::Serialize;

use crate::cli::args::{CommandArg, SnapshotCommand, SnapshotCreate, SnapshotFile};
use crate::cli::exec::{self, StreamEnd};
use crate::cli::output::{STDOUT_FAILED, format_bytes, print_json};
use crate::cli::{exit_code, sandbox};
use crate::{ShellMode, Snapshot, atomic_file};

/// The object of `show --json`.
#[derive(Debug, Serialize)]
struct Report {
    file_bytes: u64,
    inodes: u64,
    changes: Vec<ChangeReport>,
    truncated: bool,
}

/// A difference to a new sandbox.
#[derive(Debug, Serialize)]
struct ChangeReport {
    path: String,
    change: &'static str,
    /// Bytes of a file that exists.
    bytes: Option<u64>,
}

/// Runs `tidebox snapshot`.
pub(crate) fn snapshot(command: SnapshotCommand) -> Result<u8> {
    match command {
        SnapshotCommand::Create(create) => run_and_write(*create),
        SnapshotCommand::Show { from, json } => show(&from, json),
        SnapshotCommand::Export { from } => export(&from),
    }
}

/// Runs the command, and writes the file if it succeeds.
fn run_and_write(create: SnapshotCreate) -> Result<u8> {
    let options = &create.options;
    let sandbox = sandbox::builder(options)?.shell_mode(ShellMode::Persistent).build()?;
    let request = sandbox::request(options, CommandArg::Line(create.command), sandbox::cwd(options)?)?;
    let response = match sandbox::runtime()?.block_on(exec::stream(&sandbox, request, pending()))? {
        StreamEnd::Response(response) => response,
        StreamEnd::OutputClosed | StreamEnd::Stopped => return Ok(exit_code::OUTPUT_CLOSED),
    };
    let code = sandbox::exit_code(&response)?;
    if code != exit_code::SUCCESS {
        eprintln!("tidebox: {} is not written, because the command failed", create.file.display());
        return Ok(code);
    }
    let bytes = sandbox.snapshot()?.to_bytes();
    atomic_file::replace(&create.file, &bytes).with_context(|| format!("cannot write {}", create.file.display()))?;
    Ok(exit_code::SUCCESS)
}

/// Reads the file of a `--snapshot`.
pub(crate) fn read(file: &Path) -> Result<Vec<u8>> {
    fs::read(file).with_context(|| format!("cannot read {}", file.display()))
}

/// Returns a snapshot of a new sandbox, and that of the file.
fn open(from: &SnapshotFile) -> Result<(Snapshot, Snapshot)> {
    let mut limits = crate::Limits::default();
    for changes in &from.limit_changes {
        changes.apply(&mut limits);
    }
    let bytes = read(&from.file)?;
    let builder = crate::sandbox()?.limits(limits);
    let snapshot = Snapshot::from_bytes(&bytes, builder.base_image(), builder.current_limits());
    let snapshot = snapshot.with_context(|| format!("cannot read {}", from.file.display()))?;
    Ok((builder.build()?.snapshot()?, snapshot))
}

fn show(from: &SnapshotFile, json: bool) -> Result<u8> {
    let (new, snapshot) = open(from)?;
    let diff = Snapshot::diff(&new, &snapshot);
    let report = |change: crate::Change| ChangeReport {
        path: String::from_utf8_lossy(&change.path).into_owned(),
        change: match (change.before, change.after) {
            (None, _) => "added",
            (_, None) => "removed",
            (Some(_), Some(_)) => "changed",
        },
        bytes: change.after.filter(|after| after.kind == crate::FileKind::File).map(|after| after.size),
    };
    let report = Report {
        file_bytes: snapshot.file_bytes(),
        inodes: snapshot.inodes(),
        changes: diff.changes.into_iter().map(report).collect(),
        truncated: diff.truncated,
    };
    match json {
        true => print_json(&report)?,
        false => print(&report).context(STDOUT_FAILED)?,
    }
    Ok(exit_code::SUCCESS)
}

fn print(report: &Report) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for ChangeReport { path, change, bytes } in &report.changes {
        let size = bytes.map(|bytes| format!(" ({})", format_bytes(bytes))).unwrap_or_default();
        writeln!(out, "{change:<8} {path}{size}")?;
    }
    writeln!(out, "{} in {} inodes", format_bytes(report.file_bytes), report.inodes)
}

/// Writes the files as a tar stream to standard output.
fn export(from: &SnapshotFile) -> Result<u8> {
    let (_, snapshot) = open(from)?;
    let mut out = io::BufWriter::new(io::stdout().lock());
    snapshot.to_tar(&mut out).and_then(|()| out.flush()).context(STDOUT_FAILED)?;
    Ok(exit_code::SUCCESS)
}
