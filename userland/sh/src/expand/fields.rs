//! The fields that words become while they are expanded.

use crate::character;
use crate::ir::Bytes;
use crate::pattern;
use crate::state::Shell;

/// The result of an expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Arguments: unquoted expansions are split, and patterns become names of files.
    Fields,
    /// One string.
    Text,
    /// One pattern, in which quoted text is escaped.
    Pattern,
    /// One regular expression, in which quoted text is escaped.
    Regex,
    /// The replacement of a match, in which an `&` in quoted text does not mean the match.
    Replacement,
}

/// An argument that is being collected.
#[derive(Debug, Default, Clone)]
pub(crate) struct Field {
    pub(crate) text: Bytes,
    /// The text as a pattern, once it holds an unquoted `*`, `?` or `[`.
    pub(crate) glob: Option<Bytes>,
}

/// Collects the parts of a word.
#[derive(Debug)]
pub(crate) struct Out {
    pub(crate) mode: Mode,
    pub(crate) done: Vec<Field>,
    pub(crate) current: Field,
    /// The current field exists even when it is empty, because something in it was quoted.
    pub(crate) present: bool,
    /// The last byte seen was white space that ended a field.
    after_space: bool,
    extended: bool,
    ifs: Option<Bytes>,
}

impl Out {
    pub(crate) fn new(mode: Mode, shell: &Shell) -> Self {
        Self {
            mode,
            done: Vec::new(),
            current: Field::default(),
            present: false,
            after_space: false,
            extended: shell.options.extglob,
            ifs: None,
        }
    }

    /// Handles a change of `IFS`.
    pub(crate) fn forget_ifs(&mut self) {
        self.ifs = None;
    }

    /// Room for `extra` more bytes. Big strings are where a script runs out of memory.
    fn reserve(&mut self, extra: usize) -> Result<(), usize> {
        let text = &mut self.current.text;
        text.try_reserve(extra).map_err(|_| text.len().saturating_add(extra))
    }

    /// Text that was quoted.
    pub(crate) fn quoted(&mut self, text: &[u8]) -> Result<(), usize> {
        self.reserve(text.len())?;
        self.present = true;
        self.after_space = false;
        match self.mode {
            Mode::Fields => {
                self.current.text.extend_from_slice(text);
                if let Some(glob) = &mut self.current.glob {
                    if pattern::needs_backslash(glob, text) {
                        glob.push(b'\\');
                    }
                    pattern::escape_into(glob, text);
                }
            }
            Mode::Text => self.current.text.extend_from_slice(text),
            Mode::Pattern => {
                if pattern::needs_backslash(&self.current.text, text) {
                    self.current.text.push(b'\\');
                }
                pattern::escape_into(&mut self.current.text, text);
            }
            Mode::Replacement => {
                for &byte in text {
                    if matches!(byte, b'&' | b'\\') {
                        self.current.text.push(b'\\');
                    }
                    self.current.text.push(byte);
                }
            }
            Mode::Regex if within_brackets(&self.current.text) => self.current.text.extend_from_slice(text),
            Mode::Regex => {
                for &byte in text {
                    if b"\\.[]{}()*+?^$|".contains(&byte) {
                        self.current.text.push(b'\\');
                    }
                    self.current.text.push(byte);
                }
            }
        }
        Ok(())
    }

    /// Unquoted text of the script itself: never split.
    pub(crate) fn literal(&mut self, text: &[u8]) -> Result<(), usize> {
        self.reserve(text.len())?;
        if !text.is_empty() {
            self.present = true;
            self.after_space = false;
        }
        if self.mode == Mode::Fields {
            self.plain(text);
        } else {
            self.current.text.extend_from_slice(text);
        }
        Ok(())
    }

