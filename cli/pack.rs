//! `tidebox pack`: optional runtimes.

use std::io::{self, Write as _};
use std::path::Path;

use crate::{PackState, Packs};
use anyhow::{Context as _, Result, bail};

use crate::cli::args::PackCommand;
use crate::cli::exit_code;
use crate::cli::output::{STDOUT_FAILED, print_json};
use crate::cli::progress::ProgressDisplay;
use crate::cli::sandbox;

/// Adds a pack whose wheels are shipped, and shows its progress on standard error, for
/// [`set_pack_support`](crate::set_pack_support). Waits for its end, also on a thread of a Tokio runtime.
///
/// # Errors
/// Those of [`Packs::add`].
pub fn prepare_pack(name: &str) -> crate::Result<()> {
    let failed = |message: String| crate::Error::new(crate::ErrorKind::Engine, "pack", message);
    let work = || {
        let runtime = sandbox::runtime().map_err(|error| failed(format!("{error:#}")))?;
        let display = ProgressDisplay::start(&format!("tidebox: first use of {name}"));
        runtime.block_on(Packs::user().add(name, &[], |event| display.report(event)))
    };
    // A thread of a Tokio runtime cannot wait for another runtime.
    std::thread::scope(|scope| scope.spawn(work).join()).unwrap_or_else(|_| {
        Err(failed(format!("the preparation of the pack {name} panicked; this is a bug in tidebox")))
    })
}

/// Writes the wheels of a pack.
fn ship(name: &str, dir: &Path) -> Result<u8> {
    let display = ProgressDisplay::start(name);
    Packs::user().ship(name, dir, |event| display.report(event))?;
    Ok(0)
}

/// Runs `tidebox pack`.
pub(crate) fn pack(command: PackCommand) -> Result<u8> {
    match command {
        PackCommand::Add { name, mut with, from } => {
            with.retain(|package| !package.is_empty());
            match from {
                Some(from) => add_from(&name, &with, &from),
                None => add(&name, &with),
            }
        }
        PackCommand::List { json: true } => list_json(),
        PackCommand::List { json: false } => list(),
        PackCommand::Ship { name, dir } => ship(&name, &dir),
        PackCommand::Remove { name } => {
            if !Packs::user().remove(&name)? {
                bail!("the pack {name} is not installed");
            }
            eprintln!("removed the pack {name}");
            Ok(0)
        }
    }
}

/// Installs a pack, unless it is installed with all requested packages.
fn add(name: &str, with: &[String]) -> Result<u8> {
    let packs = Packs::user();
    let installed = packs.list().into_iter().find(|state| state.name == name && state.ready);
    if installed.is_some_and(|state| with.iter().all(|package| state.with.contains(package))) {
        // Another version of Tidebox may have installed it.
        packs.compile(name)?;
        eprintln!("the pack {name} is ready");
        return Ok(0);
    }
    let display = ProgressDisplay::start(name);
    let added = sandbox::runtime()?.block_on(packs.add(name, with, |event| display.report(event)));
    // Ends the line before the result is written.
    drop(display);
    added?;
    eprintln!("the pack {name} is ready");
    Ok(0)
}

/// Installs a program from its wheel, also if another one is installed.
fn add_from(name: &str, with: &[String], from: &Path) -> Result<u8> {
    if !with.is_empty() {
        bail!("--with and --from exclude each other");
    }
    Packs::user().add_program(name, Some(from))?;
    eprintln!("the pack {name} is ready");
    Ok(0)
}

/// An element of the array of `--json`.
#[derive(serde::Serialize)]
struct PackReport {
    name: &'static str,
    version: &'static str,
    about: &'static str,
    state: &'static str,
    with: Vec<String>,
}

fn list_json() -> Result<u8> {
    let report = |state: PackState| PackReport {
        name: state.name,
        version: state.version,
        about: state.about,
        state: match (state.ready, state.ready_on_use) {
            (true, _) => "ready",
            (false, true) => "prepared_on_first_use",
            (false, false) => "not_installed",
        },
        with: state.with,
    };
    print_json(&Packs::user().list().into_iter().map(report).collect::<Vec<_>>())?;
    Ok(exit_code::SUCCESS)
}

fn list() -> Result<u8> {
    print(&Packs::user().list()).context(STDOUT_FAILED)?;
    Ok(exit_code::SUCCESS)
}

fn print(states: &[PackState]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for state in states {
        let ready = match (state.ready, state.ready_on_use) {
            (true, _) => "ready",
            (false, true) => "prepared on first use",
            (false, false) => "not installed",
        };
        write!(out, "{}\t{}\t{ready}\t{}", state.name, state.version, state.about)?;
        if !state.with.is_empty() {
            write!(out, ", with {}", state.with.join(", "))?;
        }
        writeln!(out)?;
    }
    Ok(())
}
