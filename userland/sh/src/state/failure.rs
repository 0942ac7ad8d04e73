//! How errors are told, and what they end.

use super::{Run, Shell, Stop};
use crate::ir::Bytes;

impl Shell {
    /// What messages start with: the script, where in it, and what reads it when that is not the shell itself.
    pub(crate) fn message_prefix(&self, origin: &[u8]) -> Bytes {
        if self.options.interactive {
            // Who types the commands knows where they are.
            let mut line = self.base_name().to_vec();
            line.extend_from_slice(b": ");
            return line;
        }
        let source = self.frames.last().map_or(&self.script, |frame| &frame.source);
        let mut line = if source.is_empty() { self.name.clone() } else { source.to_vec() };
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
        self.name.rsplit(|&b| b == b'/').next().unwrap_or_default()
    }

    /// How an error ends that a script does not survive: an interactive shell gives up the command only.
    pub(crate) fn fatal(&self) -> Stop {
        if self.options.interactive && !self.forked { Stop::Discard } else { Stop::Exit }
    }

    /// As [`Self::fatal`] in posix mode, where special builtins are concerned; else nothing ends.
    pub(crate) fn fatal_in_posix(&mut self) -> Run {
        let spared = !self.options.posix || self.options.interactive || self.commanded > 0;
        if spared {
            return Ok(());
        }
        // A script ends with the redirections of the place, and a text without them.
        if self.texts == 0 {
            self.run_exit_trap();
        }
        Err(Stop::Exit)
    }

    /// Writes a message of the shell to standard error, in bash's form.
    pub(crate) fn complain(&mut self, text: impl AsRef<[u8]>) {
        let mut line = self.message_prefix(b"");
        line.extend_from_slice(text.as_ref());
        line.push(b'\n');
        // Where standard error is closed there is nobody to tell.
        let _ = self.io.write(2, &line);
    }

    /// Complains about a parameter without a value and ends the shell; a command string has a status of its own for that.
    pub(crate) fn abort_unset<T>(&mut self, text: impl AsRef<[u8]>) -> Run<T> {
        self.complain(text);
        self.end_of_expansion()
    }

    /// Ends the shell because of an expansion that was complained about.
    pub(crate) fn end_of_expansion<T>(&mut self) -> Run<T> {
        let string = self.options.from_string && !self.options.interactive;
        let outermost = self.subshell == u32::from(self.expands_alone);
        let status = if string && outermost && !self.substituting && !self.options.errexit { 127 } else { 1 };
        self.status = status;
        // The EXIT trap that it ends leaves the status of the shell alone.
        if self.traps.is_running(crate::trap::EXIT) {
            self.status = self.trap_status.unwrap_or(status);
        }
        Err(self.fatal())
    }

    /// Complains about what the shell itself refuses, and no builtin. With `set -e` that ends the shell at once, whoever looks
    /// at the status.
    pub(crate) fn refuse(&mut self, text: impl AsRef<[u8]>) -> Run {
        self.complain(text);
        if self.options.errexit { Err(self.end_of_refusal()) } else { Ok(()) }
    }

    /// How `set -e` ends the shell then: with the status of the last command, if that failed.
    pub(crate) fn end_of_refusal(&mut self) -> Stop {
        self.status = self.status.max(1);
        Stop::Exit
    }

    /// As [`Self::complain`], with the name of the builtin that runs.
    pub(crate) fn complain_builtin(&mut self, text: impl AsRef<[u8]>) {
        let mut line = self.running.as_bytes().to_vec();
        line.extend_from_slice(b": ");
        line.extend_from_slice(text.as_ref());
        self.complain(line);
    }

    /// Complains and gives up the command that was read, with status 1.
    pub(crate) fn discard<T>(&mut self, text: impl AsRef<[u8]>) -> Run<T> {
        self.complain(text);
        self.status = 1;
        Err(Stop::Discard)
    }

    /// The same for an expansion that is none, with which `set -e` ends the shell wherever it stands.
    pub(crate) fn discard_expansion<T>(&mut self, text: impl AsRef<[u8]>) -> Run<T> {
        self.status = 1;
        self.discard_refused(text)
    }

    /// Complains as [`Self::refuse`] does, and gives up the command.
    pub(crate) fn discard_refused<T>(&mut self, text: impl AsRef<[u8]>) -> Run<T> {
        self.refuse(text)?;
        self.status = 1;
        Err(Stop::Discard)
    }

    /// Makes an error give up what the shell itself has read: the command in a script, and all of a command string.
    pub(crate) fn abandon<T>(&mut self, result: Run<T>) -> Run<T> {
        match result {
            Err(Stop::Discard) if self.options.from_string => {
                // A process that was made for a loop or the like leaves that, too, and ends as the shell does.
                self.traps.passes_exit = false;
                Err(Stop::Exit)
            }
            Err(Stop::Discard) => Err(Stop::Abandon),
            other => other,
        }
    }

    /// Complains and ends the shell with `status`.
    pub(crate) fn abort<T>(&mut self, status: u8, text: impl AsRef<[u8]>) -> Run<T> {
        self.complain(text);
        self.status = status;
        Err(Stop::Exit)
    }

    /// Ends the shell because memory ran out, in the words of bash.
    pub(crate) fn out_of_memory<T>(&mut self, wanted: usize) -> Run<T> {
        self.abort(2, format!("xrealloc: cannot allocate {wanted} bytes"))
    }
}
