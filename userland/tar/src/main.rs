//! `tar`, compatible with GNU tar.
//!
//! Compressors are separate programs at the other end of a pipe, as in GNU tar, so that messages and exit codes of both are those
//! that scripts expect.

mod archive;
mod change;
mod child;
mod compare;
mod create;
mod date;
mod exclude;
mod extract;
mod header;
mod label;
mod list;
mod message;
mod names;
mod options;
mod pax;
mod quote;
mod reader;
mod scan;
#[cfg(test)]
mod tests;
mod transform;
mod writer;

use std::process::exit;

use message::{Fatal, fatal, status, warn};
use options::{Mode, Options, Stop};

fn main() {
    tidebox_rt::init();
    let code = match options::read(tidebox_gnu::message::arguments()) {
        Ok(options) => run(&options),
        Err(Stop::Print(text)) => match tidebox_rt::write_all(1, text.as_bytes()) {
            Ok(()) => 0,
            Err(_) => 2,
        },
        Err(Stop::Usage(code, message)) => {
            warn(&[message.as_bytes()]);
            // A failure cannot be reported if standard error is closed.
            let _ = tidebox_rt::write_all(2, b"Try 'tar --help' or 'tar --usage' for more information.\n");
            code
        }
        Err(Stop::Invalid(message)) => {
            warn(&[&message]);
            2
        }
        Err(Stop::Fatal(message)) => {
            fatal(&[&message]);
            2
        }
    };
    // Returning is the cheaper way to exit code 0: exiting from inside unwinds the instance.
    if code != 0 {
        exit(code);
    }
}

fn run(options: &Options) -> i32 {
    if options.verbose > u8::from(options.mode == Mode::List) {
        for (option, text, time) in &options.dates {
            let read = date::format(*time);
            if read.as_bytes() != text.as_slice() {
                warn(&[b"Option ", option.as_bytes(), b": Treating date '", text, b"' as ", read.as_bytes()]);
            }
        }
    }
    let result = match options.mode {
        Mode::Create => create::create(options),
        Mode::Extract => extract::extract(options),
        Mode::List => extract::list(options),
        Mode::Compare => compare::compare(options),
        Mode::Append | Mode::Update => change::append(options),
        Mode::Delete => change::delete(options),
        Mode::TestLabel => label::test(options),
    };
    match result {
        Err(Fatal) => 2,
        Ok(()) => {
            if status() == 2 {
                warn(&[b"Exiting with failure status due to previous errors"]);
            }
            status()
        }
    }
}

/// Reports the number of bytes read or written, and the speed since the start.
fn totals(what: &[u8], bytes: u64, began: u64) {
    let elapsed = (tidebox_rt::monotonic_ns().saturating_sub(began) as f64 / 1e9).max(1e-9);
    let (human, rate) = (scaled(bytes as f64), scaled(bytes as f64 / elapsed));
    let line = format!(": {bytes} ({human}B, {rate}B/s)\n");
    // A failure cannot be reported if standard error is closed.
    let _ = tidebox_rt::write_all(2, &[b"Total bytes ", what, line.as_bytes()].concat());
}

/// Formats a number of bytes for people.
fn scaled(bytes: f64) -> String {
    let (mut value, mut unit) = (bytes, "");
    for next in ["Ki", "Mi", "Gi", "Ti"] {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    let value = value.ceil();
    if value < 10.0 && !unit.is_empty() { format!("{value:.1}{unit}") } else { format!("{value:.0}{unit}") }
}
