//! Messages, in which names are bytes.

/// Writes a message to standard error as one piece. Nobody is left to tell when that is closed.
pub(crate) fn tell(parts: &[&[u8]]) {
    let _ = tidebox_rt::write_all(2, &parts.concat());
}

/// Writes a line to standard error: what begins it and what follows.
pub(crate) fn say(begin: &[u8], parts: &[&[u8]]) {
    tell(&[begin, &parts.concat(), b"\n"]);
}

/// Writes to standard output; what cannot be written shows in the answer.
pub(crate) fn show(text: &[u8]) -> Result<(), tidebox_rt::Errno> {
    tidebox_rt::write_all(1, text)
}
