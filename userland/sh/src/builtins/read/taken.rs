//! What was taken of a line so far.

use super::End;
use super::fields::Line;
use crate::ir::Bytes;

/// What bash has in place of a backslash with nothing behind it.
const DANGLING: u8 = 1;

#[derive(Default)]
pub(super) struct Taken {
    pub(super) text: Bytes,
    quoted: Vec<bool>,
    pub(super) characters: usize,
    /// Bytes that the newest character still lacks.
    missing: u32,
    /// A backslash with nothing behind it ends the text.
    pub(super) dangling: bool,
}

impl Taken {
    pub(super) fn plain(&mut self, byte: u8) {
        self.text.push(byte);
        self.quoted.push(false);
        // A byte that goes on with a character does not start another.
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

    /// The byte behind a backslash; the end of a line is left out with it.
    pub(super) fn escaped(&mut self, byte: u8) {
        match byte {
            b'\n' => return,
            0 => self.dangling = true,
            byte => {
                self.text.push(byte);
                self.quoted.push(true);
            }
        }
        self.characters += 1;
    }

    pub(super) fn line(mut self, end: End) -> Line {
        if self.dangling {
            self.text.push(DANGLING);
            self.quoted.push(true);
        }
        Line { text: self.text, quoted: self.quoted, dangling: self.dangling, end }
    }
}
