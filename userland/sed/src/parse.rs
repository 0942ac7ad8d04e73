//! Script parser.

mod address;
mod argument;
mod substitute;

use std::collections::HashMap;

use crate::options::{Options, Origin};
use crate::script::{Action, Command, Lines, Script, Target, When};

/// Syntax error of a script.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Error {
    pub(crate) message: String,
    pub(crate) code: i32,
}

type Result<T> = std::result::Result<T, Error>;

/// Parses all fragments of the script.
pub(crate) fn parse(options: &Options) -> Result<Script> {
    let mut parser = Parser {
        options,
        script: Script::default(),
        rest: &[],
        origin: &Origin::Expression(1),
        used: 0,
        line: 1,
        blocks: Vec::new(),
        labels: HashMap::new(),
        branches: Vec::new(),
        pending: None,
        ends_in_backslash: false,
    };
    for (at, piece) in options.pieces.iter().enumerate() {
        parser.begin(&piece.origin, &piece.text);
        // GNU sed ignores the rest.
        if at == 0 && piece.text.starts_with(b"#n") {
            parser.script.quiet = true;
        }
        parser.piece()?;
    }
    parser.finish()?;
    Ok(parser.script)
}

struct Parser<'a> {
    options: &'a Options,
    script: Script,
    rest: &'a [u8],
    origin: &'a Origin,
    /// Bytes of the fragment already parsed.
    used: usize,
    /// The line within the fragment.
    line: usize,
    /// Commands whose block is still open.
    blocks: Vec<usize>,
    labels: HashMap<Vec<u8>, usize>,
    /// Branch commands with their labels.
    branches: Vec<(usize, Vec<u8>)>,
    /// A text that ended in a backslash at the end of its fragment; the next fragment continues it.
    pending: Option<usize>,
    /// The last text ended in a backslash at the end of its fragment.
    ends_in_backslash: bool,
}

impl<'a> Parser<'a> {
    fn begin(&mut self, origin: &'a Origin, text: &'a [u8]) {
        (self.origin, self.rest, self.used, self.line) = (origin, text, 0, 1);
    }

    fn error<T>(&self, message: impl std::fmt::Display) -> Result<T> {
        self.error_at(self.used, message)
    }

