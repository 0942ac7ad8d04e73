//! Pipelines of several stages.

mod program;

use std::rc::Rc;

use tidebox_rt::{self as rt, Disposition, Fd, Status};

use super::external::End;
use crate::ir::{Bytes, Command, Kind};
use crate::state::{Current, Run, Shell};

/// A stage that was started.
#[derive(Debug)]
pub(crate) enum Stage {
    Process(u32),
    /// It ended already, with this status.
    Done(Status),
}

/// Output of a stage that ran in the shell, waiting to be written when its readers run.
struct Spill {
    fd: Fd,
    text: Bytes,
}

impl Shell {
    #[inline(never)]
    pub(crate) fn run_multi(&mut self, stages: &[Command]) -> Run {
        self.count_from_subshell(stages);
        if self.options.lastpipe
            && let Some((last, first)) = stages.split_last()
        {
            return self.run_lastpipe(first, last);
        }
        let started = self.start_stages(stages)?;
        let ends = self.ends_of(&started)?;
        self.status = self.status_of_all();
        self.report_pipeline(stages, &ends);
        self.notify_of_deaths();
        // A stage that is a compound command does not move the line.
        let simple = |stage: &Command| if let Command::Simple(simple) = stage { Some(simple.line) } else { None };
        self.ended_line = match (stages.iter().rev().find_map(simple), stages.last()) {
            (Some(line), _) => line,
            (None, Some(Command::Compound(compound))) => compound.line,
            _ => self.ended_line,
        };
        self.run_pending_traps()
    }

    /// Lines are counted on from a subshell that is not the last stage, because bash forgets to go back from it.
    pub(crate) fn count_from_subshell(&mut self, stages: &[Command]) {
        for stage in stages.iter().rev().skip(1).rev() {
            if let Command::Compound(compound) = stage
                && let Kind::Subshell(_) = compound.kind
            {
                self.line = compound.line;
                self.jobs.line = compound.line;
                self.recounts = true;
            }
        }
    }

