//! Command and process substitution.

use std::rc::Rc;

use tidebox_rt::{self as rt, Errno, Fd, Open, Status};

use crate::eval::Stage;
use crate::ir::{Bytes, Command, Kind, Layout, List, Pipeline, Simple, Substitution, Word};
use crate::parse::{Parser, Texts};
use crate::state::{Run, Shell, Stop};
use crate::vars::Map;

/// SIGINT.
const INTERRUPT: u8 = 2;

impl Shell {
    /// The output of a substitution without the newlines at its end.
    #[inline(never)]
    pub(crate) fn substitute(&mut self, substitution: &Substitution) -> Run<Bytes> {
        if let Some(broken) = &substitution.broken {
            let (error, text) = &**broken;
            let status = self.status;
            let error = error.moved(substitution.line, self.line);
            self.syntax_error(&error, text, b"command substitution");
            self.substituted = Some(std::mem::replace(&mut self.status, status));
            return Ok(Bytes::new());
        }
        let mut text = match &substitution.file {
            Some(word) => self.file_text(word)?,
            None => {
                self.history.substitutions += 1;
                // What its stages ended with is known to the substitution alone.
                let statuses = self.pipe_status.clone();
                let output = self.in_text(|shell| shell.output_of(substitution));
                self.pipe_status = statuses;
                self.history.substitutions -= 1;
                output?
            }
        };
        if text.contains(&0) {
            self.complain("warning: command substitution: ignored null byte in input");
            text.retain(|&b| b != 0);
        }
        while text.last() == Some(&b'\n') {
            text.pop();
        }
        Ok(text)
    }

    /// `$(<file)`. The words that follow see its status at once.
    fn file_text(&mut self, word: &Word) -> Run<Bytes> {
        let text = match self.redirect_path(word)? {
            Some(path) => match self.open_path(&path, Open { read: true, ..Open::default() }) {
                Ok(fd) => {
                    let text = self.read_all(fd);
                    self.io.close(fd);
                    Some(text)
                }
                Err(errno) => {
                    self.complain([&path[..], b": ", errno.text().as_bytes()].concat());
                    if self.options.errexit {
                        // Whatever the command is that wants the text.
                        return Err(self.end_of_refusal());
                    }
                    None
                }
            },
            None => None,
        };
        self.status = u8::from(text.is_none());
        self.substituted = Some(self.status);
        Ok(text.unwrap_or_default())
    }

    /// What the commands write. They are not what `BASH_COMMAND` shows to the words that follow.
    fn output_of(&mut self, substitution: &Substitution) -> Run<Bytes> {
        let outer = self.current.clone();
        let output = self.output_of_commands(substitution);
        self.current = outer;
        output
    }

