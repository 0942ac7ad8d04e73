//! A plain guest that calls every function of `wasi_snapshot_preview1` and records the results.
//!
//! Two hosts that implement WASI the same way produce the same text; the host tests compare ours with another implementation.
//! `probe FD SCENARIO` runs one scenario in the preopened directory FD, `probe FD list` lists them, and `probe FD random SEED
//! STEPS` makes a seeded sequence of calls.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "what it prints is its journal, which tests compare")]

mod journal;
mod random;
mod scenario;
mod sys;
mod text;

use std::process::ExitCode;

use journal::{Fd, Journal};

const USAGE: &str = "usage: probe FD SCENARIO | probe FD list | probe FD random SEED STEPS | probe FD fault NUMBER";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if run(&words).is_some() {
        return ExitCode::SUCCESS;
    }
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

/// Returns `None` if the arguments are invalid.
fn run(words: &[&str]) -> Option<()> {
    let (fd, words) = words.split_first()?;
    let root = Fd::new(fd.parse().ok()?, "root");
    let mut journal = Journal::new();
    match words {
        ["list"] => {
            scenario::SCENARIOS.iter().for_each(|(name, _)| println!("{name}"));
            sys::fault::all().enumerate().for_each(|(number, _)| println!("fault {number}"));
        }
        ["random", seed, steps] => random::play(&journal, &root, seed.parse().ok()?, steps.parse().ok()?),
        ["fault", number] => scenario::fault(&mut journal, &root, number.parse().ok()?)?,
        ["exit", code] => sys::proc_exit(code.parse().ok()?),
        [name] => {
            let (_, play) = scenario::SCENARIOS.iter().find(|(known, _)| known == name)?;
            play(&mut journal, &root);
        }
        _ => return None,
    }
    Some(())
}