    fn error_at<T>(&self, at: usize, message: impl std::fmt::Display) -> Result<T> {
        let message = match self.origin {
            Origin::Expression(number) => format!("-e expression #{number}, char {at}: {message}"),
            Origin::File(name) => format!("file {name} line {}: {message}", self.line),
        };
        Err(Error { message, code: 1 })
    }

    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        self.used += 1;
        self.line += usize::from(*first == b'\n');
        Some(*first)
    }

    fn skip(&mut self, skipped: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&skipped) {
            self.next();
        }
    }

    fn skip_blanks(&mut self) {
        self.skip(|byte| byte == b' ' || byte == b'\t');
    }

    fn piece(&mut self) -> Result<()> {
        if let Some(command) = self.pending.take() {
            self.continue_text(command);
        }
        loop {
            self.skip(|byte| byte.is_ascii_whitespace() || byte == b';');
            if self.peek().is_none() {
                return Ok(());
            }
            if self.peek() == Some(b'#') {
                self.skip(|byte| byte != b'\n');
                continue;
            }
            self.command()?;
        }
    }

    fn finish(&mut self) -> Result<()> {
        if !self.blocks.is_empty() {
            return self.error_at(0, "unmatched `{'");
        }
        for (command, label) in std::mem::take(&mut self.branches) {
            let target = if label.is_empty() {
                self.script.commands.len()
            } else if let Some(target) = self.labels.get(&label) {
                *target
            } else {
                let label = String::from_utf8_lossy(&label);
                return Err(Error { message: format!("can't find label for jump to `{label}'"), code: 4 });
            };
            if let Some(Action::Branch { to, .. }) =
                self.script.commands.get_mut(command).map(|command| &mut command.action)
            {
                *to = target;
            }
        }
        Ok(())
    }

    fn command(&mut self) -> Result<()> {
        let lines = self.lines()?;
        self.skip_blanks();
        let mut negated = false;
        while self.peek() == Some(b'!') {
            self.next();
            if negated {
                return self.error("multiple `!'s");
            }
            negated = true;
            self.skip_blanks();
        }
        let Some(letter) = self.next() else {
            return self.error("missing command");
        };
        let range = matches!(lines, Lines::Range { .. });
        if range && matches!(letter, b'q' | b'Q') {
            return self.error("command only uses one address");
        }
        if !matches!(lines, Lines::All) && letter == b'#' {
            return self.error("comments don't accept any addresses");
        }
        if !matches!(lines, Lines::All) && letter == b':' {
            return self.error(": doesn't want any addresses");
        }
        if !matches!(lines, Lines::All) && letter == b'}' {
            let message = if self.blocks.is_empty() { "unexpected `}'" } else { "`}' doesn't want any addresses" };
            return self.error(message);
        }
        let action = self.action(letter)?;
        self.script.commands.push(Command { lines, negated, action });
        Ok(())
    }

    fn action(&mut self, letter: u8) -> Result<Action> {
        let here = self.script.commands.len();
        let action = match letter {
            b'{' => {
                self.blocks.push(here);
                return Ok(Action::Block { end: usize::MAX });
            }
            b'}' => {
                let Some(open) = self.blocks.pop() else {
                    return self.error("unexpected `}'");
                };
                if let Some(Action::Block { end }) =
                    self.script.commands.get_mut(open).map(|command| &mut command.action)
                {
                    *end = here;
                }
                Action::Nothing
            }
            b':' => return self.label(here),
            b'a' | b'i' | b'c' => return self.text(letter),
            b'b' | b't' | b'T' => return Ok(self.branch(letter)),
            b'd' => Action::Delete,
            b'D' => Action::DeleteFirst,
            b'e' => {
                self.refuse_in_sandbox()?;
                self.skip_blanks();
                return Ok(Action::Execute(self.word(|byte| byte == b'\n')));
            }
            b'F' => Action::FileName,
            b'g' => Action::Get,
            b'G' => Action::GetAppend,
            b'h' => Action::Hold,
            b'H' => Action::HoldAppend,
            b'l' => {
                let columns = self.number_after().map(|columns| usize::try_from(columns).unwrap_or(usize::MAX));
                Action::List(columns)
            }
            b'n' => Action::Next,
            b'N' => Action::NextAppend,
            b'=' => Action::Number,
            b'p' => Action::Print,
            b'P' => Action::PrintFirst,
            b'q' | b'Q' => {
                let code = self.number_after().unwrap_or(0);
                // An exit code has eight bits.
                Action::Quit { code: i32::from((code & 255) as u8), prints: letter == b'q' }
            }
            b'r' | b'R' | b'w' | b'W' => return self.file(letter),
            b's' => self.substitute()?,
            b'y' => self.translate()?,
            b'v' => {
                self.skip_blanks();
                let version = self.word(|byte| byte == b';' || byte == b'\n' || byte == b'}');
                let text = String::from_utf8_lossy(&version).into_owned();
                let numbers: Vec<u32> = text.trim().split('.').map(|part| part.parse().unwrap_or(0)).collect();
                if numbers > vec![4, 9] {
                    return self.error("expected newer version of sed");
                }
                Action::Nothing
            }
            b'x' => Action::Exchange,
            b'z' => Action::Empty,
            other => return self.error(format_args!("unknown command: `{}'", char::from(other))),
        };
        self.end_of_command()?;
        Ok(action)
    }

    /// `b`, `t` and `T` with their label. A blank ends it, and the next command follows.
    fn branch(&mut self, letter: u8) -> Action {
        self.skip_blanks();
        let label = self.word(|byte| matches!(byte, b';' | b'}' | b'#') || byte.is_ascii_whitespace());
        self.branches.push((self.script.commands.len(), label));
        let when = match letter {
            b'b' => When::Always,
            b't' => When::Replaced,
            _ => When::NotReplaced,
        };
        Action::Branch { to: usize::MAX, when }
    }

    /// `r`, `R`, `w` and `W` with the file name up to the end of the line.
    fn file(&mut self, letter: u8) -> Result<Action> {
        let name = self.file_name()?;
        Ok(match letter {
            b'r' => Action::Read(name),
            b'R' => Action::ReadLine(self.file_number(name)),
            b'w' => Action::Write(self.target(name)),
            _ => Action::WriteFirst(self.target(name)),
        })
    }

    /// A command may be followed by blanks and a comment, then a newline, a semicolon or the end of a block.
    fn end_of_command(&mut self) -> Result<()> {
        self.skip(|byte| byte == b' ' || byte == b'\t');
        match self.peek() {
            None | Some(b'#' | b'}') => {}
            Some(b'\n' | b';') => {
                self.next();
            }
            Some(_) => {
                self.next();
                return self.error("extra characters after command");
            }
        }
        if self.peek() == Some(b'}') && self.blocks.is_empty() {
            self.next();
            return self.error("unexpected `}'");
        }
        Ok(())
    }

    fn refuse_in_sandbox(&self) -> Result<()> {
        if self.options.sandbox {
            return self.error("e/r/w commands disabled in sandbox mode");
        }
        Ok(())
    }

    fn word(&mut self, ends: impl Fn(u8) -> bool) -> Vec<u8> {
        let mut word = Vec::new();
        while let Some(byte) = self.peek().filter(|byte| !ends(*byte)) {
            word.push(byte);
            self.next();
        }
        word
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = None;
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            number = Some(number.unwrap_or(0u64).saturating_mul(10).saturating_add(u64::from(digit - b'0')));
            self.next();
        }
        number
    }

    fn number_after(&mut self) -> Option<u64> {
        self.skip_blanks();
        self.number()
    }

    fn label(&mut self, here: usize) -> Result<Action> {
        self.skip_blanks();
        let label = self.word(|byte| matches!(byte, b';' | b'#') || byte.is_ascii_whitespace());
        if label.is_empty() {
            return self.error("\":\" lacks a label");
        }
        self.labels.entry(label).or_insert(here);
        Ok(Action::Nothing)
    }

    fn file_name(&mut self) -> Result<Vec<u8>> {
        self.refuse_in_sandbox()?;
        self.skip_blanks();
        let name = self.word(|byte| byte == b'\n');
        if name.is_empty() {
            return self.error("missing filename in r/R/w/W commands");
        }
        Ok(name)
    }

    fn file_number(&mut self, name: Vec<u8>) -> usize {
        let known = self.script.files.iter().position(|file| *file == name);
        known.unwrap_or_else(|| {
            self.script.files.push(name);
            self.script.files.len() - 1
        })
    }

    fn target(&mut self, name: Vec<u8>) -> Target {
        match name.as_slice() {
            b"/dev/stdout" => Target::Stdout,
            b"/dev/stderr" => Target::Stderr,
            _ => Target::File(self.file_number(name)),
        }
    }
}
