//! Parser of hunks.

use super::hunk::{Hunk, Line, Mark};
use super::lines::{Lines, Packing};

/// Format of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Unified,
    Context,
    /// Context format with ranges that end in stars, which every current `diff` writes.
    NewContext,
    Normal,
    GitBinary,
}

impl Style {
    /// Name for `--verbose`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Unified => "a unified diff",
            Self::Context => "a context diff",
            Self::NewContext => "a new-style context diff",
            Self::Normal => "a normal diff",
            Self::GitBinary => "a git binary diff",
        }
    }
}

/// Parses the hunks of one patch in order.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) lines: &'a Lines,
    pub(crate) style: Style,
    pub(crate) packing: Packing,
    /// Next line.
    pub(crate) at: usize,
    /// Set if the text ends within a line.
    pub(crate) cut: bool,
}

/// A line range: first line and count, as in a hunk.
type Range = (i64, i64);

impl Reader<'_> {
    /// Returns the next hunk; `None` if the following lines are not a hunk. An error ends the program.
    pub(crate) fn next_hunk(&mut self) -> Result<Option<Hunk>, String> {
        match self.style {
            Style::Unified => self.unified(),
            Style::Context | Style::NewContext => self.context(),
            Style::Normal => self.normal(),
            Style::GitBinary => Ok(None),
        }
    }

    fn peek(&self) -> Option<Vec<u8>> {
        self.lines.get(self.at).map(|line| self.packing.unpack(line))
    }

    fn take(&mut self) -> Option<Vec<u8>> {
        let mut line = self.peek()?;
        self.at += 1;
        if self.at == self.lines.len() && self.lines.ends_within_line() {
            self.cut = true;
            line.pop();
        }
        Some(line)
    }

    fn malformed<T>(&self, line: &[u8]) -> Result<T, String> {
        Err(format!("malformed patch at line {}: {}", self.at, String::from_utf8_lossy(line)))
    }

    /// Parses the marker that the previous line has no line end.
    fn take_incomplete(&mut self, text: &mut Vec<u8>) {
        if self.peek().is_some_and(|line| line.starts_with(b"\\")) {
            self.at += 1;
            text.pop();
        }
    }

    fn unified(&mut self) -> Result<Option<Hunk>, String> {
        let Some(head) = self.peek().filter(|line| line.starts_with(b"@@ -")) else {
            return Ok(None);
        };
        self.at += 1;
        let Some(((old_first, mut old), (new_first, mut new), function)) = unified_head(&head) else {
            let head = String::from_utf8_lossy(&head).into_owned();
            return Err(format!("missing line number at line {}: {head}", self.at));
        };
        let mut lines = Vec::new();
        let mut filled = 0;
        while old > 0 || new > 0 {
            let line = match self.take() {
                Some(line) => line,
                // Mail programs often remove trailing blank lines.
                None if filled < 3 && old == new => {
                    filled += 1;
                    b" \n".to_vec()
                }
                None if filled < 3 => return self.malformed(b" \n"),
                None => return Err("unexpected end of file in patch".to_owned()),
            };
            let (mark, mut text) = match line.first() {
                Some(b'-') => (Mark::Old, tail(&line, 1)),
                Some(b'+') => (Mark::New, tail(&line, 1)),
                Some(b' ') => (Mark::Context, tail(&line, 1)),
                // The space was lost in transit.
                Some(b'\t' | b'\n') => (Mark::Context, line.clone()),
                _ => return self.malformed(&line),
            };
            let (in_old, in_new) = (mark != Mark::New, mark != Mark::Old);
            if in_old && old == 0 || in_new && new == 0 {
                return self.malformed(&line);
            }
            old -= i64::from(in_old);
            new -= i64::from(in_new);
            self.take_incomplete(&mut text);
            lines.push(Line { mark, text });
        }
        Ok(Some(Hunk::new(lines, old_first, new_first, function)))
    }

    fn context(&mut self) -> Result<Option<Hunk>, String> {
        let Some(stars) = self.peek().filter(|line| line.starts_with(b"********")) else {
            return Ok(None);
        };
        let counted = |lines: &[Line], wanted: i64| i64::try_from(lines.len()) == Ok(wanted);
        let begin = self.at;
        self.at += 1;
        let Some(head) = self.take().filter(|line| line.starts_with(b"*** ")) else {
            self.at = begin;
            return Ok(None);
        };
        let Some((old_first, old_count)) = context_range(tail(&head, 4).as_slice()) else {
            return self.malformed(&head);
        };
        let mut old = self.half(old_count, b'-')?;
        let Some(middle) = self.take() else {
            return Err("unexpected end of file in patch".to_owned());
        };
        if !middle.starts_with(b"--- ") {
            return self.malformed(&middle);
        }
        if !old.is_empty() && !counted(&old, old_count) {
            return Err(format!("Premature '---' at line {}; check line numbers at line {}", self.at, begin + 2));
        }
        let Some((new_first, new_count)) = context_range(tail(&middle, 4).as_slice()) else {
            return self.malformed(&middle);
        };
        let mut new = self.half(new_count, b'+')?;
        // A half without changes is omitted; its lines are the context of the other.
        let context =
            |lines: &[Line]| -> Vec<Line> { lines.iter().filter(|line| line.mark == Mark::Context).cloned().collect() };
        if old.is_empty() && old_count > 0 {
            old = context(&new);
        }
        if new.is_empty() && new_count > 0 {
            new = context(&old);
        }
        if !counted(&old, old_count) || !counted(&new, new_count) {
            return Err(format!("replacement text or line numbers mangled in hunk at line {}", begin + 2));
        }
        let function = tail(&stars, 15);
        let function = function.strip_suffix(b"\n").unwrap_or(&function).to_vec();
        match merged(old, new) {
            Some(lines) => Ok(Some(Hunk::new(lines, old_first, new_first, function))),
            None => Err(format!("context mangled in hunk at line {}", begin + 1)),
        }
    }

    /// Parses one half of a hunk in context format, if present.
    fn half(&mut self, count: i64, letter: u8) -> Result<Vec<Line>, String> {
        let mut lines = Vec::new();
        while i64::try_from(lines.len()).is_ok_and(|read| read < count) {
            let Some(line) = self.peek() else {
                break;
            };
            let (mark, mut text) = match line.as_slice() {
                [b'!', b' ' | b'\t', ..] => (if letter == b'-' { Mark::Old } else { Mark::New }, tail(&line, 2)),
                [first, b' ' | b'\t', ..] if *first == letter => {
                    (if letter == b'-' { Mark::Old } else { Mark::New }, tail(&line, 2))
                }
                [b' ', b' ', ..] => (Mark::Context, tail(&line, 2)),
                // The two spaces of an empty line are often lost.
                [b'\n'] | [b' ', b'\n'] => (Mark::Context, b"\n".to_vec()),
                [b'\t' | b' ', ..] => (Mark::Context, tail(&line, 1)),
                // The other half starts too early.
                [b'-', b'-', b'-', b' ', ..] if letter == b'-' => break,
                _ if lines.is_empty() => break,
                _ => {
                    self.at += 1;
                    return self.malformed(&line);
                }
            };
            let _ = self.take();
            self.take_incomplete(&mut text);
            lines.push(Line { mark, text });
        }
        Ok(lines)
    }

    fn normal(&mut self) -> Result<Option<Hunk>, String> {
        let Some(head) = self.peek().filter(|line| line.first().is_some_and(u8::is_ascii_digit)) else {
            return Ok(None);
        };
        let Some((old, command, new)) = normal_head(&head) else {
            return Ok(None);
        };
        self.at += 1;
        let mut lines = Vec::new();
        let count = |(first, last): (i64, i64)| last.saturating_sub(first).saturating_add(1);
        if command != b'a' {
            self.normal_lines(count(old), b'<', Mark::Old, &mut lines)?;
        }
        if command == b'c' {
            let Some(line) = self.take() else {
                return Err("unexpected end of file in patch".to_owned());
            };
            if !line.starts_with(b"---") {
                return Err(format!("'---' expected at line {} of patch", self.at));
            }
        }
        if command != b'd' {
            self.normal_lines(count(new), b'>', Mark::New, &mut lines)?;
        }
        let old_first = old.0 + i64::from(command == b'a');
        let new_first = new.0 + i64::from(command == b'd');
        Ok(Some(Hunk::new(lines, old_first, new_first, Vec::new())))
    }

    fn normal_lines(&mut self, count: i64, sign: u8, mark: Mark, lines: &mut Vec<Line>) -> Result<(), String> {
        for _ in 0..count {
            let Some(line) = self.take() else {
                return Err(format!("unexpected end of file in patch at line {}", self.at));
            };
            if line.first() != Some(&sign) || !matches!(line.get(1), Some(b' ' | b'\t')) {
                return Err(format!(
                    "'{}' followed by space or tab expected at line {} of patch",
                    char::from(sign),
                    self.at
                ));
            }
            let mut text = tail(&line, 2);
            self.take_incomplete(&mut text);
            lines.push(Line { mark, text });
        }
        Ok(())
    }
}

