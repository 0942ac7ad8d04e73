//! Messages with names as bytes.

use std::cell::Cell;

thread_local! {
    /// Worst error until now.
    static STATUS: Cell<i32> = const { Cell::new(0) };
}

/// Prints a line on standard error. A failure cannot be reported if that is closed.
pub(crate) fn warn(parts: &[&[u8]]) {
    let _ = tidebox_rt::write_all(2, &[b"tar: ", parts.concat().as_slice(), b"\n"].concat());
}

/// Prints an error; the run continues and exits with 2.
pub(crate) fn error(parts: &[&[u8]]) {
    warn(parts);
    STATUS.set(2);
}

/// Prints a difference; the run exits with 1 unless an error occurs.
pub(crate) fn differs(parts: &[&[u8]]) {
    warn(parts);
    note_difference();
}

/// Records a difference.
pub(crate) fn note_difference() {
    STATUS.set(STATUS.get().max(1));
}

/// Exit code of the run until now.
pub(crate) fn status() -> i32 {
    STATUS.get()
}

/// A fatal error that has been reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fatal;

/// Prints a fatal error.
pub(crate) fn fatal(parts: &[&[u8]]) -> Fatal {
    warn(parts);
    warn(&[b"Error is not recoverable: exiting now"]);
    Fatal
}
