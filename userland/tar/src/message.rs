//! Messages, in which names are bytes.

use std::cell::Cell;

thread_local! {
    /// Whether something went wrong, and how badly.
    static STATUS: Cell<i32> = const { Cell::new(0) };
}

/// A line on standard error. Nobody is left to tell when that is closed.
pub(crate) fn warn(parts: &[&[u8]]) {
    let _ = tidebox_rt::write_all(2, &[b"tar: ", parts.concat().as_slice(), b"\n"].concat());
}

/// A line about something that went wrong; the run goes on and ends with 2.
pub(crate) fn error(parts: &[&[u8]]) {
    warn(parts);
    STATUS.set(2);
}

/// A line about something that differs; the run ends with 1 unless something worse happens.
pub(crate) fn differs(parts: &[&[u8]]) {
    warn(parts);
    note_difference();
}

/// Something differs.
pub(crate) fn note_difference() {
    STATUS.set(STATUS.get().max(1));
}

/// How the run ends so far.
pub(crate) fn status() -> i32 {
    STATUS.get()
}

/// The run cannot go on, and what was to be said is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fatal;

/// Says what cannot be helped.
pub(crate) fn fatal(parts: &[&[u8]]) -> Fatal {
    warn(parts);
    warn(&[b"Error is not recoverable: exiting now"]);
    Fatal
}
