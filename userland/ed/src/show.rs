//! Printing lines.

use crate::address::Cursor;
use crate::session::{CommandError, Session, Step};

/// Print suffixes of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Suffix {
    prints: bool,
    numbers: bool,
    /// Shows unprintable characters as escapes, and `$` at the line end.
    unambiguous: bool,
}

impl Suffix {
    pub(crate) fn with(mut self, letter: u8) -> Self {
        self.prints = true;
        match letter {
            b'n' => self.numbers = true,
            b'l' => self.unambiguous = true,
            _ => {}
        }
        self
    }
}

impl Session {
    /// Parses the letters after a command; any other letter is an error.
    pub(crate) fn suffix(&mut self, cursor: &mut Cursor<'_>) -> Result<Suffix, CommandError> {
        let mut suffix = Suffix::default();
        while let Some(letter) = cursor.next() {
            match letter {
                b'l' | b'n' | b'p' => suffix = suffix.with(letter),
                _ => return Err(CommandError::new("Invalid command suffix")),
            }
        }
        Ok(suffix)
    }

    /// Prints the current line if the command requests it.
    pub(crate) fn show_current(&mut self, suffix: Suffix) -> Result<Step, CommandError> {
        let line = self.buffer.current;
        if suffix.prints && line > 0 {
            return self.show(line, line, suffix);
        }
        Ok(Step::Next)
    }

    /// Prints lines. The last of them becomes the current line.
    pub(crate) fn show(&mut self, first: usize, last: usize, suffix: Suffix) -> Result<Step, CommandError> {
        for number in first..=last {
            let Some(line) = self.buffer.line(number).cloned() else {
                return Err(CommandError::new("Invalid address"));
            };
            if suffix.numbers {
                self.out.push(format!("{number}\t").as_bytes());
            }
            if suffix.unambiguous {
                self.out.push(&escaped(&line));
            } else {
                self.out.push(&line);
                self.out.push(b"\n");
            }
            self.buffer.current = number;
        }
        Ok(Step::Next)
    }
}

/// Width at which `l` folds lines.
const WIDTH: usize = 72;

fn escaped(line: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut column = 0;
    for byte in line {
        let text = match byte {
            7 => "\\a".to_owned(),
            8 => "\\b".to_owned(),
            12 => "\\f".to_owned(),
            10 => "\\n".to_owned(),
            13 => "\\r".to_owned(),
            9 => "\\t".to_owned(),
            11 => "\\v".to_owned(),
            b'$' => "\\$".to_owned(),
            b'\\' => "\\\\".to_owned(),
            32..=126 => char::from(*byte).to_string(),
            byte => format!("\\{byte:03o}"),
        };
        if column + text.len() > WIDTH - 1 {
            out.extend_from_slice(b"\\\n");
            column = 0;
        }
        column += text.len();
        out.extend_from_slice(text.as_bytes());
    }
    out.extend_from_slice(b"$\n");
    out
}
