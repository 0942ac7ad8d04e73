//! `tidebox pack`: optional runtimes.

use std::io::{self, Write as _};
use std::path::Path;

use crate::Packs;
use anyhow::{Result, bail};

use crate::cli::args::PackCommand;
use crate::cli::progress::ProgressDisplay;
use crate::cli::sandbox;

/// Runs `tidebox pack`.
pub(crate) fn pack(command: PackCommand) -> Result<u8> {
    match command {
        PackCommand::Add { name, with, from: Some(from) } => add_from(&name, &with, &from),
        PackCommand::Add { name, with, from: None } => add(&name, &with),
        PackCommand::List => list(),
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

fn list() -> Result<u8> {
    let mut out = io::stdout().lock();
    for state in Packs::user().list() {
        let ready = if state.ready { "ready" } else { "not installed" };
        write!(out, "{}\t{}\t{ready}\t{}", state.name, state.version, state.about)?;
        if !state.with.is_empty() {
            write!(out, ", with {}", state.with.join(", "))?;
        }
        writeln!(out)?;
    }
    Ok(0)
}
