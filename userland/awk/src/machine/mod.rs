//! Interpreter of compiled programs.
//!
//! Values and local variables are on a separate stack, so recursion in a program uses heap memory and no stack of the process.

mod access;
mod calls;
mod compare;
mod files;
mod getline;
mod matching;
mod numeric;
mod print;
mod run;
mod settings;
mod sorting;
mod strings;
mod time;

use std::collections::HashMap;
use std::rc::Rc;

use tidebox_rt::Errno;

pub(crate) use files::{assignment, open as open_file};
pub(crate) use numeric::calculate;

use crate::array::{Array, Handle, Key};
use crate::code::{Origin, Program};
use crate::compile::{SPECIAL, slot};
use crate::options::Options;
use crate::pattern::Pattern;
use crate::random::Random;
use crate::record::Record;
use crate::stream::{Lost, Streams};
use crate::value::Value;
use files::Files;
use settings::Settings;

/// Reason why execution stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A fatal error with its message.
    Fatal(String),
    Exit,
    Next,
    NextFile,
    /// The reader of standard output has closed the pipe.
    Quiet,
}

pub(crate) type Outcome<T> = Result<T, Stop>;

fn fatal<T>(message: impl Into<String>) -> Outcome<T> {
    Err(Stop::Fatal(message.into()))
}

/// A resolved assignment target.
#[derive(Clone, Debug)]
enum Location {
    Global(u32),
    Special(u32),
    /// On the stack.
    Local(usize),
    Field(usize),
    Element(Handle, Key),
}

/// A call in progress.
#[derive(Debug)]
struct Frame {
    back: usize,
    base: usize,
    loops: usize,
    function: u32,
}

/// Remaining subscripts of a `for (key in array)` loop.
#[derive(Debug)]
struct Walk {
    keys: std::vec::IntoIter<Key>,
}

/// A program and its state.
#[derive(Debug)]
pub(crate) struct Machine {
    program: Rc<Program>,
    stack: Vec<Value>,
    frames: Vec<Frame>,
    /// Start of the local variables of the running function.
    base: usize,
    globals: Vec<Value>,
    spots: Vec<Location>,
    walks: Vec<Walk>,
    record: Record,
    files: Files,
    streams: Streams,
    settings: Settings,
    /// Cached dynamic regular expressions.
    patterns: HashMap<Vec<u8>, Rc<Pattern>>,
    random: Random,
    ranges: Vec<bool>,
    at: usize,
    exit_code: i32,
    /// True in `END`, where the record is the last one of the input.
    in_end: bool,
    /// Nesting of calls made by the interpreter itself, when it sorts.
    nested: u32,
    options: Options,
    /// True once invalid characters were warned about.
    doubted: bool,
    /// Scratch buffer for text concatenation.
    scratch: Vec<u8>,
    /// Buffer for the next record, and the terminator of the last one.
    spare: Vec<u8>,
    terminator: Vec<u8>,
}

impl Machine {
    pub(crate) fn new(program: Program, options: Options) -> Self {
        let mut globals = vec![Value::Untyped; program.globals.len()];
        let ranges = vec![false; program.ranges as usize];
        for (name, value) in [
            ("FS", " "),
            ("OFS", " "),
            ("ORS", "\n"),
            ("RS", "\n"),
            ("SUBSEP", "\x1c"),
            ("CONVFMT", "%.6g"),
            ("OFMT", "%.6g"),
            ("FPAT", "[^[:space:]]+"),
            ("FIELDWIDTHS", ""),
            ("FILENAME", ""),
            ("RT", ""),
            ("ERRNO", ""),
            ("TEXTDOMAIN", "messages"),
            ("ROUNDMODE", "N"),
        ] {
            globals[slot(name) as usize] = Value::text(value.as_bytes());
        }
        for (name, value) in [
            ("NF", 0.0),
            ("NR", 0.0),
            ("FNR", 0.0),
            ("RSTART", 0.0),
            ("RLENGTH", 0.0),
            ("PREC", 53.0),
            ("IGNORECASE", 0.0),
            ("ARGIND", 0.0),
            ("BINMODE", 0.0),
            ("LINT", 0.0),
        ] {
            globals[slot(name) as usize] = Value::Number(value);
        }
        let mut machine = Self {
            program: Rc::new(program),
            stack: Vec::with_capacity(64),
            frames: Vec::new(),
            base: 0,
            globals,
            spots: Vec::new(),
            walks: Vec::new(),
            record: Record::new(),
            files: Files::default(),
            streams: Streams::default(),
            settings: Settings::default(),
            patterns: HashMap::new(),
            random: Random::new(),
            ranges,
            at: usize::MAX,
            exit_code: 0,
            in_end: false,
            nested: 0,
            options,
            doubted: false,
            scratch: Vec::new(),
            spare: Vec::new(),
            terminator: Vec::new(),
        };
        machine.set_arguments();
        machine
    }

