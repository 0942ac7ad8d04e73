//! Command and process substitution.

use std::rc::Rc;

use tidebox_rt::{self as rt, Errno, ExitStatus, Fd, Open};

use crate::eval::Stage;
use crate::ir::{Bytes, Command, Kind, List, Pipeline, Simple, Substitution, Word};
use crate::state::{EvalResult, Shell, Unwind};

/// SIGINT.
const INTERRUPT: u8 = 2;

impl Shell {
    /// The output of a substitution without the newlines at its end.
    #[inline(never)]
    pub(crate) fn substitute(&mut self, substitution: &Substitution) -> EvalResult<Bytes> {
        if let Some(invalid) = &substitution.invalid {
            let (error, text) = &**invalid;
            let status = self.status;
            self.syntax_error(error, text, b"command substitution");
            self.expansion.substitution_status = Some(std::mem::replace(&mut self.status, status));
            return Ok(Bytes::new());
        }
        let mut text = match &substitution.file {
            Some(word) => self.file_text(word)?,
            None => {
                // The statuses of its stages are visible only in the substitution.
                let statuses = self.pipe_status.clone();
                let output = self.in_text(|shell| shell.output_of(substitution));
                self.pipe_status = statuses;
                output?
            }
        };
        if text.contains(&0) {
            self.report_error("warning: command substitution: ignored null byte in input");
            text.retain(|&b| b != 0);
        }
        while text.last() == Some(&b'\n') {
            text.pop();
        }
        Ok(text)
    }

    /// `$(<file)`. The following words see its status.
    fn file_text(&mut self, word: &Word) -> EvalResult<Bytes> {
        let text = match self.redirect_path(word)? {
            Some(path) => match self.open_path(&path, Open { read: true, ..Open::default() }) {
                Ok(fd) => {
                    let text = self.read_all(fd);
                    self.io.close(fd);
                    Some(text)
                }
                Err(errno) => {
                    self.report_error([&path[..], b": ", errno.text().as_bytes()].concat());
                    None
                }
            },
            None => None,
        };
        self.status = u8::from(text.is_none());
        self.expansion.substitution_status = Some(self.status);
        Ok(text.unwrap_or_default())
    }

    /// The output of the commands. `BASH_COMMAND` does not show them to the following words.
    fn output_of(&mut self, substitution: &Substitution) -> EvalResult<Bytes> {
        let outer = self.traps.command.clone();
        let output = self.output_of_commands(substitution);
        self.traps.command = outer;
        output
    }

    fn output_of_commands(&mut self, substitution: &Substitution) -> EvalResult<Bytes> {
        let commands = Rc::clone(&substitution.body);
        if commands.items.is_empty() {
            self.expansion.substitution_status = Some(0);
            return Ok(Bytes::new());
        }
        // If the ERR trap applies to substitutions, the child must see the status of the last command.
        let watched = self.options.errtrace && self.traps.get(crate::trap::ERR).is_some();
        let Some(pipeline) = only_pipeline(&commands).filter(|_| !watched) else {
            return self.collect(|shell| {
                shell.process.forks_substitution = true;
                let forked = shell.fork_child(|child| child.run_list(&commands));
                shell.process.forks_substitution = false;
                let pid = forked?;
                Ok(vec![pid])
            });
        };
        if let [Command::Simple(simple)] = pipeline.stages.as_slice()
            && self.runs_in_memory(simple)
        {
            return self.output_in_memory(simple);
        }
        let (io_pids, text) = self.collect_pipeline(pipeline)?;
        let status = match io_pids.as_slice() {
            [Stage::Process(pid)] => {
                let status = self.wait_pid(*pid)?;
                self.pipe_status = vec![status.code()];
                self.pass_interrupt_on(status);
                status.code()
            }
            stages => self.wait_stages(stages)?,
        };
        self.expansion.substitution_status = Some(status);
        self.status = status;
        Ok(text)
    }

