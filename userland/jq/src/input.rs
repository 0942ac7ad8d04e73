//! Inputs: files in order, or standard input, as values or as lines.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use tidebox_gnu::message::{bytes_path, error_text};

use crate::json::Reader;
use crate::value::Val;

/// Input mode.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    /// Lines are strings, not JSON.
    pub(crate) raw: bool,
    /// All inputs are combined into one.
    pub(crate) slurp: bool,
    pub(crate) stream: bool,
}

/// Maximum bytes per read of a line.
const MAX_PIECE: u64 = 64 << 10;

/// Input source.
pub(crate) struct Inputs {
    reading: Reading,
    /// Remaining file names; `-` is standard input.
    files: VecDeque<Vec<u8>>,
    current: Option<(String, Box<dyn BufRead>)>,
    line: usize,
    reader: Reader,
    /// Data read but not yet parsed.
    piece: Vec<u8>,
    at: usize,
    /// An unfinished line, which may span files.
    rest: Vec<u8>,
    ended: bool,
    /// Number of files that could not be read.
    pub(crate) failures: usize,
}

impl std::fmt::Debug for Inputs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inputs").field("files", &self.files).field("line", &self.line).finish_non_exhaustive()
    }
}

impl Inputs {
    /// Without names standard input is read.
    pub(crate) fn new(files: Vec<Vec<u8>>, reading: Reading) -> Self {
        let files = if files.is_empty() { vec![b"-".to_vec()] } else { files };
        Self {
            reading,
            files: files.into(),
            current: None,
            line: 0,
            reader: Reader::new(reading.stream),
            piece: Vec::new(),
            at: 0,
            rest: Vec::new(),
            ended: false,
            failures: 0,
        }
    }

    pub(crate) fn line(&self) -> usize {
        self.line
    }

    pub(crate) fn file_name(&self) -> Option<&str> {
        self.current.as_ref().map(|(name, _)| name.as_str()).filter(|name| *name != "<stdin>")
    }

    /// The input position, for messages.
    pub(crate) fn place(&self) -> String {
        match &self.current {
            Some((name, _)) => format!("{name}:{}", self.line),
            None => "<unknown>".to_owned(),
        }
    }

    /// The next input.
    pub(crate) fn next(&mut self) -> Result<Option<Val>, String> {
        if self.ended {
            return Ok(None);
        }
        match (self.reading.raw, self.reading.slurp) {
            (true, true) => {
                let mut text = Vec::new();
                while self.more() {
                    text.append(&mut self.piece);
                }
                self.ended = true;
                Ok(Some(Val::from(String::from_utf8_lossy(&text).into_owned())))
            }
            (true, false) => Ok(self.next_line()),
            (false, true) => {
                let mut values = Vec::new();
                while let Some(value) = self.next_value()? {
                    values.push(value);
                }
                self.ended = true;
                Ok(Some(Val::array(values)))
            }
            (false, false) => self.next_value(),
        }
    }

    fn next_value(&mut self) -> Result<Option<Val>, String> {
        loop {
            let found = self.reader.next(&self.piece, &mut self.at);
            match found {
                Ok(None) => {}
                Ok(found) => return Ok(found),
                Err(message) => {
                    self.at = self.piece.len();
                    self.ended = true;
                    return Err(message);
                }
            }
            if !self.more() {
                let last = self.reader.end();
                self.ended |= !matches!(last, Ok(Some(_)));
                return last;
            }
        }
    }

    fn next_line(&mut self) -> Option<Val> {
        while self.more() {
            self.rest.append(&mut self.piece);
            if self.rest.last() == Some(&b'\n') {
                self.rest.pop();
                return Some(self.take_rest());
            }
        }
        self.ended = true;
        if self.rest.is_empty() { None } else { Some(self.take_rest()) }
    }

    fn take_rest(&mut self) -> Val {
        let text = String::from_utf8_lossy(&self.rest).into_owned();
        self.rest.clear();
        Val::from(text)
    }

    /// Reads more, at most to the end of a line. Returns false at the end.
    fn more(&mut self) -> bool {
        self.piece.clear();
        self.at = 0;
        loop {
            if let Some((_, input)) = &mut self.current {
                match input.take(MAX_PIECE).read_until(b'\n', &mut self.piece) {
                    Ok(0) => {}
                    Ok(_) => {
                        if self.piece.last() == Some(&b'\n') {
                            self.line += 1;
                        }
                        return true;
                    }
                    Err(error) => {
                        tidebox_gnu::eprint_line!("jq: error: Input error: {}", error_text(&error));
                        self.failures += 1;
                    }
                }
                // Messages name the last input even after its end.
                if self.files.is_empty() {
                    return false;
                }
                self.current = None;
            }
            let Some(file) = self.files.pop_front() else {
                return false;
            };
            self.line = 0;
            self.open(&file);
        }
    }

    fn open(&mut self, name: &[u8]) {
        let shown = String::from_utf8_lossy(name).into_owned();
        if name == b"-" {
            self.current = Some(("<stdin>".to_owned(), Box::new(BufReader::new(io::stdin()))));
            return;
        }
        let opened = File::open(bytes_path(name)).and_then(|file| {
            // A directory can be opened but not read.
            if file.metadata()?.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(file) }
        });
        match opened {
            Ok(file) => self.current = Some((shown, Box::new(BufReader::new(file)))),
            Err(error) => {
                let why = if error.kind() == io::ErrorKind::IsADirectory {
                    "Is a directory".to_owned()
                } else {
                    error_text(&error)
                };
                tidebox_gnu::eprint_line!("jq: error: Could not open file {shown}: {why}");
                self.failures += 1;
            }
        }
    }
}
