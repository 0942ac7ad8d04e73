//! Prompts on the terminal.

use std::io::Write;

use tidebox_gnu::message::quote_path;
use tidebox_rt::{FileKind, Stat};

/// Prints a question on stderr and reads a line of standard input. Returns true if it starts with `y` or `Y`.
pub(crate) fn yes(question: &str) -> bool {
    // If stderr is closed, the reply is still read.
    let _ = write!(std::io::stderr(), "{question}");
    let mut first = None;
    let mut byte = [0];
    // Byte by byte, because the rest belongs to the next question or program.
    while let Ok(1) = tidebox_rt::read(0, &mut byte) {
        if byte == *b"\n" {
            break;
        }
        first = first.or(byte.first().copied());
    }
    matches!(first, Some(b'y' | b'Y'))
}

/// Returns the prompt before a file is replaced.
pub(crate) fn question(tool: &str, to: &[u8], old: &Stat, force: bool) -> String {
    if old.kind() != FileKind::Symlink && tidebox_rt::access(to, 2).is_err() {
        let mode = old.mode & 0o7777;
        let letters = tidebox_gnu::mode::letters(old.mode);
        let letters = letters.get(1..).unwrap_or_default();
        return match force {
            true => format!("{tool}: replace {}, overriding mode {mode:04o} ({letters})? ", quote_path(to)),
            false => format!("{tool}: unwritable {} (mode {mode:04o}, {letters}); try anyway? ", quote_path(to)),
        };
    }
    format!("{tool}: overwrite {}? ", quote_path(to))
}
