//! Messages with names as bytes.

/// Writes a message to standard error in one write. A failure cannot be reported.
pub(crate) fn print_parts(parts: &[&[u8]]) {
    let _ = tidebox_rt::write_all(2, &parts.concat());
}

/// Writes a line to standard error from its prefix and text.
pub(crate) fn print_line(begin: &[u8], parts: &[&[u8]]) {
    print_parts(&[begin, &parts.concat(), b"\n"]);
}

/// Writes to standard output; returns whether it succeeded.
pub(crate) fn show(text: &[u8]) -> Result<(), tidebox_rt::Errno> {
    tidebox_rt::write_all(1, text)
}