    fn output_of_commands(&mut self, substitution: &Substitution) -> Run<Bytes> {
        let commands = self.commands_of(substitution);
        if commands.items.is_empty() {
            self.substituted = Some(0);
            return Ok(Bytes::new());
        }
        // Where the ERR trap looks into substitutions, somebody has to see how the last command ended.
        let watched = self.options.errtrace && self.traps.get(crate::trap::ERR).is_some();
        let Some(pipeline) = only_pipeline(&commands).filter(|_| !watched) else {
            return self.collect(|shell| {
                shell.keeps_loops = true;
                let forked = shell.fork_child(|child| {
                    child.texts = 1;
                    child.run_list(&commands)
                });
                shell.keeps_loops = false;
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
        self.substituted = Some(status);
        self.status = status;
        Ok(text)
    }

    /// The commands of a substitution with their lines counted from the line where the shell is now.
    fn commands_of(&self, substitution: &Substitution) -> Rc<List> {
        let line = self.text_line.unwrap_or(self.line);
        // Those there are now count, and not those of the time when the text was read first.
        let aliases =
            self.options.expand_aliases.then(|| Rc::clone(&self.aliases)).filter(|aliases| !aliases.is_empty());
        if aliases.is_none() && line == substitution.line && matches!(substitution.layout, Layout::OneLine) {
            return Rc::clone(&substitution.body);
        }
        if aliases.is_none()
            && let Some((counted_from, commands)) = &*substitution.read_again.borrow()
            && *counted_from == line
        {
            return Rc::clone(commands);
        }
        let text = match &substitution.layout {
            Layout::Text(text) => text.to_vec(),
            Layout::OneLine => crate::print::one_line(&substitution.body),
            Layout::Printed(text) => {
                let text = [&text[..], b"\n"].concat();
                let commands = crate::parse::read_list_for_print(&text, self.options.extglob);
                crate::print::substitution(commands.as_ref().unwrap_or(&substitution.body))
            }
        };
        let aliased = aliases.is_some();
        let commands = self.read_commands(&text, line, aliases).unwrap_or_else(|| Rc::clone(&substitution.body));
        if aliased {
            return commands;
        }
        *substitution.read_again.borrow_mut() = Some((line, Rc::clone(&commands)));
        commands
    }

    /// All commands of a text that was read before.
    fn read_commands(&self, text: &[u8], line: u32, aliases: Option<Rc<Map<Bytes, Bytes>>>) -> Option<Rc<List>> {
        let text = [text, b"\n"].concat();
        let texts = Texts::default();
        let mut parser = Parser::new(&text, line, self.name_of_source());
        parser.start_at_depth(self.levels / 8);
        parser.set_extglob(true);
        parser.set_texts(&texts);
        parser.set_aliases(aliases);
        let mut commands = List::default();
        while let Some(list) = parser.next_list().ok()? {
            commands.items.extend(list.items);
        }
        Some(Rc::new(commands))
    }

    /// Runs a builtin that only prints, and takes what it prints.
    pub(crate) fn output_in_memory(&mut self, simple: &Rc<Simple>) -> Run<Bytes> {
        let table = self.io.begin_capture();
        let outer = (self.text_line.take(), self.globs.take());
        let result = self.as_subshell(|shell| shell.run_simple(simple));
        let text = self.io.end_capture(table);
        (self.text_line, self.globs) = outer;
        result?;
        self.traps.child_ended();
        self.substituted = Some(self.status);
        Ok(text)
    }

    /// Runs `inner` as if in a subshell: what would end that ends only `inner`, whose status it has set.
    pub(crate) fn as_subshell(&mut self, inner: impl FnOnce(&mut Self) -> Run) -> Run {
        let level = self.subshell;
        self.subshell = level.wrapping_add(1);
        let result = inner(self);
        self.subshell = level;
        match result {
            Err(Stop::Discard | Stop::Abandon | Stop::Exit) => Ok(()),
            other => other,
        }
    }

    /// Starts processes with standard output at a pipe, reads it to its end and waits for the last of them.
    fn collect(&mut self, start: impl FnOnce(&mut Self) -> Run<Vec<u32>>) -> Run<Bytes> {
        let (pids, text) = self.with_output_pipe(start)?;
        for pid in pids {
            let status = self.wait_pid(pid)?;
            self.pass_interrupt_on(status);
            self.status = status.code();
            self.substituted = Some(self.status);
        }
        Ok(text)
    }

    /// A SIGINT that ended a substitution is one for the shell, too.
    fn pass_interrupt_on(&mut self, status: Status) {
        if status == Status::Killed(INTERRUPT) {
            self.io.flush();
            let own = rt::getids().map_or(0, |ids| ids.pid);
            // Whoever handles or ignores it goes on.
            let _ = rt::kill(i32::try_from(own).unwrap_or(0), u32::from(INTERRUPT));
        }
    }

    fn collect_pipeline(&mut self, pipeline: &Pipeline) -> Run<(Vec<crate::eval::Stage>, Bytes)> {
        // Such stages are subshells of the substitution, although no process stands for it here.
        let nested = match pipeline.stages.as_slice() {
            [Command::Compound(compound)] => matches!(compound.kind, Kind::Subshell(_)),
            stages => stages.len() > 1,
        };
        self.subshell += u32::from(nested);
        self.keeps_loops = !nested;
        let collected = self.with_output_pipe(|shell| shell.start_stages(&pipeline.stages));
        self.subshell -= u32::from(nested);
        self.keeps_loops = false;
        collected
    }

    fn with_output_pipe<T>(&mut self, start: impl FnOnce(&mut Self) -> Run<T>) -> Run<(T, Bytes)> {
        self.io.flush();
        let (read, write) = match self.io.pipe() {
            Ok(ends) => ends,
            Err(errno) => return self.discard(format!("cannot make pipe for command substitution: {errno}")),
        };
        let table = self.io.table().clone();
        self.io.set(1, Some(write));
        // What is substituted goes on after failures, unless it was asked to inherit `set -e`.
        let errexit = self.options.errexit;
        self.options.errexit &= self.options.inherit_errexit || self.options.posix;
        // Nor does the DEBUG trap look into it, unless it was asked to.
        let functrace = self.options.functrace;
        let aside = self.traps.set_aside(|signal| signal == crate::trap::DEBUG && !functrace);
        let outer = std::mem::replace(&mut self.substituting, true);
        let within = std::mem::replace(&mut self.traps.substitutes, true);
        let started = start(self);
        self.traps.substitutes = within;
        self.substituting = outer;
        self.traps.put_back(aside);
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
                self.complain(format!("xrealloc: cannot allocate {} bytes", len + chunk));
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

    /// Whether a command is a builtin that does nothing but print, with words that change nothing.
    pub(crate) fn runs_in_memory(&self, simple: &Simple) -> bool {
        let Some(builtin) = simple.builtin else { return false };
        builtin.prints_only
            && simple.quiet_words
            && simple.assigns.is_empty()
            && !self.options.xtrace
            && self.traps.get(crate::trap::DEBUG).is_none()
            && self.traps.get(crate::trap::ERR).is_none()
            && !self.functions.contains_key(builtin.name.as_bytes())
            && !self.disabled.contains(builtin.name)
            && !(builtin.name == "printf" && simple.args.iter().any(is_variable_option))
    }

    /// `<( )` and `>( )`: starts the commands with a pipe and answers the pipe's name.
    pub(crate) fn process_substitution(&mut self, output: bool, body: &Substitution) -> Run<Bytes> {
        let (read, write) = match self.io.pipe() {
            Ok(ends) => ends,
            Err(errno) => return self.discard(format!("cannot make pipe for process substitution: {errno}")),
        };
        let (ours, theirs) = if output { (write, read) } else { (read, write) };
        let table = self.io.table().clone();
        self.io.set(if output { 0 } else { 1 }, Some(theirs));
        let commands = self.commands_of(body);
        self.keeps_loops = true;
        let forked = self.fork_child(|child| {
            child.jobs.uncontrolled = true;
            child.traps.forget_inherited();
            child.sourcing_depth += 1;
            child.texts = 1;
            child.run_list(&commands)
        });
        self.keeps_loops = false;
        self.io.set_table(table);
        self.io.close(theirs);
        let pid = forked?;
        let number = (3..=63).rev().find(|n| self.io.fd(*n).is_none()).unwrap_or(64);
        self.io.set(number, Some(ours));
        self.process_fds.push((number, ours));
        self.jobs.last_pid = Some(pid);
        self.jobs.substituted.push(pid);
        Ok(format!("/dev/fd/{number}").into_bytes())
    }

    /// Drops the process substitutions of a command that has ended.
    pub(crate) fn drop_process_fds(&mut self, from: usize) {
        for (number, fd) in self.process_fds.split_off(from.min(self.process_fds.len())) {
            if self.io.fd(number) == Some(fd) {
                self.io.set(number, None);
            }
            self.io.close_unused(fd);
        }
    }
}

/// The pipeline of a substitution that is nothing else.
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
