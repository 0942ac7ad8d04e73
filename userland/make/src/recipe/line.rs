//! Parsing of recipe lines.

use crate::words::{is_blank, reference_length};

/// Prefixes of a recipe line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    /// `@`
    pub(super) silent: bool,
    /// `-`
    pub(super) ignore: bool,
    /// `+`, or the line calls make.
    pub(super) recursive: bool,
}

impl Flags {
    /// Parses the prefix characters. Returns the rest.
    pub(super) fn read<'l>(&mut self, line: &'l [u8]) -> &'l [u8] {
        let mut rest = line;
        while let Some((first, behind)) = rest.split_first() {
            match first {
                b'@' => self.silent = true,
                b'-' => self.ignore = true,
                b'+' => self.recursive = true,
                byte if is_blank(*byte) || *byte == b'\n' => {}
                _ => break,
            }
            rest = behind;
        }
        rest
    }
}

/// Returns whether a recipe line calls make.
pub(super) fn calls_make(line: &[u8]) -> bool {
    let mut flags = Flags::default();
    flags.read(line);
    flags.recursive
        || memchr::memmem::find(line, b"$(MAKE)").is_some()
        || memchr::memmem::find(line, b"${MAKE}").is_some()
}

/// A line as passed to expansion: without the tab of a continued line; inside references, continuation becomes a space.
pub(super) fn continued(line: &[u8], prefix: u8) -> Vec<u8> {
    let mut out = Vec::with_capacity(line.len());
    let mut at = 0;
    while let Some(byte) = line.get(at).copied() {
        if byte == b'$' && matches!(line.get(at + 1), Some(b'(' | b'{')) {
            let length = reference_length(line.get(at..).unwrap_or_default());
            out.extend(crate::source::collapsed(line.get(at..at + length).unwrap_or_default()));
            at += length;
            continue;
        }
        out.push(byte);
        at += 1;
        if byte == b'\n' && line.get(at) == Some(&prefix) {
            at += 1;
        }
    }
    out
}

/// The lines of a text; a newline after a backslash does not end a line.
pub(super) fn unescaped_lines(text: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let mut from = 0;
    let mut slashes = 0;
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'\\' => slashes += 1,
            b'\n' if slashes % 2 == 0 => {
                lines.push(text.get(from..at).unwrap_or_default());
                from = at + 1;
                slashes = 0;
            }
            _ => slashes = 0,
        }
    }
    lines.push(text.get(from..).unwrap_or_default());
    lines
}
