//! Messages on standard error.

use std::cell::Cell;
use std::io::{self, Write};

thread_local! {
    /// A message was printed, which affects the exit code.
    static PRINTED: Cell<bool> = const { Cell::new(false) };
}

/// Prints an error.
pub(crate) fn print(message: &str) {
    PRINTED.set(true);
    // Ignore the error: a closed stderr leaves no way to report it.
    let _ = writeln!(io::stderr(), "{message}");
}

/// Records an error without printing it, for `--no-messages`.
pub(crate) fn note() {
    PRINTED.set(true);
}

pub(crate) fn was_told() -> bool {
    PRINTED.get()
}

/// A system error with Linux's error number.
pub(crate) fn reason(error: &io::Error) -> String {
    let words = tidebox_gnu::message::error_text(error);
    // Messages of the walk repeat the path.
    let words = match words.strip_prefix("IO error for operation on ") {
        Some(text) => text.rsplit(": ").next().unwrap_or(text).to_owned(),
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

/// An error of the walk: the file and its error.
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
