//! Input files of the command line, in order.

use std::rc::Rc;

use tidebox_rt::{Errno, FileKind, Open};

use super::{Machine, Outcome, Stop, fatal};
use crate::array::{Array, Handle, Key};
use crate::compile::slot;
use crate::escape::unescape;
use crate::input::{Input, ReadError};
use crate::lexer::is_whole_name;
use crate::text::Text;
use crate::value::Value;

/// Position on the command line.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// The next element of `ARGV`.
    next: i32,
    current: Option<Input>,
    /// All input has been read.
    done: bool,
    /// A file was named, so standard input is not read.
    named: bool,
}

const ARGC: usize = slot("ARGC") as usize;
const ARGV: usize = slot("ARGV") as usize;
const ARGIND: usize = slot("ARGIND") as usize;
const FILENAME: usize = slot("FILENAME") as usize;
const FNR: usize = slot("FNR") as usize;
const NR: usize = slot("NR") as usize;
const ERRNO: usize = slot("ERRNO") as usize;

impl Machine {
    /// Fills `ARGV`, `ENVIRON` and `PROCINFO`.
    pub(super) fn set_arguments(&mut self) {
        self.files.next = 1;
        let arguments = std::iter::once(crate::message::program().into_bytes()).chain(self.options.operands.drain(..));
        let mut array = Array::Empty;
        let mut count = 0;
        for argument in arguments {
            array.set(&Key::Integer(count), Value::input(&argument));
            count += 1;
        }
        self.globals[ARGC] = Value::Number(f64::from(count));
        self.globals[ARGV] = Value::Array(Rc::new(array.into()));
        // Filled only if the program refers to them.
        if self.options.mentions_environ {
            let environ = self.fresh_array("ENVIRON");
            for entry in tidebox_rt::environ() {
                let at = entry.iter().position(|byte| *byte == b'=').unwrap_or(entry.len());
                let (name, value) = entry.split_at(at);
                environ.borrow_mut().set(&Key::of_bytes(name), Value::input(value.get(1..).unwrap_or_default()));
            }
        }
        if self.options.mentions_procinfo {
            self.set_procinfo();
        }
    }

    fn fresh_array(&mut self, name: &'static str) -> Handle {
        let handle = Array::handle();
        let at = crate::compile::SPECIAL.iter().position(|known| *known == name).unwrap_or_default();
        self.globals[at] = Value::Array(Rc::clone(&handle));
        handle
    }

    fn set_procinfo(&mut self) {
        let procinfo = self.fresh_array("PROCINFO");
        let ids = tidebox_rt::getids().unwrap_or_default();
        let mut array = procinfo.borrow_mut();
        let mut number = |name: &str, value: u32| {
            array.set(&Key::of_bytes(name.as_bytes()), Value::Number(f64::from(value)));
        };
        for (name, value) in [
            ("pgrpid", ids.pgid),
            ("pid", ids.pid),
            ("ppid", ids.ppid),
            ("egid", ids.gid),
            ("euid", ids.uid),
            ("gid", ids.gid),
            ("uid", ids.uid),
            ("api_major", 3),
            ("api_minor", 2),
        ] {
            number(name, value);
        }
        for (name, value) in [
            ("version", "5.2.1"),
            ("strftime", "%a %b %e %H:%M:%S %Z %Y"),
            ("platform", "posix"),
            ("FS", self.settings.splitting.name()),
        ] {
            array.set(&Key::of_bytes(name.as_bytes()), Value::text(value.as_bytes()));
        }
        let arguments = Array::handle();
        for (at, argument) in tidebox_rt::args().iter().enumerate() {
            arguments.borrow_mut().set(&Key::Integer(at as i32), Value::text(argument));
        }
        array.set(&Key::of_bytes(b"argv"), Value::Array(arguments));
    }