fn tail(line: &[u8], from: usize) -> Vec<u8> {
    line.get(from..).unwrap_or_default().to_vec()
}

/// Combines the halves of a hunk in context format; `None` if their contexts differ.
fn merged(old: Vec<Line>, new: Vec<Line>) -> Option<Vec<Line>> {
    let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
    let mut lines = Vec::new();
    loop {
        while let Some(line) = old.next_if(|line| line.mark == Mark::Old) {
            lines.push(line);
        }
        while let Some(line) = new.next_if(|line| line.mark == Mark::New) {
            lines.push(line);
        }
        match (old.next(), new.next()) {
            (None, None) => return Some(lines),
            (Some(one), Some(other)) if one.text == other.text => lines.push(one),
            _ => return None,
        }
    }
}

/// Parses digits; returns the rest.
pub(crate) fn number(text: &[u8]) -> Option<(i64, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at_checked(digits)?;
    Some((std::str::from_utf8(digits).ok()?.parse().ok()?, rest))
}

/// `FIRST[,COUNT]`. An empty range gives the line before it; the result is the line after it.
fn unified_range(text: &[u8]) -> Option<(Range, &[u8])> {
    let (first, rest) = number(text)?;
    let (count, rest) = match rest.strip_prefix(b",") {
        Some(rest) => number(rest)?,
        None => (1, rest),
    };
    Some(((first.checked_add(i64::from(count == 0))?, count), rest))
}

