//! Fuzz targets for the parsers of the shell.

/// The first byte selects the parser for the rest.
pub(crate) fn parser(input: &[u8]) {
    let [how, text @ ..] = input else { return };
    tidebox_fuzz_shell::parse(text, how & 1 != 0, how & 2 != 0);
}

pub(crate) fn expansion(input: &[u8]) {
    tidebox_fuzz_shell::expand(input.get(..4096).unwrap_or(input));
}

/// A pattern or regular expression, a newline and a text. Matching takes time that grows with both.
pub(crate) fn matching(input: &[u8]) {
    let at = input.iter().position(|byte| *byte == b'\n').unwrap_or(input.len() / 2);
    let (pattern, text) = input.split_at(at);
    // The shell limits nested groups by ending the whole process.
    if pattern.iter().filter(|byte| **byte == b'(').count() < 100 {
        tidebox_fuzz_shell::matching(pattern.get(..300).unwrap_or(pattern), text.get(..300).unwrap_or(text));
    }
}

pub(crate) fn session(input: &[u8]) {
    let _ = tidebox_fuzz_shell::session(input);
}
