//! The part of a line that was read.

use super::End;
use super::fields::Line;
use crate::ir::Bytes;

#[derive(Default)]
pub(super) struct PartialLine {
    pub(super) text: Bytes,
    quoted: Vec<bool>,
    pub(super) characters: usize,
    /// Bytes that the newest character still lacks.
    missing: u32,
}

impl PartialLine {
    pub(super) fn plain(&mut self, byte: u8) {
        self.text.push(byte);
        self.quoted.push(false);
        // A continuation byte does not start another character.
        self.missing = match byte {
            _ if crate::character::in_bytes() => 0,
            0x80..=0xbf if self.missing > 0 => self.missing - 1,
            0xc2..=0xdf => 1,
            0xe0..=0xef => 2,
            0xf0..=0xf4 => 3,
            _ => 0,
        };
        self.characters += usize::from(self.missing == 0);
    }

    /// The byte after a backslash; an escaped newline is removed.
    pub(super) fn escaped(&mut self, byte: u8) {
        match byte {
            b'\n' => return,
            byte => {
                self.text.push(byte);
                self.quoted.push(true);
            }
        }
        self.characters += 1;
    }

    pub(super) fn line(self, end: End) -> Line {
        Line { text: self.text, quoted: self.quoted, end }
    }
}
