//! Command line for ripgrep's libraries. Single-threaded, so the file order is deterministic.

mod message;
mod options;
mod output;
mod perl;
mod search;
#[cfg(test)]
mod tests;
mod usage;
mod walk;

use std::io::Write;

use options::{Mode, Options, Request};

/// Exit code of an error.
const TROUBLE: i32 = 2;

fn main() {
    tidebox_rt::init_for_std_output();
    std::process::exit(run());
}

fn run() -> i32 {
    let options = match options::parse(tidebox_gnu::message::arguments()) {
        Ok(Request::Run(options)) => *options,
        Ok(Request::Print(text)) => {
            let mut out = std::io::stdout();
            return i32::from(out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err()) * TROUBLE;
        }
        Err(message) => {
            message::print(&message);
            return TROUBLE;
        }
    };
    let result = match options.mode {
        Mode::Types => output::types(&options).map(|()| true),
        Mode::Files => walk::list(&options),
        Mode::Search => search::all(&options),
    };
    match result {
        Ok(matched) => code(&options, matched),
        Err(message) if message.is_empty() => 0,
        Err(message) => {
            message::print(&message);
            TROUBLE
        }
    }
}

/// The exit code: errors take precedence over matches, unless `--quiet` found a match.
fn code(options: &Options, matched: bool) -> i32 {
    match (matched, message::was_told()) {
        (true, false) => 0,
        (true, true) if options.quiet => 0,
        (_, true) => TROUBLE,
        (false, false) => 1,
    }
}
