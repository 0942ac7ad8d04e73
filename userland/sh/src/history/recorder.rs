//! Recording of the lines of a command as one entry of the list.

use super::expand::Expanded;
use crate::ir::Bytes;
use crate::state::Shell;

/// Position of a line in its command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinePosition {
    First,
    Later,
    /// Within a quotation that this byte closes.
    Quoted(u8),
    /// Within a here-document.
    Document,
}

impl LinePosition {
    /// Returns whether the newline before the line is part of a text.
    fn is_literal(self) -> bool {
        matches!(self, Self::Quoted(_) | Self::Document)
    }
}

impl Shell {
    /// Returns whether the current command is recorded; commands of `eval` and traps are not.
    pub(crate) fn records_commands(&self) -> bool {
        self.options.history && (self.flow.trace_depth == 0 || self.history.substitutions > 0)
    }

    /// Expands the history references of a line and records it. Returns the line to run, if any.
    pub(crate) fn record_line(&mut self, line: Bytes, position: LinePosition) -> Option<Bytes> {
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        if text.is_empty() && !position.is_literal() {
            return Some(line);
        }
        if text.is_empty() || position == LinePosition::Document || !self.options.histexpand {
            self.add_line(text, position);
            return Some(line);
        }
        let mut text = self.expand_read_line(text, position)?;
        self.add_line(&text, position);
        if line.ends_with(b"\n") {
            text.push(b'\n');
        }
        Some(text)
    }

    /// Replaces the history references of a line that was read. Returns `None` if the line must not run.
    fn expand_read_line(&mut self, text: &[u8], position: LinePosition) -> Option<Bytes> {
        let quotation = if let LinePosition::Quoted(quote) = position { Some(quote) } else { None };
        // Later lines refer to the entries before their own command.
        let own = position != LinePosition::First && self.history.added && self.options.cmdhist;
        match self.expand_history(text, quotation, usize::from(own)) {
            Err(message) => {
                self.report_error(message);
                None
            }
            Ok(Expanded::Same) => Some(text.to_vec()),
            Ok(Expanded::Print(text)) => {
                self.show_expanded(&text);
                if !text.is_empty() {
                    self.add_line(&text, position);
                }
                None
            }
            // Without line editing the user cannot verify and submit the line.
            Ok(Expanded::Line(_)) if self.options.histverify => None,
            Ok(Expanded::Line(text)) => {
                self.show_expanded(&text);
                Some(text)
            }
        }
    }

    fn show_expanded(&mut self, text: &[u8]) {
        self.io.flush();
        // A closed standard error is ignored.
        let _ = self.io.write(2, &[text, b"\n"].concat());
    }

    /// Adds a line to the list as an entry, or to the entry of its command.
    pub(crate) fn add_line(&mut self, line: &[u8], position: LinePosition) {
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
            let continued = entry.text.iter().rev().take_while(|&&byte| byte == b'\\').count() % 2 == 1;
            if position.is_literal() || self.options.lithist {
                entry.text.push(b'\n');
            } else if continued {
                entry.text.pop();
            } else {
                entry.text.extend_from_slice(separator(&entry.text, line));
            }
            entry.text.extend_from_slice(line);
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