    /// Unquoted text in a field, which may make it a pattern.
    fn plain(&mut self, text: &[u8]) {
        let field = &mut self.current;
        // A backslash that an expansion yields quotes in a pattern, should the field become one.
        if field.glob.is_none() && (text.contains(&b'\\') || pattern::has_special(text, self.extended)) {
            let mut glob = Bytes::new();
            pattern::escape_into(&mut glob, &field.text);
            field.glob = Some(glob);
        }
        if let Some(glob) = &mut field.glob {
            glob.extend_from_slice(text);
        }
        field.text.extend_from_slice(text);
    }

    /// Adds the result of an unquoted expansion, which is split if arguments are expected.
    pub(crate) fn expanded(&mut self, shell: &Shell, text: &[u8]) -> Result<(), usize> {
        self.reserve(text.len())?;
        if self.mode != Mode::Fields {
            self.current.text.extend_from_slice(text);
            return Ok(());
        }
        if self.ifs.is_none() {
            self.ifs = Some(shell.ifs());
        }
        let ifs = self.ifs.take().unwrap_or_default();
        let mut rest = text;
        let wide = !ifs.is_ascii();
        loop {
            let found = if wide { wide_separator(rest, &ifs) } else { rest.iter().position(|b| ifs.contains(b)) };
            let Some(at) = found else { break };
            let (before, after) = rest.split_at(at);
            if !before.is_empty() {
                self.present = true;
                self.after_space = false;
                self.plain(before);
            }
            let Some(&separator) = after.first() else { break };
            let len = if wide { character::char_len(after) } else { 1 };
            rest = after.get(len..).unwrap_or_default();
            if matches!(separator, b' ' | b'\t' | b'\n') {
                self.end_at_blank();
            } else {
                self.end_at_separator();
            }
        }
        if !rest.is_empty() {
            self.present = true;
            self.after_space = false;
            self.plain(rest);
        }
        self.ifs = Some(ifs);
        Ok(())
    }

    /// Ends the current field, if there is one, at white space that separates fields.
    pub(crate) fn end_at_blank(&mut self) {
        if self.present {
            self.end_field();
            self.after_space = true;
        }
    }

    /// Ends the current field, empty or not, at a separator other than white space. White space that ended the field before
    /// it belongs to the same separator.
    pub(crate) fn end_at_separator(&mut self) {
        if self.present || !self.after_space {
            self.end_field();
        }
        self.after_space = false;
    }

    /// Ends the current field, empty or not.
    pub(crate) fn end_field(&mut self) {
        self.done.push(std::mem::take(&mut self.current));
        self.present = false;
    }

    /// Ends the current field if there is one.
    pub(crate) fn end_present(&mut self) {
        if self.present || !self.current.text.is_empty() {
            self.end_field();
        }
    }
}

/// Returns whether a regular expression ends within brackets, where a backslash would be literal.
fn within_brackets(text: &[u8]) -> bool {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            b'[' => {
                at += if text.get(at + 1) == Some(&b'^') { 2 } else { 1 };
                // A bracket that comes first closes nothing.
                let rest = text.get(at + 1..).unwrap_or_default();
                match rest.iter().position(|&b| b == b']') {
                    Some(close) => at += close + 1,
                    None => return true,
                }
            }
            _ => {}
        }
        at += 1;
    }
    false
}

/// Offset of the first separator if some separators are multibyte characters.
fn wide_separator(text: &[u8], ifs: &[u8]) -> Option<usize> {
    let chars = |text: &'_ [u8]| -> Vec<(usize, usize)> {
        let mut at = 0;
        std::iter::from_fn(|| {
            let len = character::char_len(text.get(at..)?).max(1);
            at += len;
            (at <= text.len()).then_some((at - len, len))
        })
        .collect()
    };
    let separators: Vec<&[u8]> = chars(ifs).into_iter().filter_map(|(at, len)| ifs.get(at..at + len)).collect();
    let is_separator = |(at, len): &(usize, usize)| text.get(*at..at + len).is_some_and(|c| separators.contains(&c));
    chars(text).into_iter().find(is_separator).map(|(at, _)| at)
}
