//! Recording of the lines of a command as one entry of the list.

use crate::state::Shell;

/// Position of a line in its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinePosition {
    First,
    Later,
    /// Within a quotation or a here-document.
    Literal,
}

impl Shell {
    /// Records a line that was read.
    pub(crate) fn record_line(&mut self, line: &[u8], position: LinePosition) {
        let text = line.strip_suffix(b"\n").unwrap_or(line);
        if !text.is_empty() || position == LinePosition::Literal {
            self.add_line(text, position);
        }
    }

    /// Adds a line to the list as an entry, or to the entry of its command.
    fn add_line(&mut self, line: &[u8], position: LinePosition) {
        if position == LinePosition::First {
            self.history.added = false;
            if self.admits(line) {
                self.history.push(line.to_vec());
            }
        } else if self.history.added && !self.options.cmdhist {
            self.history.push(line.to_vec());
        } else if self.history.added
            && let Some(entry) = self.history.entries.back_mut()
        {
            let continued = entry.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1;
            if position == LinePosition::Literal || self.options.lithist {
                entry.push(b'\n');
            } else if continued {
                entry.pop();
            } else {
                entry.extend_from_slice(separator(entry, line));
            }
            entry.extend_from_slice(line);
        }
    }
}

/// Words that a semicolon must not follow.
const OPENERS: &[&str] = &["then", "do", "else", "elif", "if", "while", "until", "in", "!", "time"];

/// The separator between two lines of an entry. A newline is always valid; a semicolon is used only if it is valid too.
fn separator(before: &[u8], line: &[u8]) -> &'static [u8] {
    let has = |text: &[u8]| before.windows(text.len()).any(|part| part == text);
    let (before, line) = (before.trim_ascii(), line.trim_ascii());
    let last = before.rsplit(u8::is_ascii_whitespace).next().unwrap_or_default();
    let first = line.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    if has(b"#") || has(b"<<") || has(b"[[") || has(b"((") || has(b"=(") || line.starts_with(b"{") {
        return b"\n";
    }
    let opens = OPENERS.iter().any(|word| word.as_bytes() == last);
    let count = |byte: u8| before.iter().filter(|&&other| other == byte).count();
    match (before.last(), line.first()) {
        // The pattern of a `case` arm.
        (Some(b')'), _) if count(b'(') < count(b')') => b" ",
        (Some(b')'), _) | (_, Some(b'(')) => b"\n",
        (Some(b';' | b'&' | b'|' | b'{' | b'('), _) | (_, Some(b';' | b'&' | b'|')) => b" ",
        _ if opens || first == b"in" => b" ",
        _ => b"; ",
    }
}
