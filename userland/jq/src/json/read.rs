//! Incremental parser for a stream of values, with jq's messages.

mod token;
use std::rc::Rc;

use super::events::Events;
use super::values::Values;
use crate::value::Val;
use token::{literal_value, unescaped};

/// JSON syntax error.
pub(crate) type Fault = &'static str;

/// Scanner state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Normal,
    String,
    Escape,
}

/// Builder for tokens.
#[derive(Debug)]
enum Builder {
    Values(Values),
    Events(Events),
}

/// Parses values from chunks of text.
#[derive(Debug)]
pub(crate) struct Reader {
    state: State,
    /// The current literal or string.
    token: Vec<u8>,
    builder: Builder,
    line: usize,
    column: usize,
    /// Bytes of a byte order mark seen at the start.
    mark: usize,
}

const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

impl Reader {
    /// Parses values, or with `streaming` their events.
    pub(crate) fn new(streaming: bool) -> Self {
        Self {
            state: State::Normal,
            token: Vec::new(),
            builder: if streaming { Builder::Events(Events::default()) } else { Builder::Values(Values::default()) },
            line: 1,
            column: 0,
            mark: 0,
        }
    }

    /// Parses `text` from `at` up to and including the next value, and advances `at`.
    pub(crate) fn next(&mut self, text: &[u8], at: &mut usize) -> Result<Option<Val>, String> {
        if let Some(value) = self.builder.take() {
            return Ok(Some(value));
        }
        while let Some(byte) = text.get(*at) {
            *at += 1;
            if self.mark < BYTE_ORDER_MARK.len() {
                if BYTE_ORDER_MARK.get(self.mark) == Some(byte) {
                    self.mark += 1;
                    continue;
                }
                if self.mark > 0 {
                    return Err("Malformed BOM".to_owned());
                }
                self.mark = BYTE_ORDER_MARK.len();
            }
            match self.scan(*byte) {
                Ok(()) => {}
                Err(fault) => return Err(self.failed(fault)),
            }
            if let Some(value) = self.builder.take() {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// Finishes at the end of input.
    pub(crate) fn end(&mut self) -> Result<Option<Val>, String> {
        if let Some(value) = self.builder.take() {
            return Ok(Some(value));
        }
        let place = format!("at EOF at line {}, column {}", self.line, self.column);
        let state = std::mem::replace(&mut self.state, State::Normal);
        if state != State::Normal {
            self.reset();
            return Err(format!("Unfinished string {place}"));
        }
        if let Err(fault) = self.literal() {
            self.reset();
            return Err(format!("{fault} {place}"));
        }
        if self.builder.is_open() {
            self.reset();
            return Err(format!("Unfinished JSON term {place}"));
        }
        Ok(self.builder.take())
    }

    fn reset(&mut self) {
        self.token.clear();
        self.builder.reset();
        self.state = State::Normal;
    }

    fn failed(&mut self, fault: Fault) -> String {
        let message = format!("{fault} at line {}, column {}", self.line, self.column);
        self.reset();
        message
    }

    fn scan(&mut self, byte: u8) -> Result<(), Fault> {
        self.column += 1;
        if byte == b'\n' {
            self.line += 1;
            self.column = 0;
        }
        match self.state {
            State::String => match byte {
                b'"' => {
                    self.state = State::Normal;
                    let text = unescaped(&self.token)?;
                    self.token.clear();
                    self.builder.value(Val::String(Rc::from(text)))?;
                }
                byte => {
                    self.token.push(byte);
                    if byte == b'\\' {
                        self.state = State::Escape;
                    }
                }
            },
            State::Escape => {
                self.token.push(byte);
                self.state = State::String;
            }
            State::Normal => self.outside_strings(byte)?,
        }
        Ok(())
    }

    fn outside_strings(&mut self, byte: u8) -> Result<(), Fault> {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => self.literal(),
            b'"' => {
                self.literal()?;
                self.state = State::String;
                Ok(())
            }
            b'[' | b'{' | b':' | b',' | b']' | b'}' => {
                self.literal()?;
                self.builder.structure(byte)
            }
            byte => {
                self.token.push(byte);
                Ok(())
            }
        }
    }

    /// Ends the current literal.
    fn literal(&mut self) -> Result<(), Fault> {
        if self.token.is_empty() {
            return Ok(());
        }
        let value = literal_value(&self.token)?;
        self.token.clear();
        self.builder.value(value)
    }
}

impl Builder {
    fn value(&mut self, value: Val) -> Result<(), Fault> {
        match self {
            Self::Values(values) => values.value(value),
            Self::Events(events) => events.value(value),
        }
    }

    fn structure(&mut self, byte: u8) -> Result<(), Fault> {
        match self {
            Self::Values(values) => values.structure(byte),
            Self::Events(events) => events.structure(byte),
        }
    }

    fn take(&mut self) -> Option<Val> {
        match self {
            Self::Values(values) => values.take(),
            Self::Events(events) => events.take(),
        }
    }

    fn is_open(&self) -> bool {
        match self {
            Self::Values(values) => values.is_open(),
            Self::Events(events) => events.is_open(),
        }
    }

    fn reset(&mut self) {
        match self {
            Self::Values(values) => *values = Values::default(),
            Self::Events(events) => *events = Events::default(),
        }
    }
}

/// The single value of a text. An empty text is an error.
pub(crate) fn parse_one(text: &[u8]) -> Result<Val, String> {
    let mut values = parse_all(text)?.into_iter();
    match (values.next(), values.next()) {
        (Some(value), None) => Ok(value),
        (None, _) => Err("Expected JSON value".to_owned()),
        (Some(_), Some(_)) => Err("Unexpected extra JSON values".to_owned()),
    }
}

/// All values of a text.
pub(crate) fn parse_all(text: &[u8]) -> Result<Vec<Val>, String> {
    let mut reader = Reader::new(false);
    let mut values = Vec::new();
    let mut at = 0;
    while let Some(value) = reader.next(text, &mut at)? {
        values.push(value);
    }
    values.extend(reader.end()?);
    Ok(values)
}
