//! State of a command that is read line by line: quotation, here-documents, and preceding tokens.
//!
//! The parser implements the grammar. This covers only the part that decides how the next line is joined to the entry.

use std::collections::VecDeque;

use super::document::Document;
use crate::ir::Bytes;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Token {
    #[default]
    None,
    Newline,
    Word,
    For,
    Select,
    Case,
    Function,
    /// `(`
    Open,
    /// `)`
    Close,
    /// Other tokens that a semicolon must not follow: operators, `then`, `do` and similar.
    Joining,
    /// `;;`, `;&` or `;;&`, followed by a pattern of `case`.
    ArmEnd,
    /// Other reserved words.
    Reserved,
}

/// An open construct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    /// `'`, `"` or `` ` ``; `$` is `$'`.
    Quote(u8),
    /// `$(`, `<(`, `@(` and similar, with the number of open parentheses within.
    Parenthesis(u32),
    /// `$((`, with the number of open parentheses within.
    Expression(u32),
    /// `((`, with the number of open parentheses within. It does not count as quotation.
    Arithmetic(u32),
    /// `${`
    Brace,
    /// `[` of a subscript.
    Subscript,
    /// The list of an array.
    Elements,
}

#[derive(Debug, Default)]
pub(super) struct Scan {
    open: Vec<Open>,
    /// The last three tokens, the newest last.
    tokens: [Token; 3],
    /// The word that is being read, as it stands.
    word: Option<Bytes>,
    documents: VecDeque<Document>,
    /// The next word is the delimiter of a here-document; whether its tabs go.
    document_next: Option<bool>,
    /// The lines that come are those of here-documents.
    in_body: bool,
    first_of_body: bool,
    /// Before the next line of the command a line was joined that holds the start of a here-document.
    document_seen: bool,
    /// `case` that are open, and whether a pattern comes now.
    cases: u32,
    pattern: bool,
}

impl Scan {
    /// Closes all constructs at the end of a command. The tokens stay, as in bash.
    pub(super) fn reset(&mut self) {
        *self = Self { tokens: self.tokens, ..Self::default() };
    }

    /// Returns whether the next line is part of a here-document.
    pub(super) fn in_document(&self) -> bool {
        self.in_body
    }

    /// Returns whether the next line is the first of the here-documents of a line.
    pub(super) fn starts_document(&self) -> bool {
        self.in_body && self.first_of_body
    }

    /// Returns whether a backslash at the end of a line of the here-document joins it with the next.
    pub(super) fn joins_lines(&self) -> bool {
        self.in_body && self.documents.front().is_some_and(|document| !document.quoted)
    }

    /// The quotation that the next line starts in: a quote, another byte for substitutions, or none.
    pub(super) fn quotation(&self) -> Option<u8> {
        self.open.iter().rev().find_map(|open| match open {
            Open::Quote(b'$') => Some(b'\''),
            Open::Quote(quote) => Some(*quote),
            Open::Parenthesis(_) | Open::Expression(_) => Some(b'('),
            _ => None,
        })
    }

