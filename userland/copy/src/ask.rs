//! Questions on the command line.

use std::io::Write;

/// Asks on stderr and reads a line of standard input: whether it begins like a yes.
pub(crate) fn yes(question: &str) -> bool {
    // Without stderr nobody sees the question, and the answer counts all the same.
    let _ = write!(std::io::stderr(), "{question}");
    let mut first = None;
    let mut byte = [0];
    // Byte by byte, because the next question, or the next program, reads the rest.
    while let Ok(1) = tidebox_rt::read(0, &mut byte) {
        if byte == *b"\n" {
            break;
        }
        first = first.or(byte.first().copied());
    }
    matches!(first, Some(b'y' | b'Y'))
}
