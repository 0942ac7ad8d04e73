//! What is said on standard error.

use std::cell::Cell;
use std::io::{self, Write};

thread_local! {
    /// Something was said, which the exit code tells.
    static TOLD: Cell<bool> = const { Cell::new(false) };
}

/// Says what is wrong.
pub(crate) fn tell(message: &str) {
    TOLD.set(true);
    // Nobody is left to tell when stderr is closed.
    let _ = writeln!(io::stderr(), "{message}");
}

/// Notes that something is wrong without saying it, for `--no-messages`.
pub(crate) fn note() {
    TOLD.set(true);
}

pub(crate) fn was_told() -> bool {
    TOLD.get()
}

/// An error of the system with the number that Linux gives it.
pub(crate) fn reason(error: &io::Error) -> String {
    let words = tidebox_gnu::message::reason(error);
    // What the walk tells has the path before it once more.
    let words = match words.strip_prefix("IO error for operation on ") {
        Some(told) => told.rsplit(": ").next().unwrap_or(told).to_owned(),
        None => words,
    };
    let number = match words.as_str() {
        "Operation not permitted" => 1,
        "No such file or directory" => 2,
        "Input/output error" => 5,
        "Permission denied" => 13,
        "Not a directory" => 20,
        "Is a directory" => 21,
        "File name too long" => 36,
        "Too many levels of symbolic links" => 40,
        _ => return words,
    };
    format!("{words} (os error {number})")
}

/// An error of the walk: the file, and what is wrong with it.
pub(crate) fn of_walk(error: &ignore::Error) -> String {
    match error {
        ignore::Error::WithPath { path, err } => match err.io_error() {
            Some(io) => format!("{}: {}", path.display(), reason(io)),
            None => format!("{}: {err}", path.display()),
        },
        ignore::Error::WithDepth { err, .. } => of_walk(err),
        error => match error.io_error() {
            Some(io) => reason(io),
            None => error.to_string(),
        },
    }
}