    /// Runs a builtin that only prints, and returns its output.
    pub(crate) fn output_in_memory(&mut self, simple: &Rc<Simple>) -> EvalResult<Bytes> {
        let table = self.io.begin_capture();
        let globs = self.expansion.pending_globs.take();
        let result = self.as_subshell(|shell| shell.run_simple(simple));
        let text = self.io.end_capture(table);
        self.expansion.pending_globs = globs;
        result?;
        self.traps.child_ended();
        self.expansion.substitution_status = Some(self.status);
        Ok(text)
    }

    /// Runs `inner` as in a subshell: errors that would end the subshell end only `inner`.
    pub(crate) fn as_subshell(&mut self, inner: impl FnOnce(&mut Self) -> EvalResult) -> EvalResult {
        let level = self.process.subshell;
        self.process.subshell = level.wrapping_add(1);
        let result = inner(self);
        self.process.subshell = level;
        match result {
            Err(Unwind::Discard | Unwind::Exit) => Ok(()),
            other => other,
        }
    }

    /// Starts processes with standard output at a pipe, reads it to its end and waits for the last of them.
    fn collect(&mut self, start: impl FnOnce(&mut Self) -> EvalResult<Vec<u32>>) -> EvalResult<Bytes> {
        let (pids, text) = self.with_output_pipe(start)?;
        for pid in pids {
            let status = self.wait_pid(pid)?;
            self.pass_interrupt_on(status);
            self.status = status.code();
            self.expansion.substitution_status = Some(self.status);
        }
        Ok(text)
    }

    /// Sends a SIGINT that ended a substitution to the shell too.
    fn pass_interrupt_on(&mut self, status: ExitStatus) {
        if status == ExitStatus::Killed(INTERRUPT) {
            self.io.flush();
            let own = rt::getids().map_or(0, |ids| ids.pid);
            // The shell continues if it handles or ignores the signal.
            let _ = rt::kill(i32::try_from(own).unwrap_or(0), u32::from(INTERRUPT));
        }
    }

    fn collect_pipeline(&mut self, pipeline: &Pipeline) -> EvalResult<(Vec<crate::eval::Stage>, Bytes)> {
        // Such stages are subshells of the substitution, although it has no process.
        let nested = match pipeline.stages.as_slice() {
            [Command::Compound(compound)] => matches!(compound.kind, Kind::Subshell(_)),
            stages => stages.len() > 1,
        };
        self.process.subshell += u32::from(nested);
        self.process.forks_substitution = !nested;
        let collected = self.with_output_pipe(|shell| shell.start_stages(&pipeline.stages));
        self.process.subshell -= u32::from(nested);
        self.process.forks_substitution = false;
        collected
    }

    fn with_output_pipe<T>(&mut self, start: impl FnOnce(&mut Self) -> EvalResult<T>) -> EvalResult<(T, Bytes)> {
        self.io.flush();
        let (read, write) = match self.io.pipe() {
            Ok(ends) => ends,
            Err(errno) => return self.discard(format!("cannot make pipe for command substitution: {errno}")),
        };
        let table = self.io.table().clone();
        self.io.set(1, Some(write));
        // A substitution continues after failures unless it inherits `set -e`.
        let errexit = self.options.errexit;
        self.options.errexit &= self.options.inherit_errexit || self.options.posix;
        // The DEBUG trap does not run in it either, unless `functrace` is on.
        let functrace = self.options.functrace;
        let aside = self.traps.take_matching(|signal| signal == crate::trap::DEBUG && !functrace);
        let outer = std::mem::replace(&mut self.expansion.in_substitution, true);
        let started = start(self);
        self.expansion.in_substitution = outer;
        self.traps.restore(aside);
        self.options.errexit = errexit;
        self.io.flush();
        self.io.set_table(table);
        self.io.close(write);
        if let Err(stop) = started {
            self.io.close(read);
            return Err(stop);
        }
        let text = self.read_all(read);
        self.io.close(read);
        Ok((started?, text))
    }