    /// Assigns a variable by a `name=value` operand.
    pub(super) fn assign_operand(&mut self, name: &[u8], value: &[u8]) -> Outcome<()> {
        let mut text = Vec::new();
        let mut rest = value;
        while let Some((byte, after)) = rest.split_first() {
            rest = after;
            if *byte != b'\\' {
                text.push(*byte);
                continue;
            }
            let (used, warning) = unescape(rest, &mut text);
            if let Some(warning) = warning {
                tidebox_gnu::eprint_line!("{}: warning: {warning}", crate::message::program());
            }
            rest = rest.get(used..).unwrap_or_default();
        }
        let value = Value::Input(Text::from_vec(text));
        if self.program.functions.iter().any(|function| function.name == name) {
            let name = String::from_utf8_lossy(name).into_owned();
            return fatal(format!("cannot use function name `{name}' as variable name"));
        }
        if crate::builtin::Builtin::find(name).is_some() {
            let name = String::from_utf8_lossy(name).into_owned();
            return fatal(format!("cannot use gawk builtin `{name}' as variable name"));
        }
        let Some(slot) = self.program.globals.iter().position(|known| known == name) else {
            // The program does not use this variable.
            return Ok(());
        };
        if slot < crate::compile::WATCHED as usize {
            return self.set_special(slot as u32, value);
        }
        self.store(crate::code::Var::Global(slot as u32), value)
    }

    /// Advances to the next file. Returns `false` after the last one.
    fn next_file(&mut self, in_rules: bool) -> Outcome<bool> {
        loop {
            let count = self.globals[ARGC].number() as i32;
            if self.files.next >= count {
                if self.files.named {
                    return Ok(false);
                }
                self.files.named = true;
                self.files.current = Some(Input::new(0));
                self.globals[FILENAME] = Value::text(b"-");
                return self.begin_file(in_rules, Ok(())).map(|read| read || self.files.current.is_some());
            }
            let at = self.files.next;
            self.files.next += 1;
            let argument = match &self.globals[ARGV] {
                Value::Array(handle) => handle.borrow().get(&Key::Integer(at)).cloned(),
                _ => None,
            };
            let Some(argument) = argument else {
                continue;
            };
            let argument = self.text_of(&argument);
            if argument.is_empty() {
                continue;
            }
            if let Some((name, value)) = assignment(argument.bytes()) {
                self.assign_operand(name, value)?;
                continue;
            }
            self.files.named = true;
            self.globals[ARGIND] = Value::Number(f64::from(at));
            if self.open_file(&argument, in_rules)? {
                return Ok(true);
            }
        }
    }

    /// Opens one file. Returns `false` if it is skipped.
    fn open_file(&mut self, name: &Text, in_rules: bool) -> Outcome<bool> {
        let opened = open(name.bytes());
        let problem = match opened {
            Ok(fd) => {
                self.files.current = Some(Input::new(fd));
                Ok(())
            }
            Err(error) => Err(error),
        };
        let has_block = !self.program.begin_file.is_empty();
        if let Err(error) = problem
            && !(has_block && in_rules)
        {
            let shown = String::from_utf8_lossy(name.bytes()).into_owned();
            if error == Errno::ISDIR {
                self.warn_plain(&format!("command line argument `{shown}' is a directory: skipped"));
                return Ok(false);
            }
            self.globals[FNR] = Value::Number(0.0);
            return self.cannot_read(&shown, error);
        }
        self.globals[FILENAME] = Value::Input(name.clone());
        self.begin_file(in_rules, problem)
    }

    fn cannot_read<T>(&self, name: &str, error: Errno) -> Outcome<T> {
        fatal(format!("cannot open file `{name}' for reading: {}", error.text()))
    }

    fn warn_plain(&mut self, message: &str) {
        let _ = self.streams.flush_standard();
        let place = self.place("warning: ");
        tidebox_gnu::eprint_line!("{place}{message}");
    }

    /// Runs `BEGINFILE`. Returns `false` if the file is skipped.
    fn begin_file(&mut self, in_rules: bool, problem: Result<(), Errno>) -> Outcome<bool> {
        self.globals[FNR] = Value::Number(0.0);
        let program = Rc::clone(&self.program);
        if program.begin_file.is_empty() || !in_rules {
            return Ok(true);
        }
        let reason = problem.err().map_or("", Errno::text);
        self.globals[ERRNO] = Value::text(reason.as_bytes());
        for entry in &program.begin_file {
            match self.enter(*entry) {
                Ok(()) => {}
                Err(Stop::NextFile) => {
                    self.end_of_input();
                    return Ok(false);
                }
                Err(other) => return Err(other),
            }
        }
        if let Err(error) = problem {
            let name = self.globals[FILENAME].to_text(b"%.6g");
            let shown = String::from_utf8_lossy(name.bytes()).into_owned();
            if error == Errno::ISDIR {
                self.warn_plain(&format!("command line argument `{shown}' is a directory: skipped"));
                return Ok(false);
            }
            return self.cannot_read(&shown, error);
        }
        Ok(true)
    }

