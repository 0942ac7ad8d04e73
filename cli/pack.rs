//! `tidebox pack`: optional runtimes.

use std::io::{self, Write as _};
use std::time::Instant;

use anyhow::{Result, bail};
use tidebox::Packs;

use crate::arguments::PackCall;
use crate::session;

/// Does what was asked of packs.
pub(crate) fn pack(call: PackCall) -> Result<u8> {
    match call {
        PackCall::Add { name, with } => add(&name, &with),
        PackCall::List => list(),
        PackCall::Remove { name } => {
            if !Packs::user().remove(&name)? {
                bail!("the pack {name} is not here");
            }
            eprintln!("removed the pack {name}");
            Ok(0)
        }
    }
}

/// Adds a pack that is not there yet, or not with all that was asked for.
fn add(name: &str, with: &[String]) -> Result<u8> {
    let packs = Packs::user();
    let there = packs.list().into_iter().find(|state| state.name == name && state.ready);
    if there.is_some_and(|state| with.iter().all(|wanted| state.with.contains(wanted))) {
        eprintln!("the pack {name} is ready");
        return Ok(0);
    }
    let mut step = Instant::now();
    let progress = |what: &str| {
        let seconds = std::mem::replace(&mut step, Instant::now()).elapsed().as_secs();
        match seconds {
            0 => eprintln!("{name}: {what}"),
            seconds => eprintln!("{name}: {what} (the step before took {seconds} s)"),
        }
    };
    session::runtime()?.block_on(packs.add(name, with, progress))?;
    eprintln!("the pack {name} is ready");
    Ok(0)
}

fn list() -> Result<u8> {
    let mut out = io::stdout().lock();
    for state in Packs::user().list() {
        let ready = if state.ready { "ready" } else { "not added" };
        write!(out, "{}\t{}\t{ready}\t{}", state.name, state.version, state.about)?;
        if !state.with.is_empty() {
            write!(out, ", with {}", state.with.join(", "))?;
        }
        writeln!(out)?;
    }
    Ok(0)
}
