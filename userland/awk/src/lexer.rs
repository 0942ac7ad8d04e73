//! Lexer: source text to tokens.

use std::rc::Rc;

use crate::builtin::Builtin;
use crate::escape::unescape;
use crate::number;
use crate::token::{Keyword, Sign, Token};

/// A syntax error in the program text and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub(crate) at: usize,
    pub(crate) line: u32,
    pub(crate) what: String,
}

/// Lexer of one source text.
#[derive(Clone, Debug)]
pub(crate) struct Lexer {
    text: Rc<[u8]>,
    at: usize,
    line: u32,
    /// Start of the last token.
    start: usize,
    start_line: u32,
    /// Pending warnings with their lines.
    pub(crate) warnings: Vec<(u32, String)>,
    reported: Vec<String>,
}

impl Lexer {
    pub(crate) fn new(text: &[u8]) -> Self {
        Self { text: text.into(), at: 0, line: 1, start: 0, start_line: 1, warnings: Vec::new(), reported: Vec::new() }
    }

    /// Start of the last token and its line.
    pub(crate) fn start(&self) -> (usize, u32) {
        (self.start, self.start_line)
    }

    fn byte(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn mistake(&self, at: usize, what: &str) -> Mistake {
        Mistake { at, line: self.line, what: what.to_owned() }
    }

    fn skip_blanks(&mut self) {
        loop {
            match self.byte(0) {
                b' ' | b'\t' => self.at += 1,
                b'\\' if self.byte(1) == b'\n' => {
                    self.at += 2;
                    self.line += 1;
                }
                b'\\' if self.byte(1) == b'\r' && self.byte(2) == b'\n' => {
                    self.at += 3;
                    self.line += 1;
                }
                b'\r' if self.byte(1) == b'\n' => self.at += 1,
                b'#' => {
                    let rest = self.text.get(self.at..).unwrap_or_default();
                    self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                _ => break,
            }
        }
    }

    pub(crate) fn next(&mut self) -> Result<Token, Mistake> {
        self.skip_blanks();
        (self.start, self.start_line) = (self.at, self.line);
        let Some(first) = self.text.get(self.at).copied() else {
            return Ok(Token::End);
        };
        match first {
            b'\n' => {
                self.at += 1;
                self.line += 1;
                Ok(Token::Newline)
            }
            b'"' => self.text_constant(),
            b'0'..=b'9' => Ok(self.number()),
            b'.' if self.byte(1).is_ascii_digit() => Ok(self.number()),
            b'@' => self.directive(),
            byte if is_name_start(byte) => Ok(self.name()),
            _ => self.sign(),
        }
    }

    fn sign(&mut self) -> Result<Token, Mistake> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if let Some((sign, length)) = Sign::find(rest) {
            self.at += length;
            return Ok(Token::Sign(sign));
        }
        if rest.starts_with(b"\\") {
            self.at += 1;
            return Err(Mistake {
                line: self.start_line,
                ..self.mistake(self.start, "backslash not last character on line")
            });
        }
        let byte = self.byte(0);
        let shown = String::from_utf8_lossy(&[byte]).into_owned();
        Err(self.mistake(self.at, &format!("invalid char '{shown}' in expression")))
    }

    fn number(&mut self) -> Token {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if let [b'0', b'x' | b'X', digits @ ..] = rest {
            let length = digits.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
            if length > 0 {
                self.at += 2 + length;
                return Token::Number(number::in_base(digits, 16));
            }
        }
        if let [b'0', digits @ ..] = rest
            && number::is_octal(digits)
        {
            let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
            self.at += 1 + length;
            return Token::Number(number::in_base(digits, 8));
        }
        let (value, length) = number::prefix(rest).unwrap_or((0.0, 1));
        self.at += length;
        Token::Number(value)
    }

    fn name(&mut self) -> Token {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| is_name(**byte)).count();
        let name = rest.get(..length).unwrap_or_default();
        self.at += length;
        if let Some(keyword) = Keyword::find(name) {
            return Token::Keyword(keyword);
        }
        if let Some(builtin) = Builtin::find(name) {
            return Token::Builtin(builtin);
        }
        match self.byte(0) {
            b'(' => Token::Called(name.to_vec()),
            _ => Token::Name(name.to_vec()),
        }
    }

