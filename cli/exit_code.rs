//! Exit codes of the command: all of them are here.

use std::fmt::Write as _;

/// Success of a command that is not `exec`.
pub(crate) const SUCCESS: u8 = 0;

/// Tidebox itself failed, or the command line is invalid, as of `env` and `timeout`. Commands avoid it, so it is unambiguous in
/// practice.
pub(crate) const FAILED: u8 = 125;

/// A command in a session was interrupted by Ctrl-C: 128 and the number of SIGINT, as in shells.
pub(crate) const INTERRUPTED: u8 = 128 + 2;

/// The reader of the output has exited: 128 and the number of SIGPIPE, as in shells.
pub(crate) const OUTPUT_CLOSED: u8 = 128 + 13;

/// The codes and their meaning, for the help and `docs/reference/errors.md`.
const MEANINGS: &[(&str, &str)] = &[
    ("0 to 123", "that of the program; 0 is the success of the other commands"),
    ("124", "the time limit of the command expired"),
    ("125", "tidebox itself failed, or its arguments are invalid; the message is on stderr"),
    ("126", "the file is not a program, or imports what does not exist"),
    ("127", "the command does not exist"),
    ("128 + n", "signal n ended the program, such as 130 after Ctrl-C, 137 for SIGKILL, 141 for SIGPIPE"),
];

/// Returns the table for the help.
pub(crate) fn table() -> String {
    let mut table = String::new();
    for (code, meaning) in MEANINGS {
        writeln!(table, "  {code:<10} {meaning}").expect("writing to a String cannot fail");
    }
    table
}
