//! Pipelines of several stages.

mod program;

use std::rc::Rc;

use tidebox_rt::{self as rt, Disposition, ExitStatus, Fd};

use super::external::End;
use crate::ir::{Bytes, Command, Kind};
use crate::state::{Current, EvalResult, Shell};

/// A stage that was started.
#[derive(Debug)]
pub(crate) enum Stage {
    Process(u32),
    /// It ended already, with this status.
    Done(ExitStatus),
}

/// Output of a stage that ran in the shell, waiting to be written when its readers run.
struct Spill {
    fd: Fd,
    text: Bytes,
}

impl Shell {
    #[inline(never)]
    pub(crate) fn run_multi(&mut self, stages: &[Command]) -> EvalResult {
        if self.options.lastpipe
            && !self.controls_jobs()
            && let Some((last, first)) = stages.split_last()
        {
            return self.run_lastpipe(first, last);
        }
        let started = self.start_job(|shell| shell.start_stages(stages))?;
        let Some(ends) = self.ends_of_command(&started, stages)? else { return self.run_pending_traps() };
        self.status = self.status_of_all();
        self.report_pipeline(stages, &ends);
        self.report_signal_exits();
        // A stage that is a compound command does not move the line.
        let simple = |stage: &Command| if let Command::Simple(simple) = stage { Some(simple.line) } else { None };
        self.traps.ended_line = match (stages.iter().rev().find_map(simple), stages.last()) {
            (Some(line), _) => line,
            (None, Some(Command::Compound(compound))) => compound.line,
            _ => self.traps.ended_line,
        };
        self.run_pending_traps()
    }

    /// `shopt -s lastpipe`: the last stage runs in the shell itself.
    fn run_lastpipe(&mut self, first: &[Command], last: &Command) -> EvalResult {
        let (read, write) = match self.io.pipe() {
            Ok(ends) => ends,
            Err(errno) => return self.discard(format!("pipe error: {errno}")),
        };
        let table = self.io.table().clone();
        let started = self.start_stages_into(first, Some(write));
        self.io.close(write);
        let started = started?;
        self.io.set(0, Some(read));
        let result = self.run_command(last);
        self.io.flush();
        self.io.set_table(table);
        self.io.close(read);
        let status = self.status;
        self.wait_stages(&started)?;
        self.pipe_status.push(status);
        self.status = self.status_of_all();
        result
    }

    /// Starts all stages with pipes between them, standard input and output at the ends being the shell's own.
    pub(crate) fn start_stages(&mut self, stages: &[Command]) -> EvalResult<Vec<Stage>> {
        self.start_stages_into(stages, None)
    }

    /// Like [`Self::start_stages`], with another descriptor for the output of the last stage. Traps that run before a stage
    /// write to the output of the shell.
    fn start_stages_into(&mut self, stages: &[Command], output: Option<Fd>) -> EvalResult<Vec<Stage>> {
        self.io.flush();
        let before = self.status;
        let mut started = Vec::with_capacity(stages.len());
        let last_arg = self.computed.last_arg.clone();
        let mut spills = Vec::new();
        let mut input: Option<Fd> = None;
        let mut stopped = None;
        for (at, stage) in stages.iter().enumerate() {
            let last = at + 1 == stages.len();
            // `$?` of every stage is the status from before the pipeline.
            self.status = before;
            self.debug_before_fork(stage)?;
            let end = output.filter(|_| last).map(|fd| (fd, self.io.table().clone()));
            if let Some((fd, _)) = end {
                self.io.flush();
                self.io.set(1, Some(fd));
            }
            let connected = self.start_connected(stage, at == 0, last, input.take());
            if let Some((_, table)) = end {
                self.io.set_table(table);
            }
            match connected {
                Ok((stage, next, spill)) => {
                    spills.extend(spill.map(|spill| (started.len(), spill)));
                    started.push(stage);
                    input = next;
                }
                Err(stop) => {
                    stopped = Some(stop);
                    break;
                }
            }
        }
        // All readers run now, so writing cannot block forever.
        for (at, spill) in spills {
            if !self.write_spill(&spill)
                && let Some(stage) = started.get_mut(at)
            {
                // SIGPIPE would have killed a separate process.
                *stage = Stage::Done(ExitStatus::Killed(13));
            }
        }
        self.computed.last_arg = last_arg;
        match stopped {
            None => Ok(started),
            Some(stop) => {
                self.wait_stages(&started)?;
                Err(stop)
            }
        }
    }