fn unified_head(line: &[u8]) -> Option<(Range, Range, Vec<u8>)> {
    let (old, rest) = unified_range(line.strip_prefix(b"@@ -")?)?;
    let (new, rest) = unified_range(rest.trim_ascii_start().strip_prefix(b"+")?)?;
    let rest = rest.trim_ascii_start().strip_prefix(b"@")?;
    let function = rest.strip_prefix(b"@").unwrap_or_default();
    Some((old, new, function.strip_suffix(b"\n").unwrap_or(function).to_vec()))
}

fn context_range(text: &[u8]) -> Option<Range> {
    let (first, rest) = number(text.trim_ascii_start())?;
    match rest.strip_prefix(b",") {
        Some(rest) => {
            let (last, _) = number(rest)?;
            let count = last.checked_sub(first)?.checked_add(1)?;
            (count >= 0).then_some((first.checked_add(i64::from(count == 0))?, count))
        }
        None if first == 0 => Some((1, 0)),
        None => Some((first, 1)),
    }
}

/// `1,2c3,4`: the old lines, the letter, the new lines.
pub(crate) fn normal_head(line: &[u8]) -> Option<(Range, u8, Range)> {
    let pair = |text| -> Option<(Range, &[u8])> {
        let (first, rest) = number(text)?;
        match rest.strip_prefix(b",") {
            Some(rest) => number(rest).map(|(last, rest)| ((first, last), rest)),
            None => Some(((first, first), rest)),
        }
    };
    let (old, rest) = pair(line)?;
    let (letter, rest) = rest.split_first()?;
    let (new, _) = pair(rest)?;
    matches!(letter, b'a' | b'c' | b'd').then_some((old, *letter, new))
}