    /// Runs the whole program. Returns the exit code.
    pub(crate) fn main(&mut self) -> i32 {
        let outcome = self.everything();
        let finished = self.finish(outcome);
        let closed = self.streams.close_all();
        let code = match finished {
            Ok(code) => code,
            Err(code) => return code,
        };
        match closed {
            Ok(()) => code,
            Err(Lost::Standard(Errno::PIPE)) => crate::stream::broken_pipe(),
            Err(Lost::Standard(error)) => {
                tidebox_gnu::eprint_line!("{}flushing standard output failed: {}", self.place("fatal: "), error.text());
                2
            }
            Err(Lost::Stream(name, error)) => {
                let name = String::from_utf8_lossy(&name);
                tidebox_gnu::eprint_line!("{}close of `{name}' failed: {}", self.place("warning: "), error.text());
                code
            }
        }
    }

    fn finish(&mut self, outcome: Outcome<()>) -> Result<i32, i32> {
        match outcome {
            Ok(()) | Err(Stop::Exit | Stop::Next | Stop::NextFile) => Ok(self.exit_code & 255),
            Err(Stop::Quiet) => Err(crate::stream::broken_pipe()),
            Err(Stop::Fatal(message)) => {
                // Flush printed output before the message.
                let _ = self.streams.flush_standard();
                tidebox_gnu::eprint_line!("{}{message}", self.place("fatal: "));
                self.exit_code = 2;
                Ok(2)
            }
        }
    }

    fn everything(&mut self) -> Outcome<()> {
        for (name, value) in std::mem::take(&mut self.options.assignments) {
            self.assign_operand(&name, &value)?;
        }
        let program = Rc::clone(&self.program);
        let mut ended = false;
        for entry in &program.begin {
            match self.enter(*entry) {
                Ok(()) => {}
                Err(Stop::Exit) => {
                    ended = true;
                    break;
                }
                other => return other,
            }
        }
        let reads = program.rules.is_some() || !program.end.is_empty() || self.watches_files();
        if !ended && reads {
            match self.read_everything() {
                Ok(()) | Err(Stop::Exit) => {}
                other => return other,
            }
        }
        self.in_end = true;
        for entry in &program.end {
            match self.enter(*entry) {
                Ok(()) => {}
                Err(Stop::Exit) => break,
                other => return other,
            }
        }
        Ok(())
    }

    fn watches_files(&self) -> bool {
        !self.program.begin_file.is_empty() || !self.program.end_file.is_empty()
    }

    /// Runs code from a position to its end.
    fn enter(&mut self, entry: usize) -> Outcome<()> {
        let outcome = self.run(entry);
        if outcome.is_err() {
            self.stack.clear();
            self.frames.clear();
            self.walks.clear();
            self.spots.clear();
            self.base = 0;
        }
        outcome
    }

    fn read_everything(&mut self) -> Outcome<()> {
        let rules = self.program.rules;
        while self.next_main_record(true)? {
            let Some(entry) = rules else {
                continue;
            };
            match self.run(entry) {
                Ok(()) => {}
                Err(stop) => {
                    self.stack.clear();
                    self.frames.clear();
                    self.walks.clear();
                    self.spots.clear();
                    self.base = 0;
                    match stop {
                        Stop::Next => {}
                        Stop::NextFile => self.skip_file()?,
                        other => return Err(other),
                    }
                }
            }
        }
        Ok(())
    }

    fn global(&self, name: &'static str) -> &Value {
        const { assert!(!SPECIAL.is_empty()) };
        &self.globals[slot(name) as usize]
    }

    /// Prefix of a message: the source position and the current record.
    fn place(&self, kind: &str) -> String {
        let program = crate::message::program();
        let origin = self.program.origins.get(self.at).copied().unwrap_or_default();
        let Origin { source, line } = origin;
        if line == 0 {
            return format!("{program}: {kind}");
        }
        let source = self.program.sources.get(source as usize).map_or(&b"cmd. line"[..], Vec::as_slice);
        let source = String::from_utf8_lossy(source);
        let fnr = self.global("FNR").number();
        if fnr > 0.0 {
            let file = self.global("FILENAME").to_text(b"%.6g");
            let file = String::from_utf8_lossy(file.bytes()).into_owned();
            let file = if file.is_empty() { "-".to_owned() } else { file };
            return format!("{program}: {source}:{line}: (FILENAME={file} FNR={fnr}) {kind}");
        }
        format!("{program}: {source}:{line}: {kind}")
    }

    /// Prints a warning.
    fn warn(&mut self, message: &str) {
        let _ = self.streams.flush_standard();
        tidebox_gnu::eprint_line!("{}{message}", self.place("warning: "));
    }

    /// The array of a variable; an untyped variable becomes an array.
    fn new_array_in(value: &mut Value) -> Option<Handle> {
        match value {
            Value::Untyped => {
                let handle = Array::handle();
                *value = Value::Array(Rc::clone(&handle));
                Some(handle)
            }
            Value::Array(handle) => {
                let mut array = handle.borrow_mut();
                match &*array {
                    Array::Untyped => *array = Array::Empty,
                    Array::Scalar => return None,
                    _ => {}
                }
                drop(array);
                Some(Rc::clone(handle))
            }
            _ => None,
        }
    }
}