    /// Starts one stage between the pipe that it reads and a new one, if it is not the last. Returns the end that the next
    /// stage reads and the pending output of this one.
    fn start_connected(
        &mut self,
        stage: &Command,
        first: bool,
        last: bool,
        input: Option<Fd>,
    ) -> EvalResult<(Stage, Option<Fd>, Option<Spill>)> {
        let table = self.io.table().clone();
        let pipe = if last {
            None
        } else {
            match self.io.pipe() {
                Ok(ends) => Some(ends),
                Err(errno) => {
                    if let Some(fd) = input {
                        self.io.close(fd);
                    }
                    return self.discard(format!("pipe error: {errno}"));
                }
            }
        };
        if let Some((_, write)) = pipe {
            self.io.set(1, Some(write));
        }
        if let Some(fd) = input {
            self.io.set(0, Some(fd));
        }
        let result = self.start_stage(stage, first && !last, pipe.map(|(_, write)| write));
        self.io.flush();
        self.io.set_table(table);
        if let Some(fd) = input {
            self.io.close(fd);
        }
        // A spill keeps the writing end until it has been written.
        if let (Some((_, write)), Ok((_, None)) | Err(_)) = (pipe, &result) {
            self.io.close(write);
        }
        match result {
            Ok((stage, spill)) => Ok((stage, pipe.map(|(read, _)| read), spill)),
            Err(stop) => {
                if let Some((read, _)) = pipe {
                    self.io.close(read);
                }
                Err(stop)
            }
        }
    }

    /// Writes the output of a stage that ran in the shell. A missing reader ends the writing, as SIGPIPE would.
    /// Returns whether there was a reader.
    fn write_spill(&mut self, spill: &Spill) -> bool {
        let ignored = self.traps.ignored() >> 13 & 1 == 1;
        if !ignored {
            // Only this write may meet a pipe without readers, and it must not end the shell.
            let _ = rt::sig_set(13, Disposition::Ignore);
        }
        let read = rt::write_all(spill.fd, &spill.text) != Err(rt::Errno::PIPE);
        if !ignored {
            self.traps.apply_disposition(13);
        }
        self.io.close(spill.fd);
        read || ignored
    }

    fn start_stage(&mut self, stage: &Command, first: bool, output: Option<Fd>) -> EvalResult<(Stage, Option<Spill>)> {
        if let Command::Compound(compound) = stage
            && let Kind::Subshell(list) = &compound.kind
            && self.traps.get(crate::trap::ERR).is_some()
        {
            self.set_command_text(|| crate::print::subshell(list, &compound.redirects));
        }
        if let Command::Simple(simple) = stage {
            if self.traps.reads_commands() {
                self.traps.command = Some(crate::state::Current::Simple(Rc::clone(simple)));
            }
            if first
                && simple.pure_words
                && simple.redirects.is_empty()
                && self.runs_in_memory(simple)
                && let Some(fd) = output
            {
                // The words of a stage are expanded at the level of the pipeline.
                let level = self.process.subshell;
                self.process.subshell = level.wrapping_sub(1);
                let text = self.output_in_memory(simple);
                self.process.subshell = level;
                let text = text?;
                return Ok((Stage::Done(ExitStatus::Exited(self.status)), Some(Spill { fd, text })));
            }
            // A FIFO is opened in the child: its other end may be a stage that has not started.
            if self.spawns_directly(simple) && !self.waits_for_pipe(simple) {
                return Ok((self.spawn_stage(simple)?, None));
            }
        }
        // Only `jobs`, and a command that is a whole substitution, can list the jobs of the shell.
        let whole = self.process.forks_substitution;
        let loops = self.flow.loops;
        let pid = self.fork_child(|child| {
            if !whole && !super::subshell::runs_jobs_builtin(stage) {
                child.jobs.list.clear();
            }
            if matches!(stage, Command::Simple(_)) {
                child.process.is_stage = true;
                child.flow.loops = loops;
                child.process.subshell = child.process.subshell.wrapping_sub(1);
            }
            child.run_forked(stage)
        })?;
        Ok((Stage::Process(pid), None))
    }

