//! Job control: the jobs of an interactive shell on a terminal, which keys interrupt and stop.

use tidebox_rt::{self as rt, ChildChange, ExitStatus};

use crate::ir::Bytes;
use crate::jobs::Process;
use crate::state::{EvalResult, Shell, Unwind};
use crate::trap::INT;

/// Process group of the processes that are being started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum NewGroup {
    /// That of the shell.
    #[default]
    Shared,
    /// A new one in the background for each process.
    Background,
    /// One in the foreground for all of them, or 0 until the first has started.
    Foreground(u32),
}

impl NewGroup {
    /// Encodes the group for a spawn request.
    pub(crate) fn to_spawn(self) -> u32 {
        match self {
            Self::Shared => 0,
            Self::Background | Self::Foreground(0) => 1,
            Self::Foreground(group) => group,
        }
    }

    /// Moves the caller, a new subshell, to the group. The parent does the same, because either may be first.
    pub(crate) fn enter(self) {
        let group = match self {
            Self::Shared => return,
            Self::Background => 0,
            Self::Foreground(group) => group,
        };
        // The parent has moved it already, or the group has ended.
        let _ = rt::setpgid(0, group);
    }
}

impl Shell {
    /// Returns whether commands are jobs with their own process groups, which can be stopped and continued.
    pub(crate) fn controls_jobs(&self) -> bool {
        self.has_terminal() && self.options.monitor && !self.process.forked
    }

    /// Runs `start`, which starts the processes of a foreground command. [`Self::wait_command`] must follow.
    pub(crate) fn start_job<T>(&mut self, start: impl FnOnce(&mut Self) -> EvalResult<T>) -> EvalResult<T> {
        if !self.controls_jobs() {
            return start(self);
        }
        let outer = std::mem::replace(&mut self.jobs.starting, NewGroup::Foreground(0));
        let started = start(self);
        self.jobs.starting = outer;
        if started.is_err() {
            self.take_foreground();
        }
        started
    }

    /// Moves a process that was started to the group of its job. The first one of a foreground job takes the keys.
    pub(crate) fn join_job(&mut self, pid: u32) {
        let NewGroup::Foreground(group) = self.jobs.starting else { return };
        let leader = if group == 0 { pid } else { group };
        // The process has moved itself, or has ended.
        let _ = rt::setpgid(pid, leader);
        if group == 0 {
            self.jobs.starting = NewGroup::Foreground(leader);
            self.give_foreground(leader);
        }
    }

    /// Waits for the processes of a command. `None` if a key has stopped them: they are a background job then, whose status is set,
    /// and loops end.
    pub(crate) fn wait_command(
        &mut self,
        pids: &[u32],
        text: impl FnOnce() -> Bytes,
    ) -> EvalResult<Option<Vec<ExitStatus>>> {
        if !self.controls_jobs() {
            return pids.iter().map(|pid| self.wait_pid(*pid)).collect::<EvalResult<_>>().map(Some);
        }
        self.pass_early_interrupt(pids);
        let changes: EvalResult<Vec<ChildChange>> = pids.iter().map(|pid| self.wait_child(*pid, true)).collect();
        self.take_foreground();
        let changes = changes?;
        let stop = changes.iter().find_map(|change| match change {
            ChildChange::Stopped(signal) => Some(*signal),
            ChildChange::Ended(_) => None,
        });
        if let Some(signal) = stop {
            let processes = pids.iter().zip(changes).map(|(pid, change)| Process::changed(*pid, change));
            let at = self.jobs.add_stopped(processes.collect(), text());
            self.report_stop(at);
            self.status = 128_u8.saturating_add(signal);
            return if self.flow.loops > 0 { Err(Unwind::Break(self.flow.loops)) } else { Ok(None) };
        }
        let ended = |change| match change {
            ChildChange::Ended(status) => status,
            ChildChange::Stopped(signal) => ExitStatus::Killed(signal),
        };
        let statuses: Vec<ExitStatus> = changes.into_iter().map(ended).collect();
        if statuses.contains(&ExitStatus::Killed(INT)) {
            self.note_interrupted_job();
        }
        Ok(Some(statuses))
    }

    /// Sends SIGINT to a job if the interrupt key was pressed before the job had the keys.
    fn pass_early_interrupt(&mut self, pids: &[u32]) {
        self.catch_signals();
        if self.traps.has_interrupt()
            && self.traps.get(INT).is_none()
            && let Some(Ok(group)) = pids.first().map(|pid| i32::try_from(*pid))
        {
            // The job may have ended.
            let _ = rt::kill(-group, u32::from(INT));
        }
    }

    /// Waits for one process of a command like [`Self::wait_command`].
    pub(crate) fn wait_process(&mut self, pid: u32, text: impl FnOnce() -> Bytes) -> EvalResult<Option<ExitStatus>> {
        Ok(self.wait_command(&[pid], text)?.and_then(|statuses| statuses.last().copied()))
    }

    /// After the interrupt key has ended a job: the command line ends too. A trap runs only in a loop, as in bash.
    fn note_interrupted_job(&mut self) {
        if self.traps.get(INT).is_none() || self.flow.loops > 0 {
            self.traps.note_interrupt();
        } else {
            // After the echo of the key. A closed standard error is ignored.
            let _ = self.io.write(2, b"\n");
        }
    }

    /// Reports a job that was stopped in the foreground, after the echo of the key.
    pub(crate) fn report_stop(&mut self, at: usize) {
        let line = self.job_line(at, false);
        if let Some(job) = self.jobs.list.get_mut(at) {
            job.reports_stop = false;
        }
        self.io.flush();
        // A closed standard error is ignored.
        let _ = self.io.write(2, &[b"\n", &line[..]].concat());
    }

    /// Continues a stopped job.
    pub(crate) fn continue_job(&mut self, at: usize) {
        let Some(job) = self.jobs.list.get_mut(at) else { return };
        job.processes.iter_mut().for_each(|process| process.stopped = None);
        job.reports_stop = false;
        let group = job.group();
        // The job may have ended.
        let _ = rt::kill(-i32::try_from(group).unwrap_or(0), CONT);
    }

    /// Records that a signal has continued the jobs with this process, or with the group of a negative number.
    pub(crate) fn note_continued(&mut self, target: i32) {
        let number = target.unsigned_abs();
        let jobs = self.jobs.list.iter_mut();
        for job in jobs.filter(|job| job.group() == number || job.processes.iter().any(|p| p.pid == number)) {
            let selects = |process: &&mut Process| target < 0 || process.pid == number;
            job.processes.iter_mut().filter(selects).for_each(|process| process.stopped = None);
            job.reports_stop = false;
        }
    }

    /// Returns whether the shell must not end yet: once, if it has stopped jobs, which would be killed.
    pub(crate) fn stays_for_stopped_jobs(&mut self) -> bool {
        let has_stopped = self.controls_jobs() && self.jobs.list.iter().any(|job| job.stop().is_some());
        if !has_stopped || std::mem::replace(&mut self.jobs.warned, true) {
            return false;
        }
        self.io.flush();
        // A closed standard error is ignored.
        let _ = self.io.write(2, b"There are stopped jobs.\n");
        self.status = 1;
        true
    }
}

/// SIGCONT.
pub(crate) const CONT: u32 = 18;
