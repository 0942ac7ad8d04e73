//! Error messages and their effect on control flow.

use super::{EvalResult, Shell, Unwind};
use crate::ir::Bytes;

impl Shell {
    /// The prefix of messages: the script, the line, and the reader of the text if it is not the shell itself.
    pub(crate) fn message_prefix(&self, origin: &[u8]) -> Bytes {
        if self.options.interactive {
            // An interactive shell prints neither script nor line.
            let mut line = self.base_name().to_vec();
            line.extend_from_slice(b": ");
            return line;
        }
        let source = self.frames.last().map_or(&self.invocation.script, |frame| &frame.source);
        let mut line = if source.is_empty() { self.invocation.name.clone() } else { source.to_vec() };
        if !origin.is_empty() {
            line.extend_from_slice(b": ");
            line.extend_from_slice(origin);
        }
        line.extend_from_slice(b": line ");
        line.extend_from_slice(self.line.to_string().as_bytes());
        line.extend_from_slice(b": ");
        line
    }

    /// The name of the shell without the directories before it.
    pub(crate) fn base_name(&self) -> &[u8] {
        self.invocation.name.rsplit(|&b| b == b'/').next().unwrap_or_default()
    }

    /// Ends the shell after a fatal error. An interactive shell only discards the command.
    pub(crate) fn fatal(&self) -> Unwind {
        if self.options.interactive && !self.process.forked { Unwind::Discard } else { Unwind::Exit }
    }

    /// Like [`Self::fatal`] for special builtins in posix mode; otherwise the shell continues.
    pub(crate) fn fatal_in_posix(&mut self) -> EvalResult {
        let continues = !self.options.posix || self.options.interactive || self.builtin.command_calls > 0;
        if continues {
            return Ok(());
        }
        Err(Unwind::Exit)
    }

    /// Writes a message of the shell to standard error, in bash's form.
    pub(crate) fn report_error(&mut self, text: impl AsRef<[u8]>) {
        let mut line = self.message_prefix(b"");
        line.extend_from_slice(text.as_ref());
        line.push(b'\n');
        // A closed standard error is ignored.
        let _ = self.io.write(2, &line);
    }

    /// Reports an unset parameter and ends the shell. A command string has a different status.
    pub(crate) fn abort_unset<T>(&mut self, text: impl AsRef<[u8]>) -> EvalResult<T> {
        self.report_error(text);
        self.end_after_expansion_error()
    }

    /// Ends the shell after an expansion error that was reported.
    pub(crate) fn end_after_expansion_error<T>(&mut self) -> EvalResult<T> {
        let string = self.options.from_string && !self.options.interactive;
        let outermost = self.process.subshell == 0;
        let status =
            if string && outermost && !self.expansion.in_substitution && !self.options.errexit { 127 } else { 1 };
        self.status = status;
        // An error in the EXIT trap does not change the status of the shell.
        if self.traps.is_running(crate::trap::EXIT) {
            self.status = self.traps.status_before.unwrap_or(status);
        }
        Err(self.fatal())
    }

    /// Like [`Self::report_error`], with the name of the current builtin.
    pub(crate) fn report_builtin_error(&mut self, text: impl AsRef<[u8]>) {
        let mut line = self.builtin.name.as_bytes().to_vec();
        line.extend_from_slice(b": ");
        line.extend_from_slice(text.as_ref());
        self.report_error(line);
    }

    /// Reports an error and discards the current command, with status 1.
    pub(crate) fn discard<T>(&mut self, text: impl AsRef<[u8]>) -> EvalResult<T> {
        self.report_error(text);
        self.status = 1;
        Err(Unwind::Discard)
    }

    /// Reports an error and ends the shell with `status`.
    pub(crate) fn abort<T>(&mut self, status: u8, text: impl AsRef<[u8]>) -> EvalResult<T> {
        self.report_error(text);
        self.status = status;
        Err(Unwind::Exit)
    }

    /// Ends the shell because memory ran out, with bash's message.
    pub(crate) fn out_of_memory<T>(&mut self, requested: usize) -> EvalResult<T> {
        self.abort(2, format!("xrealloc: cannot allocate {requested} bytes"))
    }
}