    /// The separator between the preceding lines and this one in the entry.
    pub(super) fn joint(&mut self, line: &[u8]) -> &'static [u8] {
        if !self.in_body {
            self.document_seen = false;
        }
        if self.quotation().is_some() {
            return b"\n";
        }
        if self.in_body {
            return if std::mem::take(&mut self.document_seen) || self.first_of_body { b"\n" } else { b"" };
        }
        if self.open.contains(&Open::Elements) {
            return b" ";
        }
        let [two_ago, before, last] = self.tokens;
        let starts_document = line.windows(2).any(|pair| pair == b"<<");
        match (two_ago, before) {
            (Token::Open, Token::Close) | (Token::Function, Token::Word) => b" ",
            (_, Token::Close) => {
                if self.cases > 0 {
                    b" "
                } else {
                    b"; "
                }
            }
            _ if last == Token::Newline && starts_document => {
                self.document_seen = true;
                b"\n"
            }
            _ if !self.documents.is_empty() => b"\n",
            (Token::For, Token::Word) => {
                if line.trim_ascii_start().starts_with(b"in") {
                    b" "
                } else {
                    b";"
                }
            }
            (Token::Case, Token::Word) if self.cases > 0 => b" ",
            (_, Token::Newline | Token::Open | Token::Joining | Token::ArmEnd | Token::Case) => b" ",
            _ if line.trim_ascii().is_empty() => {
                if last == Token::Newline {
                    b"; "
                } else {
                    b""
                }
            }
            _ => b"; ",
        }
    }

    /// Reads a line, with its newline if it has one.
    pub(super) fn feed(&mut self, line: &[u8]) {
        if self.in_body {
            self.body_line(line.strip_suffix(b"\n").unwrap_or(line));
            return;
        }
        let mut rest = line;
        while !rest.is_empty() {
            let taken = match self.open.last() {
                None => self.command(rest),
                Some(open) => self.within(*open, rest),
            };
            let (read, behind) = rest.split_at_checked(taken.max(1)).unwrap_or((rest, b""));
            if let (Some(word), true) = (&mut self.word, taken > 0) {
                word.extend_from_slice(read);
            }
            rest = if taken == 0 { rest } else { behind };
        }
        if !self.documents.is_empty() {
            (self.in_body, self.first_of_body) = (true, true);
        }
    }

    fn body_line(&mut self, line: &[u8]) {
        self.first_of_body = false;
        let Some(document) = self.documents.front() else { return };
        if document.ends_with(line) {
            self.documents.pop_front();
            self.in_body = !self.documents.is_empty();
        }
    }

    /// Reads at the start of `rest`, outside open constructs. Returns the number of bytes read, 0 if only a word ended.
    fn command(&mut self, rest: &[u8]) -> usize {
        let byte = rest.first().copied().unwrap_or(0);
        let next = rest.get(1).copied().unwrap_or(0);
        if self.word.is_some() {
            return self.in_word(rest);
        }
        match (byte, next) {
            (b' ' | b'\t', _) => 1,
            (b'\\', b'\n') => 2,
            (b'#', _) => rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len()),
            (b'\n', _) => {
                self.token(Token::Newline);
                1
            }
            (b'<' | b'>', b'(') => {
                self.word = Some(Bytes::new());
                0
            }
            (b'(', b'(') if self.tokens[2] == Token::For || self.may_start() => {
                self.open.push(Open::Arithmetic(0));
                2
            }
            (b'(' | b')' | b';' | b'&' | b'|' | b'<' | b'>', _) => self.operator(rest),
            _ => {
                self.word = Some(Bytes::new());
                0
            }
        }
    }

    /// Goes on with a word.
    fn in_word(&mut self, rest: &[u8]) -> usize {
        let byte = rest.first().copied().unwrap_or(0);
        let word = self.word.as_deref().unwrap_or_default();
        match (byte, rest.get(1)) {
            (b'<' | b'>', Some(b'(')) if word.is_empty() => self.enter(rest),
            (b'?' | b'*' | b'+' | b'@' | b'!', Some(b'(')) => {
                self.open.push(Open::Parenthesis(0));
                2
            }
            (b'(', _) if word.last() == Some(&b'=') => {
                self.open.push(Open::Elements);
                1
            }
            (b'[', _) if !word.is_empty() && word.iter().all(|b| b.is_ascii_alphanumeric() || *b == b'_') => {
                self.open.push(Open::Subscript);
                1
            }
            (b' ' | b'\t' | b'\n' | b'(' | b')' | b';' | b'&' | b'|' | b'<' | b'>', _) => {
                self.end_word();
                0
            }
            _ => self.enter(rest),
        }
    }

    /// Opens what a quote or a dollar at the start of `rest` opens, or goes past a byte.
    fn enter(&mut self, rest: &[u8]) -> usize {
        let in_quotes = self.open.last() == Some(&Open::Quote(b'"'));
        let (open, len) = match (rest.first(), rest.get(1)) {
            (Some(b'\\'), Some(_)) => return 2,
            (Some(b'$'), Some(b'\'')) if !in_quotes => (Open::Quote(b'$'), 2),
            (Some(b'$'), Some(b'(')) if rest.get(2) == Some(&b'(') => (Open::Expression(0), 2),
            (Some(b'$'), Some(b'(')) => (Open::Parenthesis(0), 2),
            (Some(b'<' | b'>'), Some(b'(')) if !in_quotes => (Open::Parenthesis(0), 2),
            (Some(b'$'), Some(b'{')) => (Open::Brace, 2),
            (Some(b'\''), _) if !in_quotes => (Open::Quote(b'\''), 1),
            (Some(b'"'), _) if !in_quotes => (Open::Quote(b'"'), 1),
            (Some(b'`'), _) => (Open::Quote(b'`'), 1),
            _ => return 1,
        };
        self.open.push(open);
        len
    }

    /// Reads at the start of `rest`, within something.
    fn within(&mut self, open: Open, rest: &[u8]) -> usize {
        let byte = rest.first().copied().unwrap_or(0);
        let closes = match open {
            Open::Quote(b'$') => byte == b'\'',
            Open::Quote(quote) => byte == quote,
            Open::Parenthesis(depth) | Open::Expression(depth) | Open::Arithmetic(depth) => byte == b')' && depth == 0,
            Open::Brace => byte == b'}',
            Open::Subscript => byte == b']',
            Open::Elements => byte == b')',
        };
        if closes {
            self.open.pop();
            if matches!(open, Open::Arithmetic(_)) {
                self.token(Token::Reserved);
                return if rest.get(1) == Some(&b')') { 2 } else { 1 };
            }
            return 1;
        }
        match (open, byte) {
            (Open::Quote(b'\''), _) => 1,
            (Open::Quote(b'$' | b'`'), _) => {
                if byte == b'\\' {
                    2
                } else {
                    1
                }
            }
            (Open::Parenthesis(_), b'<') if rest.get(1) == Some(&b'<') => self.document_within(rest),
            (Open::Parenthesis(_) | Open::Expression(_) | Open::Arithmetic(_), b'(' | b')') => {
                let last = self.open.last_mut();
                if let Some(Open::Parenthesis(depth) | Open::Expression(depth) | Open::Arithmetic(depth)) = last {
                    *depth = if byte == b'(' { depth.saturating_add(1) } else { depth.saturating_sub(1) };
                }
                1
            }
            (Open::Elements, b'#') => rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len()),
            _ => self.enter(rest),
        }
    }

    /// `<<` and its word within a substitution.
    fn document_within(&mut self, rest: &[u8]) -> usize {
        if rest.get(2) == Some(&b'<') {
            return 3;
        }
        let strip_tabs = rest.get(2) == Some(&b'-');
        let start = if strip_tabs { 3 } else { 2 };
        let behind = rest.get(start..).unwrap_or_default();
        let blanks = behind.iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let word = behind.get(blanks..).unwrap_or_default();
        let ends = |byte: u8| matches!(byte, b' ' | b'\t' | b'\n' | b'(' | b')' | b';' | b'&' | b'|' | b'<' | b'>');
        let len = word.iter().position(|&b| ends(b)).unwrap_or(word.len());
        self.documents.push_back(Document::new(word.get(..len).unwrap_or_default(), strip_tabs));
        start + blanks + len
    }

    fn operator(&mut self, rest: &[u8]) -> usize {
        let (token, len) = match rest {
            [b'<', b'<', b'<', ..] => (Token::Reserved, 3),
            [b'<', b'<', b'-', ..] => {
                self.document_next = Some(true);
                (Token::Reserved, 3)
            }
            [b'<', b'<', ..] => {
                self.document_next = Some(false);
                (Token::Reserved, 2)
            }
            [b';', b';', b'&', ..] => (Token::ArmEnd, 3),
            [b';', b';' | b'&', ..] => (Token::ArmEnd, 2),
            [b'&', b'&', ..] | [b'|', b'|' | b'&', ..] => (Token::Joining, 2),
            [b'>', b'>' | b'&' | b'|', ..] | [b'<', b'&' | b'>', ..] | [b'&', b'>', ..] => (Token::Reserved, 2),
            [b'(', ..] => (Token::Open, 1),
            [b')', ..] => (Token::Close, 1),
            [b'<' | b'>', ..] => (Token::Reserved, 1),
            _ => (Token::Joining, 1),
        };
        match token {
            Token::ArmEnd => self.pattern = self.cases > 0,
            Token::Close => self.pattern = false,
            _ => {}
        }
        self.token(token);
        len
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        if let Some(strip_tabs) = self.document_next.take() {
            self.documents.push_back(Document::new(&word, strip_tabs));
            self.token(Token::Word);
            return;
        }
        let token = self.reserved(&word);
        match token {
            Token::Case => self.cases = self.cases.saturating_add(1),
            Token::Reserved if word == b"esac" => {
                self.cases = self.cases.saturating_sub(1);
                self.pattern = false;
            }
            _ => {}
        }
        self.token(token);
    }

    /// Returns whether a reserved word may come next.
    fn may_start(&self) -> bool {
        let [_, before, last] = self.tokens;
        !self.pattern
            && (!matches!(last, Token::Word | Token::Case | Token::For | Token::Select | Token::Function)
                || (last == Token::Word && before == Token::Function))
    }

    fn reserved(&mut self, word: &[u8]) -> Token {
        let [two_ago, before, last] = self.tokens;
        let is_head = |token| matches!(token, Token::For | Token::Case | Token::Select);
        let heads = is_head(before) && last == Token::Word;
        match word {
            b"in" if heads || (is_head(two_ago) && before == Token::Word && last == Token::Newline) => {
                self.pattern = if heads { before == Token::Case } else { two_ago == Token::Case };
                Token::Joining
            }
            b"do" if heads => Token::Joining,
            b"esac" if self.pattern => Token::Reserved,
            _ if !self.may_start() => Token::Word,
            b"for" => Token::For,
            b"select" => Token::Select,
            b"case" => Token::Case,
            b"function" => Token::Function,
            b"{" | b"if" | b"then" | b"else" | b"while" | b"until" | b"do" => Token::Joining,
            b"fi" | b"done" | b"esac" | b"elif" | b"}" | b"!" | b"time" | b"coproc" => Token::Reserved,
            _ => Token::Word,
        }
    }

    fn token(&mut self, token: Token) {
        self.tokens = [self.tokens[1], self.tokens[2], token];
    }
}
