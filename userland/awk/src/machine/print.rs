//! `print`, `printf` and output redirection.

use tidebox_rt::{Errno, ExitStatus};

use super::{Machine, Outcome, Stop, fatal};
use crate::code::Sink;
use crate::stream::{Kind, Lost};
use crate::value::Value;

/// Output destination.
#[derive(Clone, Copy, Debug)]
enum Destination {
    Standard,
    Stream(usize),
}

impl Machine {
    pub(super) fn print(&mut self, count: usize, sink: Sink) -> Outcome<()> {
        let destination = self.destination(sink)?;
        let mut out = std::mem::take(&mut self.scratch);
        out.clear();
        if count == 0 {
            let line = self.record.line(&self.settings.field_separator, &self.settings.conversion);
            out.extend_from_slice(line);
        } else {
            let from = self.stack.len().saturating_sub(count);
            for (at, value) in self.stack.drain(from..).enumerate() {
                if at > 0 {
                    out.extend_from_slice(&self.settings.field_separator);
                }
                value.write(&self.settings.output, &mut out);
            }
        }
        out.extend_from_slice(&self.settings.record_separator);
        let outcome = self.write(destination, &out, "print");
        self.scratch = out;
        outcome
    }

    pub(super) fn printf(&mut self, count: usize, sink: Sink) -> Outcome<()> {
        let destination = self.destination(sink)?;
        let mut out = std::mem::take(&mut self.scratch);
        out.clear();
        self.format(count, &mut out)?;
        let outcome = self.write(destination, &out, "printf");
        self.scratch = out;
        outcome
    }

    /// Opens the output destination.
    fn destination(&mut self, sink: Sink) -> Outcome<Destination> {
        let kind = match sink {
            Sink::Standard => return Ok(Destination::Standard),
            Sink::File => Kind::Write,
            Sink::Append => Kind::Append,
            Sink::Pipe => Kind::PipeTo,
            Sink::TwoWay => Kind::TwoWay,
        };
        let name = self.pop_text();
        if name.is_empty() {
            let sign = match sink {
                Sink::File | Sink::Standard => ">",
                Sink::Append => ">>",
                Sink::Pipe => "|",
                Sink::TwoWay => "|&",
            };
            return fatal(format!("expression for `{sign}' redirection has null string value"));
        }
        if self.options.sandbox {
            return fatal("redirection not allowed in sandbox mode");
        }
        match self.streams.open(kind, name.bytes()) {
            Ok(stream) => Ok(Destination::Stream(stream)),
            Err(error) => fatal(cannot_open(kind, name.bytes(), error)),
        }
    }

    fn write(&mut self, destination: Destination, bytes: &[u8], what: &str) -> Outcome<()> {
        let destination = match destination {
            Destination::Standard => None,
            Destination::Stream(stream) => Some(stream),
        };
        match self.streams.write(destination, bytes) {
            Ok(()) => Ok(()),
            Err(Lost::Standard(Errno::PIPE)) => Err(Stop::Quiet),
            Err(Lost::Standard(error)) => fatal(format!("{what} to \"standard output\" failed: {}", error.text())),
            Err(Lost::Stream(name, error)) => {
                fatal(format!("{what} to \"{}\" failed: {}", String::from_utf8_lossy(&name), error.text()))
            }
        }
    }

    /// Flushes all output.
    pub(super) fn flush(&mut self) -> Outcome<()> {
        match self.streams.flush() {
            Err(Lost::Standard(Errno::PIPE)) => Err(Stop::Quiet),
            Err(Lost::Standard(error)) => fatal(format!("fflush: cannot flush standard output: {}", error.text())),
            _ => Ok(()),
        }
    }

    pub(super) fn system(&mut self) -> Outcome<()> {
        let command = self.pop_text();
        if self.options.sandbox {
            return fatal("'system' function not allowed in sandbox mode");
        }
        self.flush()?;
        let code = match self.streams.run(command.bytes()) {
            Ok(status) => code_of(status),
            Err(_) => 127.0,
        };
        self.push(Value::Number(code));
        Ok(())
    }

    pub(super) fn close(&mut self, count: usize) -> Outcome<()> {
        let end = match count {
            2 => {
                let end = self.pop_text();
                match end.bytes().first() {
                    Some(b't' | b'T') => Some(true),
                    Some(b'f' | b'F') => Some(false),
                    _ => return fatal("close: second argument must be `to' or `from'"),
                }
            }
            _ => None,
        };
        let name = self.pop_text();
        let result = match self.streams.close(name.bytes(), end) {
            None => {
                self.set_error("close of redirection that was never opened");
                -1.0
            }
            Some(Ok(Some(status))) => code_of(status),
            Some(Ok(None)) => 0.0,
            Some(Err(error)) => {
                self.set_error(error.text());
                -1.0
            }
        };
        self.push(Value::Number(result));
        Ok(())
    }

    pub(super) fn fflush(&mut self, count: usize) -> Outcome<()> {
        let name = if count == 1 { Some(self.pop_text()) } else { None };
        let known = match &name {
            Some(name) if !name.is_empty() => self.streams.flush_one(name.bytes()),
            _ => {
                self.flush()?;
                true
            }
        };
        if !known && let Some(name) = &name {
            let shown = String::from_utf8_lossy(name.bytes()).into_owned();
            self.warn(&format!("fflush: `{shown}' is not an open file, pipe or co-process"));
        }
        self.push(Value::Number(if known { 0.0 } else { -1.0 }));
        Ok(())
    }

    /// Stores an error reason in `ERRNO`.
    pub(super) fn set_error(&mut self, reason: &str) {
        self.globals[crate::compile::slot("ERRNO") as usize] = Value::text(reason.as_bytes());
    }
}

/// Exit status of a command as a number: the exit code, or 256 plus the signal.
fn code_of(status: ExitStatus) -> f64 {
    match status {
        ExitStatus::Exited(code) => f64::from(code),
        ExitStatus::Killed(signal) => 256.0 + f64::from(signal),
    }
}

fn cannot_open(kind: Kind, name: &[u8], error: Errno) -> String {
    let name = String::from_utf8_lossy(name);
    match kind {
        Kind::PipeTo => format!("cannot open pipe `{name}' for output: {}", error.text()),
        Kind::TwoWay => format!("cannot open two way pipe `{name}' for input/output: {}", error.text()),
        _ => format!("cannot redirect to `{name}': {}", error.text()),
    }
}