    /// Sets `BASH_COMMAND` for a command that runs in a forked process, and runs the DEBUG trap of a simple one in the
    /// shell.
    pub(crate) fn debug_before_fork(&mut self, command: &Command) -> EvalResult {
        match command {
            Command::Simple(simple) if !self.traps.in_progress() => {
                self.traps.command = Some(Current::Simple(Rc::clone(simple)));
            }
            Command::Compound(compound) => {
                if let Kind::Subshell(list) = &compound.kind {
                    self.set_command_text(|| crate::print::subshell(list, &compound.redirects));
                }
            }
            _ => {}
        }
        if let Command::Simple(simple) = command
            && self.traps.get(crate::trap::DEBUG).is_some()
        {
            self.line = simple.line;
            self.run_debug_trap()?;
        }
        Ok(())
    }

    /// Waits for all stages and returns the status of the pipeline.
    pub(crate) fn wait_stages(&mut self, stages: &[Stage]) -> EvalResult<u8> {
        self.ends_of(stages)?;
        Ok(self.status_of_all())
    }

    /// Waits for all stages of a command and returns their exit statuses; `None` if they were stopped.
    fn ends_of_command(&mut self, started: &[Stage], stages: &[Command]) -> EvalResult<Option<Vec<End>>> {
        if !self.controls_jobs() {
            return self.ends_of(started).map(Some);
        }
        let pid = |stage: &Stage| if let Stage::Process(pid) = stage { Some(*pid) } else { None };
        let pids: Vec<u32> = started.iter().filter_map(pid).collect();
        let text = || stages.iter().map(crate::print::command).collect::<Vec<_>>().join(&b" | "[..]);
        let waited = self.wait_command(&pids, text);
        if !matches!(waited, Ok(Some(_))) {
            self.pipe_status = vec![self.status];
        }
        let Some(statuses) = waited? else { return Ok(None) };
        let mut statuses = statuses.into_iter();
        let end = |stage: &Stage| match stage {
            Stage::Done(status) => (None, *status),
            Stage::Process(pid) => (Some(*pid), statuses.next().unwrap_or(ExitStatus::Exited(127))),
        };
        let ends: Vec<End> = started.iter().map(end).collect();
        self.pipe_status = ends.iter().map(|(_, status)| status.code()).collect();
        Ok(Some(ends))
    }

    /// Waits for all stages and returns their exit statuses.
    fn ends_of(&mut self, stages: &[Stage]) -> EvalResult<Vec<End>> {
        let mut ends = Vec::with_capacity(stages.len());
        for stage in stages {
            ends.push(match stage {
                Stage::Done(status) => {
                    self.traps.child_ended();
                    (None, *status)
                }
                Stage::Process(pid) => (Some(*pid), self.wait_pid(*pid)?),
            });
        }
        self.pipe_status = ends.iter().map(|(_, status)| status.code()).collect();
        Ok(ends)
    }

    /// The status of a pipeline from those of its stages.
    fn status_of_all(&self) -> u8 {
        let last = self.pipe_status.last().copied().unwrap_or(0);
        if !self.options.pipefail {
            return last;
        }
        self.pipe_status.iter().rev().find(|status| **status != 0).copied().unwrap_or(0)
    }
}