    fn end_of_input(&mut self) {
        if let Some(input) = self.files.current.take()
            && input.fd != 0
        {
            // The file was only read, so close errors do not matter.
            let _ = tidebox_rt::close(input.fd);
        }
    }

    /// Ends the current file and runs `ENDFILE`.
    fn end_file(&mut self, in_rules: bool) -> Outcome<()> {
        self.end_of_input();
        let program = Rc::clone(&self.program);
        if in_rules {
            for entry in &program.end_file {
                self.enter(*entry)?;
            }
        }
        Ok(())
    }

    /// Implements `nextfile`.
    pub(super) fn skip_file(&mut self) -> Outcome<()> {
        if self.files.current.is_some() { self.end_file(true) } else { Ok(()) }
    }

    /// Reads the next record of the files as the current record.
    #[inline]
    pub(super) fn next_main_record(&mut self, in_rules: bool) -> Outcome<bool> {
        // The last record stays valid for `END`, so read the next one into a separate buffer.
        let mut buffer = std::mem::take(&mut self.spare);
        let found = self.read_main(&mut buffer, in_rules);
        if let Ok(true) = found {
            std::mem::swap(self.record.renew(), &mut buffer);
        }
        self.spare = buffer;
        found
    }

    /// Reads the next record of the files as text.
    pub(super) fn next_main_text(&mut self) -> Outcome<Option<Vec<u8>>> {
        let mut buffer = Vec::new();
        Ok(self.read_main(&mut buffer, false)?.then_some(buffer))
    }

    fn read_main(&mut self, buffer: &mut Vec<u8>, in_rules: bool) -> Outcome<bool> {
        buffer.clear();
        loop {
            if self.files.done {
                return Ok(false);
            }
            let Some(input) = &mut self.files.current else {
                if !self.next_file(in_rules)? {
                    self.files.done = self.files.current.is_none();
                }
                continue;
            };
            match input.next(&self.settings.ending, buffer, &mut self.terminator) {
                Ok(true) => break,
                Ok(false) => {
                    self.note_terminator(b"");
                    self.end_file(in_rules)?;
                }
                Err(ReadError::Pattern(error)) => return fatal(error),
                Err(ReadError::Read(error)) => {
                    let name = self.globals[FILENAME].to_text(b"%.6g");
                    let shown = String::from_utf8_lossy(name.bytes()).into_owned();
                    if error == Errno::ISDIR {
                        self.warn_plain(&format!("command line argument `{shown}' is a directory: skipped"));
                        self.end_of_input();
                        continue;
                    }
                    return fatal(format!("error reading input file `{shown}': {}", error.text()));
                }
            }
        }
        let terminator = std::mem::take(&mut self.terminator);
        self.note_terminator(&terminator);
        self.terminator = terminator;
        for slot in [NR, FNR] {
            let place = &mut self.globals[slot];
            *place = Value::Number(place.number() + 1.0);
        }
        Ok(true)
    }
}

/// Opens a file for reading; rejects directories.
pub(crate) fn open(name: &[u8]) -> Result<u32, Errno> {
    if matches!(name, b"-" | b"/dev/stdin") {
        return Ok(0);
    }
    let fd = tidebox_rt::open(name, Open { read: true, ..Open::default() })?;
    match tidebox_rt::fstat(fd) {
        Ok(stat) if stat.kind() == FileKind::Dir => {
            let _ = tidebox_rt::close(fd);
            Err(Errno::ISDIR)
        }
        _ => Ok(fd),
    }
}

/// The name and value of an assignment operand.
pub(crate) fn assignment(operand: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = operand.iter().position(|byte| *byte == b'=')?;
    let (name, value) = operand.split_at(at);
    let plain = name.strip_prefix(b"awk::").unwrap_or(name);
    is_whole_name(plain).then_some((plain, value.get(1..).unwrap_or_default()))
}
