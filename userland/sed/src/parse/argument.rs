//! Texts of `a`, `i` and `c`, and delimited arguments.

use super::{Parser, Result};
use crate::script::Action;

impl Parser<'_> {
    /// Reads the text up to the delimiter; `None` if the script ends before. A backslash quotes the delimiter; in a pattern,
    /// brackets also do.
    pub(super) fn delimited(&mut self, delimiter: u8, pattern: bool) -> Result<Option<Vec<u8>>> {
        let mut source = Vec::new();
        loop {
            let Some(byte) = self.next() else { return Ok(None) };
            match byte {
                b'\n' if pattern => return Ok(None),
                byte if byte == delimiter => return Ok(Some(source)),
                b'[' if pattern => {
                    source.push(byte);
                    if self.bracket(&mut source).is_none() {
                        return Ok(None);
                    }
                }
                b'\\' => match self.next() {
                    None => return Ok(None),
                    Some(escaped) => self.escaped(escaped, delimiter, pattern, &mut source)?,
                },
                byte => source.push(byte),
            }
        }
    }

    /// Copies an escaped character.
    fn escaped(&mut self, escaped: u8, delimiter: u8, pattern: bool, source: &mut Vec<u8>) -> Result<()> {
        match escaped {
            escaped if escaped == delimiter && escaped != b'\\' => {
                // As in GNU sed, an escaped delimiter has its meaning without the backslash.
                if !pattern && (escaped == b'&' || escaped.is_ascii_digit()) {
                    source.extend_from_slice(&[b'\\', escaped]);
                } else {
                    source.push(escaped);
                }
            }
            b'\n' if pattern => source.push(b'\n'),
            b'n' if pattern => source.push(b'\n'),
            b'c' if self.peek() == Some(delimiter) => source.extend_from_slice(b"\\c"),
            b'c' if self.peek() == Some(b'\\') => {
                self.next();
                if self.peek() != Some(b'\\') {
                    self.next();
                    while self.next().is_some_and(|byte| byte != b'\n') {}
                    return self.error("recursive escaping after \\c not allowed");
                }
                self.next();
                source.push(b'\\' ^ 64);
            }
            // In posix mode, GNU extensions are ordinary characters.
            b'+' | b'?' if pattern && self.options.posix && !self.options.extended => {
                source.extend_from_slice(&[b'[', escaped, b']']);
            }
            b'|' if pattern && self.options.posix && !self.options.extended => source.push(escaped),
            b'w' | b'W' | b's' | b'S' | b'b' | b'B' | b'<' | b'>' | b'`' | b'\'' if pattern && self.options.posix => {
                source.push(escaped);
            }
            escaped => self.escape(escaped, pattern, source),
        }
        Ok(())
    }

    /// Copies a bracket expression, in which delimiters are ordinary.
    fn bracket(&mut self, source: &mut Vec<u8>) -> Option<()> {
        if self.peek() == Some(b'^') {
            source.push(self.next()?);
        }
        if self.peek() == Some(b']') {
            source.push(self.next()?);
        }
        loop {
            let byte = self.next()?;
            match (byte, self.peek()) {
                (b'\n', _) => return None,
                (b']', _) => {
                    source.push(byte);
                    return Some(());
                }
                (b'[', Some(kind @ (b':' | b'.' | b'='))) => {
                    source.extend_from_slice(&[byte, kind]);
                    self.next();
                    let mut before = 0;
                    loop {
                        let inner = self.next()?;
                        source.push(inner);
                        if before == kind && inner == b']' {
                            break;
                        }
                        before = inner;
                    }
                }
                // GNU sed resolves these escapes in bracket expressions, unlike POSIX.
                (b'\\', Some(b'n')) => {
                    self.next();
                    source.push(b'\n');
                }
                (b'\\', Some(letter @ (b'a' | b'c' | b'd' | b'f' | b'o' | b'r' | b't' | b'v' | b'x'))) => {
                    self.next();
                    source.push(self.escaped_byte(letter).unwrap_or(letter));
                }
                // The second one does not start an escape.
                (b'\\', Some(b'\\')) => {
                    self.next();
                    source.extend_from_slice(b"\\\\");
                }
                _ => source.push(byte),
            }
        }
    }

    /// Copies an escape, resolving those for a single character.
    pub(super) fn escape(&mut self, letter: u8, pattern: bool, out: &mut Vec<u8>) {
        let Some(byte) = self.escaped_byte(letter) else { return out.extend_from_slice(&[b'\\', letter]) };
        // A resolved escape is never an operator.
        if pattern && is_special(byte) {
            out.extend_from_slice(&[b'[', byte, b']']);
        } else if !pattern && matches!(byte, b'&' | b'\\') {
            out.extend_from_slice(&[b'\\', byte]);
        } else {
            out.push(byte);
        }
    }

    /// The character for an escape letter, and the rest.
    fn escaped_byte(&mut self, letter: u8) -> Option<u8> {
        match letter {
            b'a' => Some(7),
            b'f' => Some(12),
            b't' => Some(b'\t'),
            b'v' => Some(11),
            b'r' => Some(b'\r'),
            b'd' => self.digits(3, 10),
            b'o' => self.digits(3, 8),
            b'x' => self.digits(2, 16),
            b'c' if self.peek().is_some() => Some(self.next().unwrap_or(0).to_ascii_uppercase() ^ 64),
            _ => None,
        }
    }

    fn digits(&mut self, most: usize, base: u32) -> Option<u8> {
        let digit = |byte: u8| char::from(byte).to_digit(base);
        let mut value = None;
        for _ in 0..most {
            let Some(next) = self.peek().and_then(digit) else {
                break;
            };
            value = Some(value.unwrap_or(0u32) * base + next);
            self.next();
        }
        value.map(|value| (value & 255) as u8)
    }

    /// The text of `a`, `i` and `c`: on the same line, or on the lines after a backslash.
    pub(super) fn text(&mut self, letter: u8) -> Result<Action> {
        self.skip_blanks();
        let mut begun = false;
        if self.peek().is_none() {
            return self.error("expected \\ after `a', `c' or `i'");
        }
        if self.peek() == Some(b'\\') {
            self.next();
            // Blanks after the backslash count, unless the line ends there.
            let blanks = self.rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            if self.rest.get(blanks) == Some(&b'\n') {
                (0..=blanks).for_each(|_| {
                    self.next();
                });
                // The next line exists, even if it is empty and the last.
                begun = self.peek().is_none();
            }
        }
        let mut text = Vec::new();
        if begun {
            text.push(b'\n');
        } else {
            self.text_lines(&mut text);
        }
        if !begun && self.ends_in_backslash {
            self.pending = Some(self.script.commands.len());
        }
        Ok(match letter {
            b'a' => Action::Append(text),
            b'i' => Action::Insert(text),
            _ => Action::Change(text),
        })
    }

    /// Lines up to the first one that does not end in a backslash, with a newline.
    fn text_lines(&mut self, text: &mut Vec<u8>) {
        self.ends_in_backslash = self.rest.is_empty();
        while let Some(byte) = self.next() {
            match byte {
                b'\n' => {
                    text.push(b'\n');
                    return;
                }
                b'\\' => match self.next() {
                    Some(b't') => text.push(b'\t'),
                    Some(b'n') => text.push(b'\n'),
                    Some(kept) => text.push(kept),
                    None => self.ends_in_backslash = true,
                },
                byte => text.push(byte),
            }
        }
        // A text that ends directly in a backslash is missing, unless the next fragment continues it.
        if !(text.is_empty() && self.ends_in_backslash) {
            text.push(b'\n');
        }
    }

    /// Continues a text whose fragment ended in a backslash.
    pub(super) fn continue_text(&mut self, command: usize) {
        let mut more = Vec::new();
        self.text_lines(&mut more);
        if let Some(Action::Append(text) | Action::Insert(text) | Action::Change(text)) =
            self.script.commands.get_mut(command).map(|found| &mut found.action)
        {
            text.extend_from_slice(&more);
        }
        self.pending = self.ends_in_backslash.then_some(command);
    }
}

/// Returns whether a character is special in a pattern outside brackets.
fn is_special(byte: u8) -> bool {
    b"*.[$|+?(){}".contains(&byte)
}