    /// `shopt -s lastpipe`: the last stage runs in the shell itself.
    fn run_lastpipe(&mut self, first: &[Command], last: &Command) -> Run {
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
    pub(crate) fn start_stages(&mut self, stages: &[Command]) -> Run<Vec<Stage>> {
        self.start_stages_into(stages, None)
    }

    /// The same with another end for the output of the last one. Traps that run before a stage write where the shell does.
    fn start_stages_into(&mut self, stages: &[Command], output: Option<Fd>) -> Run<Vec<Stage>> {
        self.io.flush();
        let before = self.status;
        let mut started = Vec::with_capacity(stages.len());
        let last_arg = self.last_arg.clone();
        let mut spills = Vec::new();
        let mut input: Option<Fd> = None;
        let mut stopped = None;
        for (at, stage) in stages.iter().enumerate() {
            let last = at + 1 == stages.len();
            // Every stage sees the status of what ran before the pipeline.
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
        // Only now do all readers run, so that writing cannot wait for ever.
        for (at, spill) in spills {
            if !self.write_spill(&spill)
                && let Some(stage) = started.get_mut(at)
            {
                // A process of its own would have died of it.
                *stage = Stage::Done(Status::Killed(13));
            }
        }
        self.last_arg = last_arg;
        match stopped {
            None => Ok(started),
            Some(stop) => {
                self.wait_stages(&started)?;
                Err(stop)
            }
        }
    }

    /// Starts one stage between the pipe that it reads, if any, and a new one, if it is not the last; answers the end
    /// that the next stage reads and what is still to be written for this one.
    fn start_connected(
        &mut self,
        stage: &Command,
        first: bool,
        last: bool,
        input: Option<Fd>,
    ) -> Run<(Stage, Option<Fd>, Option<Spill>)> {
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

    /// Writes what a stage in the shell printed. Readers that left early end the writing, as SIGPIPE would.
    /// Says whether there was a reader.
    fn write_spill(&mut self, spill: &Spill) -> bool {
        let ignored = self.traps.ignored() >> 13 & 1 == 1;
        if !ignored {
            // Only this write may meet a pipe without readers, and it must not end the shell.
            let _ = rt::sig_set(13, Disposition::Ignore);
        }
        let read = rt::write_all(spill.fd, &spill.text) != Err(rt::Errno::PIPE);
        if !ignored {
            self.traps.dispose(13);
        }
        self.io.close(spill.fd);
        read || ignored
    }

    fn start_stage(&mut self, stage: &Command, first: bool, output: Option<Fd>) -> Run<(Stage, Option<Spill>)> {
        self.expands_alone |= self.beside;
        if let Command::Compound(compound) = stage
            && let Kind::Subshell(list) = &compound.kind
            && self.traps.get(crate::trap::ERR).is_some()
        {
            self.names_command(|| crate::print::subshell(list, &compound.redirects));
        }
        if let Command::Simple(simple) = stage {
            if self.traps.names_commands() {
                self.current = Some(crate::state::Current::Simple(Rc::clone(simple)));
            }
            if first
                && simple.pure_words
                && simple.redirects.is_empty()
                && self.runs_in_memory(simple)
                && let Some(fd) = output
            {
                // The words of a stage are expanded where the pipeline stands.
                let level = self.subshell;
                self.subshell = level.wrapping_sub(1);
                self.traps.keep_late_here(simple);
                let text = self.output_in_memory(simple);
                self.subshell = level;
                let text = text?;
                if self.traps.take_failure() {
                    return Ok((self.end_failed_stage()?, None));
                }
                return Ok((Stage::Done(Status::Exited(self.status)), Some(Spill { fd, text })));
            }
            if self.spawns_directly(simple) {
                return Ok((self.spawn_stage(simple)?, None));
            }
        }
        // `jobs` alone, and what is the whole of a substitution, can show the jobs of the shell.
        let whole = self.keeps_loops;
        let beside = self.beside;
        let loops = self.loops;
        let pid = self.fork_child(|child| {
            if !whole && !super::subshell::asks_for_jobs(stage) {
                child.jobs.list.clear();
            }
            if let Command::Simple(simple) = stage {
                child.traps.keep_late(simple);
                child.piped = true;
                child.loops = loops;
                child.subshell = child.subshell.wrapping_sub(1);
            } else {
                child.expands_alone = false;
                child.subshell = child.subshell.wrapping_sub(u32::from(beside));
            }
            child.traps.passes_exit = !whole && super::subshell::passes_exit(stage);
            child.run_forked(stage)
        })?;
        Ok((Stage::Process(pid), None))
    }

    /// Keeps what `BASH_COMMAND` shows of a command that gets a process of its own, and runs the DEBUG trap of a simple one,
    /// which the shell does before.
    pub(crate) fn debug_before_fork(&mut self, command: &Command) -> Run {
        match command {
            Command::Simple(simple) if !self.traps.in_progress() => {
                self.current = Some(Current::Simple(Rc::clone(simple)));
            }
            Command::Compound(compound) => {
                if let Kind::Subshell(list) = &compound.kind {
                    self.names_command(|| crate::print::subshell(list, &compound.redirects));
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

    /// The end of a stage whose words had no value.
    fn end_failed_stage(&mut self) -> Run<Stage> {
        Ok(match self.end_late()? {
            Some(pid) => Stage::Process(pid),
            None => Stage::Done(Status::Exited(self.status)),
        })
    }

    /// Waits for all stages and answers the status of the pipeline.
    pub(crate) fn wait_stages(&mut self, stages: &[Stage]) -> Run<u8> {
        self.ends_of(stages)?;
        Ok(self.status_of_all())
    }

    /// Waits for all stages and answers how they ended.
    fn ends_of(&mut self, stages: &[Stage]) -> Run<Vec<End>> {
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
