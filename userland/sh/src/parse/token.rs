//! Tokens between words: blanks, comments, operators, reserved words.

use super::{Parse, Parser, SyntaxError, SyntaxErrorKind};

/// Operators, the longest first.
const OPERATORS: &[&[u8]] = &[
    b";;&", b"<<<", b"<<-", b"&>>", b"&&", b"||", b";;", b";&", b"|&", b"<<", b">>", b"<&", b">&", b"<>", b">|", b"&>",
    b"&", b"|", b";", b"<", b">", b"(", b")",
];

/// Reserved words, in the order in which `compgen -k` lists them.
pub(crate) const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do", "done", "in",
    "function", "time", "{", "}", "!", "[[", "]]", "coproc",
];

/// Returns whether a word is reserved.
pub(crate) fn is_reserved(word: &[u8]) -> bool {
    RESERVED.iter().any(|reserved| reserved.as_bytes() == word)
}

/// Returns whether a byte ends an unquoted word.
pub(super) fn is_meta(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
}

/// Returns whether a byte may start the name of a variable.
pub(crate) fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// Returns whether a byte may continue the name of a variable.
pub(crate) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Length of the variable name at the start of `text`, or 0.
pub(crate) fn name_len(text: &[u8]) -> usize {
    if !text.first().is_some_and(|&b| is_name_start(b)) {
        return 0;
    }
    text.iter().position(|&b| !is_name_byte(b)).unwrap_or(text.len())
}

impl Parser<'_> {
    /// Skips blanks, line continuations and a comment up to the next token of the grammar: without
    /// line continuations, and with its text when it is an alias after one that ended with a blank.
    pub(super) fn skip_blanks(&mut self) {
        self.skip_spaces();
        while self.alias_after_blank() {
            self.skip_spaces();
        }
    }

    pub(super) fn skip_spaces(&mut self) {
        self.skip_to_token();
        if self.joins {
            self.join_token();
        }
    }

    fn skip_to_token(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.pos += 1,
                Some(b'\\') if self.peek_at(1) == Some(b'\n') => {
                    self.bump();
                    self.bump();
                }
                Some(b'#') => {
                    let rest = self.rest();
                    self.pos += rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// Skips blanks, comments and newlines.
    pub(super) fn skip_lines(&mut self) -> Parse<()> {
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    /// The operator that comes next.
    pub(super) fn operator(&self) -> Option<&'static [u8]> {
        let rest = self.rest();
        rest.first().filter(|&&b| is_meta(b))?;
        OPERATORS.iter().find(|op| rest.starts_with(op)).copied()
    }

    /// The bytes of the next word up to a metacharacter, to compare with reserved words.
    pub(super) fn bare_word(&self) -> &[u8] {
        let rest = self.rest();
        let end = rest.iter().position(|&b| is_meta(b)).unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        if rest.get(end) == Some(&b'\n') { word.strip_suffix(b"\\").unwrap_or(word) } else { word }
    }

    /// Returns whether the next word is the reserved word `word`.
    pub(super) fn at_keyword(&self, word: &[u8]) -> bool {
        self.bare_word() == word
    }

    /// Skips blanks and the reserved word. Returns whether it was the next token.
    pub(super) fn keyword(&mut self, word: &[u8]) -> bool {
        self.skip_blanks();
        let found = self.at_keyword(word);
        if found {
            self.pos += word.len();
        }
        found
    }

    /// Skips the reserved word, or returns an error for the next token.
    pub(super) fn expect_keyword(&mut self, word: &[u8]) -> Parse<()> {
        if self.keyword(word) { Ok(()) } else { Err(self.unexpected()) }
    }

    /// Skips blanks and the operator. Returns whether exactly this operator followed.
    pub(super) fn accept(&mut self, operator: &[u8]) -> bool {
        self.skip_blanks();
        let found = self.operator() == Some(operator);
        if found {
            self.pos += operator.len();
        }
        found
    }

    /// The error for the token that comes next.
    pub(super) fn unexpected(&mut self) -> SyntaxError {
        self.skip_blanks();
        let token = match self.peek() {
            None => return SyntaxError::new(SyntaxErrorKind::End, self.end_line()),
            Some(b'\n') => b"newline".to_vec(),
            Some(_) => match self.operator() {
                Some(operator) => operator.to_vec(),
                None => match self.word() {
                    Ok(word) => word.unwrap_or_default().raw.into(),
                    Err(error) => return error,
                },
            },
        };
        SyntaxError::new(SyntaxErrorKind::Unexpected(token), self.line)
    }

    /// The line in messages about an early end of the text: the one after the last.
    pub(super) fn end_line(&self) -> u32 {
        let ends_line = self.src.last() == Some(&b'\n');
        self.line.saturating_add(u32::from(!ends_line))
    }

    /// The error for a text that ended within a quotation which started at `line`.
    pub(super) fn unclosed(&self, close: u8, line: u32) -> SyntaxError {
        SyntaxError::new(SyntaxErrorKind::Unclosed(close), line)
    }
}
