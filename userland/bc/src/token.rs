//! Tokens of the language.

use tidebox_rt::{Errno, Fd};

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Newline,
    End,
    Number(Vec<u8>),
    Text(Vec<u8>),
    Name(String),
    Word(Word),
    /// An operator or punctuation.
    Sign(&'static str),
}

macro_rules! words {
    ($($name:ident = $text:literal),*) => {
        /// A keyword.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Word { $($name),* }

        const WORDS: &[(&str, Word)] = &[$(($text, Word::$name)),*];
    };
}

words! {
    Auto = "auto", Break = "break", Continue = "continue", Define = "define", Else = "else", For = "for", Halt = "halt",
    History = "history", Ibase = "ibase", If = "if", Last = "last", Length = "length", Limits = "limits", Obase = "obase",
    Print = "print", Quit = "quit", Random = "random", Read = "read", Return = "return", Scale = "scale", Sqrt = "sqrt",
    Void = "void", Warranty = "warranty", While = "while"
}

/// Operators, longer ones before their prefixes.
const SIGNS: &[&str] = &[
    "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "==", "<=", ">=", "!=", "+", "-", "*", "/", "%", "^",
    "(", ")", "{", "}", "[", "]", ";", ",", "=", "<", ">", "!", "&",
];

/// Bytes per read.
const CHUNK: usize = 8 * 1024;

/// Lexer of one source.
#[derive(Debug)]
pub(crate) struct Lexer {
    /// The source of more text.
    fd: Option<Fd>,
    text: Vec<u8>,
    at: usize,
    pub(crate) line: u32,
    /// Invalid characters, with their line.
    pub(crate) illegal: Vec<(u32, String)>,
    /// The text ended because of a read error.
    pub(crate) failed: bool,
}

impl Lexer {
    pub(crate) fn new(fd: Fd) -> Self {
        Self { fd: Some(fd), text: Vec::new(), at: 0, line: 1, illegal: Vec::new(), failed: false }
    }

    /// Returns whether a complete line is buffered.
    pub(crate) fn has_line(&self) -> bool {
        self.fd.is_none() || self.text.get(self.at..).is_some_and(|rest| rest.contains(&b'\n'))
    }

    /// Reads until the given number of bytes is buffered, or to the end.
    fn fill(&mut self, wanted: usize) {
        while self.text.len() < self.at + wanted
            && let Some(fd) = self.fd
        {
            if self.at > CHUNK {
                self.text.drain(..self.at);
                self.at = 0;
            }
            let old = self.text.len();
            self.text.resize(old + CHUNK, 0);
            let outcome = tidebox_rt::read(fd, self.text.get_mut(old..).unwrap_or_default());
            self.text.truncate(old + outcome.unwrap_or(0));
            match outcome {
                Err(Errno::INTR) => {}
                Ok(1..) => {}
                end => {
                    self.failed = end.is_err();
                    self.fd = None;
                    if fd > 2 {
                        // The file was only read, so close errors do not matter.
                        let _ = tidebox_rt::close(fd);
                    }
                }
            }
        }
    }

    /// The byte at an offset ahead; 0 at the end.
    fn byte(&mut self, ahead: usize) -> u8 {
        self.fill(ahead + 1);
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    /// The next byte; 0 after a newline, because the writer of the next line may wait for the output of this one.
    fn after(&mut self) -> u8 {
        if self.byte(0) == b'\n' { 0 } else { self.byte(1) }
    }

    fn ended(&mut self) -> bool {
        self.fill(1);
        self.at >= self.text.len()
    }

    /// The unread rest, for `read()`.
    pub(crate) fn rest_of_line(&mut self) -> Option<Vec<u8>> {
        if self.ended() {
            return None;
        }
        let mut line = Vec::new();
        while !self.ended() {
            let byte = self.byte(0);
            self.at += 1;
            if byte == b'\n' {
                self.line += 1;
                break;
            }
            line.push(byte);
        }
        Some(line)
    }

    fn skip_blanks(&mut self) {
        loop {
            match (self.byte(0), self.after()) {
                (b' ' | b'\t', _) => self.at += 1,
                (b'\\', b'\n') => {
                    self.at += 2;
                    self.line += 1;
                }
                (b'#', _) => {
                    while !self.ended() && self.byte(0) != b'\n' {
                        self.at += 1;
                    }
                }
                (b'/', b'*') => {
                    self.at += 2;
                    while !self.ended() && (self.byte(0), self.after()) != (b'*', b'/') {
                        self.line += u32::from(self.byte(0) == b'\n');
                        self.at += 1;
                    }
                    self.at = (self.at + 2).min(self.text.len());
                }
                _ => return,
            }
        }
    }

    pub(crate) fn next(&mut self) -> Token {
        loop {
            self.skip_blanks();
            if self.ended() {
                return Token::End;
            }
            let first = self.byte(0);
            match first {
                b'\n' => {
                    self.at += 1;
                    self.line += 1;
                    return Token::Newline;
                }
                b'a'..=b'z' => return self.word(),
                b'0'..=b'9' | b'A'..=b'Z' => return self.number(),
                b'.' if self.byte(1).is_ascii_digit() || self.byte(1).is_ascii_uppercase() => return self.number(),
                b'.' => {
                    self.at += 1;
                    return Token::Word(Word::Last);
                }
                b'"' => {
                    let mut length = 1;
                    while !matches!(self.byte(length), b'"' | 0) {
                        length += 1;
                    }
                    if self.byte(length) == b'"' {
                        let text = self.text.get(self.at + 1..self.at + length).unwrap_or_default().to_vec();
                        self.line += text.iter().filter(|byte| **byte == b'\n').count() as u32;
                        self.at += length + 1;
                        return Token::Text(text);
                    }
                }
                _ => {
                    self.fill(2);
                    let rest = self.text.get(self.at..).unwrap_or_default();
                    if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(sign.as_bytes())) {
                        self.at += sign.len();
                        return Token::Sign(sign);
                    }
                }
            }
            self.at += 1;
            let shown = match first {
                0x20..=0x7e => char::from(first).to_string(),
                0..0x20 => format!("^{}", char::from(first + b'@')),
                _ => format!("\\{first:o}"),
            };
            self.illegal.push((self.line, shown));
        }
    }

    fn word(&mut self) -> Token {
        let mut name = String::new();
        while let byte @ (b'a'..=b'z' | b'0'..=b'9' | b'_') = self.byte(0) {
            name.push(char::from(byte));
            self.at += 1;
        }
        match WORDS.iter().find(|(text, _)| *text == name) {
            Some((_, word)) => Token::Word(*word),
            None => Token::Name(name),
        }
    }

    /// Digits, which may continue on the next line after a backslash.
    fn number(&mut self) -> Token {
        let mut text = Vec::new();
        let mut point = false;
        loop {
            match self.byte(0) {
                byte @ (b'0'..=b'9' | b'A'..=b'Z') => text.push(byte),
                b'.' if !point => {
                    point = true;
                    text.push(b'.');
                }
                b'\\' if self.byte(1) == b'\n' => {
                    self.at += 1;
                    self.line += 1;
                }
                _ => break,
            }
            self.at += 1;
        }
        // Leading zeros are dropped, but one digit remains.
        let zeros = text.iter().take_while(|byte| **byte == b'0').count();
        let kept = if zeros == text.len() { zeros - 1 } else { zeros };
        text.drain(..kept);
        Token::Number(text)
    }
}