    fn directive(&mut self) -> Result<Token, Mistake> {
        self.at += 1;
        if self.byte(0) == b'/' {
            self.at += 1;
            return Ok(Token::TypedRegex);
        }
        self.skip_blanks();
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length = rest.iter().take_while(|byte| is_name(**byte) || **byte == b':').count();
        let name = rest.get(..length).unwrap_or_default().to_vec();
        self.at += length;
        if self.byte(0) == b'(' {
            return Ok(Token::CalledByName(name));
        }
        if name.is_empty() {
            return Ok(Token::Directive(name));
        }
        Ok(Token::Directive(name))
    }

    fn text_constant(&mut self) -> Result<Token, Mistake> {
        self.at += 1;
        let mut out = Vec::new();
        loop {
            match self.text.get(self.at).copied() {
                None | Some(b'\n') => {
                    return Err(Mistake { line: self.start_line, ..self.mistake(self.start, "unterminated string") });
                }
                Some(b'"') => {
                    self.at += 1;
                    return Ok(Token::Text(out));
                }
                Some(b'\\') if self.byte(1) == b'\n' => {
                    self.at += 2;
                    self.line += 1;
                }
                Some(b'\\') if self.byte(1) == b'\r' && self.byte(2) == b'\n' => {
                    self.at += 3;
                    self.line += 1;
                }
                Some(b'\\') => {
                    let rest = self.text.get(self.at + 1..).unwrap_or_default();
                    let (used, warning) = unescape(rest, &mut out);
                    self.at += 1 + used;
                    // Warn about each letter only once.
                    if let Some(warning) = warning.filter(|warning| !self.reported.contains(warning)) {
                        self.reported.push(warning.clone());
                        self.warnings.push((self.line, warning));
                    }
                }
                Some(byte) => {
                    out.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    /// Reads a regular expression. The last token was its opening slash.
    pub(crate) fn regex(&mut self, typed: bool) -> Result<Vec<u8>, Mistake> {
        // `/=` may also start a regular expression.
        self.at = self.start + if typed { 2 } else { 1 };
        let mut out = Vec::new();
        let mut list_start = None;
        loop {
            let byte = match self.text.get(self.at).copied() {
                None => return Err(self.mistake(self.start + 1, "unterminated regexp")),
                Some(b'\n') => return Err(self.mistake(self.start + 1, "unterminated regexp")),
                Some(byte) => byte,
            };
            match (byte, list_start) {
                (b'/', None) => break,
                (b'\\', _) if self.byte(1) == b'\n' => {
                    self.at += 2;
                    self.line += 1;
                    continue;
                }
                (b'\\', _) => {
                    // The slash needs its backslash only here.
                    if self.byte(1) != b'/' {
                        out.push(b'\\');
                    }
                    self.at += 1;
                    match self.text.get(self.at) {
                        Some(escaped) => out.push(*escaped),
                        None => continue,
                    }
                    self.at += 1;
                    continue;
                }
                (b'[', None) => list_start = Some(self.at),
                (b'[', Some(_)) if matches!(self.byte(1), b':' | b'.' | b'=') => {
                    let kind = self.byte(1);
                    let rest = self.text.get(self.at + 2..).unwrap_or_default();
                    if let Some(end) = rest.windows(2).position(|pair| pair == [kind, b']']) {
                        out.extend_from_slice(self.text.get(self.at..self.at + end + 4).unwrap_or_default());
                        self.at += end + 4;
                        continue;
                    }
                }
                (b']', Some(start)) => {
                    let inside = self.text.get(start + 1..self.at).unwrap_or_default();
                    if !inside.is_empty() && inside != b"^" {
                        list_start = None;
                    }
                }
                _ => {}
            }
            out.push(byte);
            self.at += 1;
        }
        self.at += 1;
        Ok(out)
    }

    /// The source line at a position, for a message.
    pub(crate) fn line_around(&self, at: usize) -> (Vec<u8>, usize) {
        let at = at.min(self.text.len());
        let before = self.text.get(..at).unwrap_or_default();
        let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
        let rest = self.text.get(start..).unwrap_or_default();
        let line = rest.get(..memchr::memchr(b'\n', rest).unwrap_or(rest.len())).unwrap_or_default();
        (line.to_vec(), at - start)
    }
}

fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Returns whether a text is a variable name.
pub(crate) fn is_whole_name(text: &[u8]) -> bool {
    text.first().copied().is_some_and(is_name_start) && text.iter().copied().all(is_name)
}
