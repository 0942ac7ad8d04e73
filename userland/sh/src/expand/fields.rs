//! The fields that words become while they are expanded.

use crate::character;
use crate::ir::Bytes;
use crate::pattern;
use crate::state::Shell;

/// How bash marks quoted nothing.
pub(super) const NOTHING: u8 = 0x7f;

/// How bash marks a quoted character. In the pattern of an operator a backslash that an expansion yields takes the mark
/// for what it quotes.
const QUOTED: u8 = 1;

/// What the pieces become.
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
    /// What is put in place of a match, in which quoted text has no `&` that means the match.
    Replacement,
}

/// One argument in the making.
#[derive(Debug, Default, Clone)]
pub(crate) struct Field {
    pub(crate) text: Bytes,
    /// The text as a pattern, once it holds an unquoted `*`, `?` or `[`.
    pub(crate) glob: Option<Bytes>,
}

/// Collects pieces.
#[derive(Debug)]
pub(crate) struct Out {
    pub(crate) mode: Mode,
    pub(crate) done: Vec<Field>,
    pub(crate) current: Field,
    /// The current field exists even when it is empty, because something in it was quoted.
    pub(crate) present: bool,
    /// The last byte seen was white space that ended a field.
    after_space: bool,
    /// A list was expanded in this word.
    listed: bool,
    /// What is expanded is the list that the word begins with, and nothing but white space and what is empty came of it.
    leads: bool,
    /// What is expanded is the body of a here-document.
    pub(crate) document: bool,
    /// Nothing in that document stands for elements. Where something does, all that `*` yields is joined by blanks, but for
    /// what stands between quotes to bash.
    pub(super) keeps_lists: bool,
    /// What is expanded is assigned to a variable, or is a here-string.
    pub(crate) assigned: bool,
    /// Bytes with which bash marks quotes are lost where a list is cut.
    pub(super) loses_marks: bool,
    /// It is the value of an argument, in which blanks join unquoted elements where nothing separates words.
    pub(super) argument: bool,
    /// Elements stand in the same quotes, with which also what `*` yields is kept apart where an operator edits it.
    pub(super) among_elements: bool,
    /// What was expanded last beside them is nothing, not even an empty word.
    pub(super) nothing: bool,
    /// Quoted nothing within an operand leaves a mark, as it does in patterns of `case`.
    pub(super) marks_nothing: bool,
    /// What is expanded is a pattern of `case`, of which quoted elements leave only what comes up to the first of them:
    /// the length of that.
    pub(super) arm: bool,
    pub(super) arm_end: Option<usize>,
    /// What is expanded is the subject of `case`.
    pub(super) subject: bool,
    /// What is expanded is the pattern of an operator such as `%`.
    pub(super) operator: bool,
    /// Elements mean themselves in that pattern, because what it edits stands between double quotes.
    pub(super) quotes_lists: bool,
    /// The text ends with the mark of an empty element.
    marked: bool,
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
            listed: false,
            leads: false,
            document: false,
            keeps_lists: false,
            assigned: false,
            loses_marks: false,
            argument: false,
            among_elements: false,
            nothing: false,
            marks_nothing: false,
            arm: false,
            arm_end: None,
            subject: false,
            operator: false,
            quotes_lists: false,
            marked: false,
            extended: shell.options.extglob,
            ifs: None,
        }
    }

    /// What separates fields has changed.
    pub(crate) fn forget_ifs(&mut self) {
        self.ifs = None;
    }

    /// Room for `extra` more bytes. Big strings are where a script runs out of memory.
    fn reserve(&mut self, extra: usize) -> Result<(), usize> {
        let text = &mut self.current.text;
        text.try_reserve(extra).map_err(|_| text.len().saturating_add(extra))
    }

    /// Notes that an element of several in quotes is empty. It leaves bash's mark in the subject of `case`, and within a
    /// replacement if it is not the first, unless text of the same quotes follows.
    pub(super) fn mark_nothing(&mut self, at: usize) {
        let begins = self.subject && self.current.text.is_empty();
        if begins || (at > 0 && (self.subject || self.mode == Mode::Replacement)) {
            self.current.text.push(NOTHING);
            self.marked = true;
        }
    }

    /// Text that was quoted.
    pub(crate) fn quoted(&mut self, text: &[u8]) -> Result<(), usize> {
        self.reserve(text.len())?;
        if std::mem::take(&mut self.marked) && !matches!(text, [] | b" ") {
            self.current.text.pop();
        }
        self.present = true;
        self.after_space = false;
        match self.mode {
            Mode::Fields => {
                self.current.text.extend_from_slice(text);
                if let Some(glob) = &mut self.current.glob {
                    if pattern::needs_backslash(glob, text) {
                        glob.push(b'\\');
                    }
                    if text.contains(&b'/') && pattern::leaves_open(glob) {
                        // A quoted slash does not end a bracket.
                        text.split_inclusive(|&byte| byte == b'/').for_each(|piece| {
                            let (body, slash) = match piece.split_last() {
                                Some((b'/', body)) => (body, &b"\\/"[..]),
                                _ => (piece, &b""[..]),
                            };
                            pattern::escape_into(glob, body);
                            glob.extend_from_slice(slash);
                        });
                    } else {
                        pattern::escape_into(glob, text);
                    }
                }
            }
            Mode::Text => self.current.text.extend_from_slice(text),
            Mode::Pattern => {
                if self.operator && !text.is_empty() && pattern::ends_in_backslash(&self.current.text) {
                    self.current.text.push(QUOTED);
                } else if pattern::needs_backslash(&self.current.text, text) {
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

    /// The result of an unquoted expansion: split where arguments are wanted.
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

    /// Ends the current field, empty or not, at a separator that is no white space. With white space that ended the field before it is
    /// one separator.
    pub(crate) fn end_at_separator(&mut self) {
        if self.present || !self.after_space {
            self.end_field();
        }
        self.after_space = false;
        self.leads = false;
    }

    /// A list begins, with this: white space that a word begins with is one with a separator behind it, though no field ended at it.
    pub(crate) fn begin_list(&mut self, text: &[u8], ifs: &[u8]) {
        self.leads = !self.listed && self.done.is_empty() && !self.present && self.current.text.is_empty();
        self.listed = true;
        let blank = text.first().is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n') && ifs.contains(byte));
        self.after_space |= self.leads && blank;
    }

    /// As at white space, where it joins elements, of which empty ones may have come first.
    pub(crate) fn end_at_join(&mut self) {
        self.after_space |= self.leads && !self.present && self.done.is_empty();
        self.end_at_blank();
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

/// Whether a regular expression ends within brackets, where a backslash would mean itself.
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

/// Where the first separator is, when some of them take more than one byte.
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