    /// Everything that can be read from `fd`.
    pub(crate) fn read_all(&mut self, fd: Fd) -> Bytes {
        let mut text = Bytes::new();
        let mut chunk = 4096;
        loop {
            let len = text.len();
            if text.try_reserve(chunk).is_err() {
                self.report_error(format!("xrealloc: cannot allocate {} bytes", len + chunk));
                rt::exit(2);
            }
            text.resize(len + chunk, 0);
            let got = rt::read(fd, text.get_mut(len..).unwrap_or_default());
            text.truncate(len + *got.as_ref().unwrap_or(&0));
            match got {
                Ok(0) => return text,
                Ok(_) => chunk = (text.len() / 2).clamp(4096, 1 << 20),
                Err(Errno::INTR) => {}
                Err(_) => return text,
            }
        }
    }

    /// Returns whether a command is a builtin that only prints, with words that change nothing.
    pub(crate) fn runs_in_memory(&self, simple: &Simple) -> bool {
        let Some(builtin) = simple.builtin else { return false };
        builtin.prints_only
            && simple.quiet_words
            && simple.assigns.is_empty()
            && !self.options.xtrace
            && self.traps.get(crate::trap::DEBUG).is_none()
            && self.traps.get(crate::trap::ERR).is_none()
            && !self.functions.by_name.contains_key(builtin.name.as_bytes())
            && !self.builtin.disabled.contains(builtin.name)
            && !(builtin.name == "printf" && simple.args.iter().any(is_variable_option))
    }

    /// `<( )` and `>( )`: starts the commands with a pipe and returns the name of the pipe.
    pub(crate) fn process_substitution(&mut self, output: bool, body: &Substitution) -> EvalResult<Bytes> {
        let (read, write) = match self.io.pipe() {
            Ok(ends) => ends,
            Err(errno) => return self.discard(format!("cannot make pipe for process substitution: {errno}")),
        };
        let (ours, theirs) = if output { (write, read) } else { (read, write) };
        let table = self.io.table().clone();
        self.io.set(if output { 0 } else { 1 }, Some(theirs));
        let commands = Rc::clone(&body.body);
        self.process.forks_substitution = true;
        let forked = self.fork_child(|child| {
            child.jobs.uncontrolled = true;
            child.traps.forget_inherited();
            child.flow.trace_depth += 1;
            child.run_list(&commands)
        });
        self.process.forks_substitution = false;
        self.io.set_table(table);
        self.io.close(theirs);
        let pid = forked?;
        let number = (3..=63).rev().find(|n| self.io.fd(*n).is_none()).unwrap_or(64);
        self.io.set(number, Some(ours));
        self.expansion.process_fds.push((number, ours));
        self.jobs.last_pid = Some(pid);
        self.jobs.substituted.push(pid);
        Ok(format!("/dev/fd/{number}").into_bytes())
    }

    /// Drops the process substitutions of a command that has ended.
    pub(crate) fn drop_process_fds(&mut self, from: usize) {
        for (number, fd) in self.expansion.process_fds.split_off(from.min(self.expansion.process_fds.len())) {
            if self.io.fd(number) == Some(fd) {
                self.io.set(number, None);
            }
            self.io.close_unused(fd);
        }
    }
}

/// The pipeline of a substitution that consists of one pipeline.
fn only_pipeline(commands: &List) -> Option<&Pipeline> {
    match commands.items.as_slice() {
        [item] if !item.background && item.chain.rest.is_empty() => {
            let pipeline = &item.chain.first;
            (!pipeline.bang && pipeline.timed.is_none() && !pipeline.stages.is_empty()).then_some(pipeline)
        }
        _ => None,
    }
}

fn is_variable_option(arg: &crate::ir::Arg) -> bool {
    !matches!(arg, crate::ir::Arg::Word(word) if word.literal() != Some(b"-v") && !word.raw.starts_with(b"-v"))
}
