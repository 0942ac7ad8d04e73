//! Line continuations, which come apart from the text before it has tokens: a backslash and a newline may stand within any
//! of them, also within operators and reserved words.

use super::token::{is_meta, is_name_byte};
use super::{Parser, Texts};

/// Returns whether a text has a backslash before a newline.
pub(super) fn has_continuation(text: &[u8]) -> bool {
    text.windows(2).any(|pair| pair == b"\\\n")
}

impl<'a> Parser<'a> {
    /// Removes the continuations from the unquoted part of the next token.
    pub(super) fn join_token(&mut self) {
        let mut operator = false;
        self.join_run(self.pos, |byte| {
            let goes_on = match byte {
                b' ' | b'\t' | b'\n' | b'\'' | b'"' | b'`' | b'\\' => false,
                _ => is_meta(byte) || !operator,
            };
            operator |= is_meta(byte);
            goes_on
        });
    }

    /// Removes the continuations from the expansion that starts at the position.
    pub(super) fn join_dollar(&mut self) {
        let mut opened = None;
        self.join_run(self.pos.saturating_add(1), |byte| match opened {
            None => {
                opened = Some(byte);
                byte == b'{' || byte == b'(' || is_name_byte(byte)
            }
            Some(b'{') => !matches!(byte, b'}' | b'\'' | b'"' | b'`' | b'$' | b'\\' | b'\n'),
            Some(b'(') => {
                opened = Some(b')');
                byte == b'('
            }
            Some(b')') => false,
            Some(_) => is_name_byte(byte),
        });
    }

    /// Removes the continuations from the following closing parentheses.
    pub(super) fn join_closing(&mut self) {
        self.join_run(self.pos, |byte| byte == b')');
    }

    /// Removes the continuations from the bytes starting at `start` that `plain` accepts, and those that follow if more text
    /// does.
    fn join_run(&mut self, start: usize, mut plain: impl FnMut(u8) -> bool) {
        let Some(texts) = self.texts.filter(|_| self.joins) else { return };
        let (mut at, mut joined) = (start, Vec::new());
        // Length of the text before the last continuation to remove, and the offset after it.
        let mut cut: Option<(usize, usize)> = None;
        let mut lines = 0;
        loop {
            let mut after = at;
            while self.slice(after, after.saturating_add(2)) == b"\\\n" {
                after += 2;
            }
            let Some(&byte) = self.src.get(after) else { break };
            if after > at && !matches!(byte, b' ' | b'\t' | b'\n') {
                cut = Some((joined.len(), after));
                lines += (after - at) / 2;
            } else if after > at {
                break;
            }
            at = after;
            if !plain(byte) {
                break;
            }
            joined.push(byte);
            at += 1;
        }
        if let Some((kept, end)) = cut {
            joined.truncate(kept);
            if !self.in_alias() {
                let lines = u32::try_from(lines).unwrap_or(u32::MAX);
                self.line = self.line.saturating_add(lines);
                self.joined = self.joined.saturating_add(lines);
            }
            self.splice(start, end, &joined, texts);
        }
    }

    /// Replaces the bytes from `start` (not before the position) to `end`.
    pub(super) fn splice(&mut self, start: usize, end: usize, with: &[u8], texts: &'a Texts) {
        let (before, after) = (self.slice(0, start), self.slice(end, self.src.len()));
        let text = [before, with, after].concat();
        self.aliases.moved(end - start, with.len(), after.len());
        // Offsets in the following text have changed.
        self.forget_text(start);
        let (text, next) = texts.keep(text);
        self.src = text;
        self.texts = Some(next);
    }
}
