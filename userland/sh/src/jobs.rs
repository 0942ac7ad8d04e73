//! Background jobs and waiting.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use tidebox_rt::{self as rt, ChildChange, Errno, ExitStatus};

use crate::ir::{Bytes, Simple};
use crate::job_control::NewGroup;
use crate::state::{EvalResult, Shell};
use crate::trap::{INT, Keyboard};

/// Maximum number of exit statuses kept after their jobs were removed.
const MAX_REMEMBERED_STATUSES: usize = 4096;

/// Pause between two checks of a process that is not a child.
const ADOPTED_WAIT: Duration = Duration::from_millis(20);

/// A job that runs on when the shell of a session ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StoredJob {
    pub(crate) number: u32,
    pub(crate) pids: Vec<u32>,
    pub(crate) text: Bytes,
    pub(crate) grouped: bool,
}

/// Waits for the end of a child or, with `untraced`, its stop.
fn wait_for_change(pid: u32, block: bool, untraced: bool) -> rt::Result<Option<ChildChange>> {
    let pid = i32::try_from(pid).unwrap_or(i32::MAX);
    if untraced {
        return Ok(rt::wait_change(pid, block)?.map(|(_, change)| change));
    }
    Ok(rt::wait(pid, block)?.map(|waited| ChildChange::Ended(waited.status)))
}

/// Returns whether a process runs.
fn is_alive(pid: u32) -> bool {
    i32::try_from(pid).is_ok_and(|pid| pid > 0 && rt::kill(pid, 0).is_ok())
}

#[derive(Debug)]
pub(crate) struct Job {
    /// As in `%1`.
    pub(crate) number: u32,
    /// All processes, the one whose status counts last.
    pub(crate) processes: Vec<Process>,
    pub(crate) text: Bytes,
    /// It has its own process group, because it was started under `set -m`.
    pub(crate) grouped: bool,
    /// An earlier shell of the session started it. It is not a child of this shell, which therefore cannot learn its exit status.
    adopted: bool,
    /// The number of the last job that still ran when this one was started, which `%-` means then.
    before: Option<u32>,
    /// Number of the stop among all stops of the shell, so that the last stopped job is the current one.
    stops: u64,
    /// A stop has not been reported at a prompt.
    pub(crate) reports_stop: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) status: Option<ExitStatus>,
    /// The signal that has stopped it.
    pub(crate) stopped: Option<u8>,
}

impl Process {
    fn running(pid: u32) -> Self {
        Self { pid, status: None, stopped: None }
    }

    /// A process after a change.
    pub(crate) fn changed(pid: u32, change: ChildChange) -> Self {
        match change {
            ChildChange::Ended(status) => Self { status: Some(status), ..Self::running(pid) },
            ChildChange::Stopped(signal) => Self { stopped: Some(signal), ..Self::running(pid) },
        }
    }
}

impl Job {
    pub(crate) fn pid(&self) -> u32 {
        self.processes.last().map_or(0, |process| process.pid)
    }

    /// The process group of a job that has its own.
    pub(crate) fn group(&self) -> u32 {
        self.processes.first().map_or(0, |process| process.pid)
    }

    /// The signal that has stopped the job: none of its processes runs, and not all have ended.
    pub(crate) fn stop(&self) -> Option<u8> {
        if self.processes.iter().any(|process| process.status.is_none() && process.stopped.is_none()) {
            return None;
        }
        self.processes.iter().rev().filter(|process| process.status.is_none()).find_map(|process| process.stopped)
    }

    /// The exit status, once every process has ended.
    pub(crate) fn status(&self) -> Option<ExitStatus> {
        if self.processes.iter().any(|process| process.status.is_none()) {
            return None;
        }
        self.processes.last().and_then(|process| process.status)
    }
}

/// The error of a job specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobLookupError {
    Unknown,
    Ambiguous,
}

#[derive(Debug, Default)]
pub(crate) struct Jobs {
    pub(crate) list: Vec<Job>,
    /// The jobs of the parent of this subshell, which can be listed but not waited for.
    pub(crate) inherited: bool,
    /// This is a subshell other than a substitution, which has no job control even under `set -m`.
    pub(crate) uncontrolled: bool,
    /// The process group of the next process.
    pub(crate) starting: NewGroup,
    /// The shell has warned that it ends with stopped jobs.
    pub(crate) warned: bool,
    /// Number of stops until now.
    stops: u64,
    /// `$!`.
    pub(crate) last_pid: Option<u32>,
    /// The program that this subshell ends with.
    pub(crate) last: Option<Rc<Simple>>,
    /// Processes of process substitutions, which are not waited for by name.
    pub(crate) substituted: Vec<u32>,
    /// Exit statuses of removed jobs, for `wait`.
    ended: VecDeque<(u32, ExitStatus)>,
}

impl Jobs {
    pub(crate) fn add(&mut self, pids: &[u32], text: Bytes, grouped: bool) -> u32 {
        if std::mem::take(&mut self.inherited) {
            self.list.clear();
        }
        let processes = pids.iter().map(|&pid| Process::running(pid)).collect();
        let number = self.push(processes, text, grouped);
        self.last_pid = pids.last().copied();
        number
    }

    /// Adds a command that was stopped in the foreground. Returns its index.
    pub(crate) fn add_stopped(&mut self, processes: Vec<Process>, text: Bytes) -> usize {
        self.push(processes, text, true);
        let at = self.list.len().saturating_sub(1);
        self.note_stopped_job(at);
        at
    }

    fn push(&mut self, processes: Vec<Process>, text: Bytes, grouped: bool) -> u32 {
        let number = self.list.iter().map(|job| job.number).max().unwrap_or(0) + 1;
        let before = self.list.iter().rev().find(|job| job.status().is_none()).map(|job| job.number);
        let (adopted, stops, reports_stop) = (false, 0, false);
        self.list.push(Job { number, processes, text, grouped, adopted, before, stops, reports_stop });
        number
    }

    /// Adds a job of an earlier shell of the session, if one of its processes still runs.
    pub(crate) fn adopt(&mut self, stored: StoredJob) {
        let processes: Vec<Process> = stored.pids.iter().map(|&pid| Process::running(pid)).collect();
        if !processes.iter().any(|process| is_alive(process.pid)) {
            return;
        }
        self.last_pid = stored.pids.last().copied();
        let before = self.list.last().map(|job| job.number);
        let StoredJob { number, text, grouped, .. } = stored;
        let (adopted, stops, reports_stop) = (true, 0, false);
        self.list.push(Job { number, processes, text, grouped, adopted, before, stops, reports_stop });
    }

    /// Returns the jobs that run.
    pub(crate) fn stored(&self) -> Vec<StoredJob> {
        let running = self.list.iter().filter(|job| job.status().is_none() && !self.inherited);
        running
            .map(|job| StoredJob {
                number: job.number,
                pids: job.processes.iter().map(|process| process.pid).collect(),
                text: job.text.clone(),
                grouped: job.grouped,
            })
            .collect()
    }

    /// Records the ends of processes of adopted jobs.
    fn reap_adopted(&mut self) {
        let adopted = self.list.iter_mut().filter(|job| job.adopted).flat_map(|job| &mut job.processes);
        for process in adopted.filter(|process| process.status.is_none() && !is_alive(process.pid)) {
            process.status = Some(ExitStatus::Exited(0));
        }
    }

    pub(crate) fn note(&mut self, pid: u32, status: ExitStatus) {
        for process in self.list.iter_mut().flat_map(|job| &mut job.processes) {
            if process.pid == pid {
                process.status = Some(status);
            }
        }
    }

    /// Records the stop of a process.
    pub(crate) fn note_stop(&mut self, pid: u32, signal: u8) {
        for at in 0..self.list.len() {
            let Some(job) = self.list.get_mut(at) else { return };
            let Some(process) = job.processes.iter_mut().find(|process| process.pid == pid) else { continue };
            process.stopped = Some(signal);
            if job.stop().is_some() {
                self.note_stopped_job(at);
            }
        }
    }

    fn note_stopped_job(&mut self, at: usize) {
        self.warned = false;
        self.stops += 1;
        if let Some(job) = self.list.get_mut(at) {
            (job.stops, job.reports_stop) = (self.stops, true);
        }
    }

    /// Removes a job from the list and keeps its exit status.
    pub(crate) fn finish(&mut self, at: usize) {
        let job = self.list.remove(at);
        for process in job.processes {
            if let Some(status) = process.status {
                self.remember(process.pid, status);
            }
        }
    }

    pub(crate) fn remember(&mut self, pid: u32, status: ExitStatus) {
        if self.ended.len() >= MAX_REMEMBERED_STATUSES {
            self.ended.pop_front();
        }
        self.ended.push_back((pid, status));
    }

    /// The exit status of a process whose job was removed.
    pub(crate) fn ended(&self, pid: u32) -> Option<ExitStatus> {
        self.ended.iter().rev().find(|(known, _)| *known == pid).map(|(_, status)| *status)
    }

    /// Inherits the jobs of the parent in a subshell. They can only be printed.
    pub(crate) fn inherit(&mut self) {
        self.inherited = true;
        self.ended.clear();
        self.substituted.clear();
    }

    /// Indexes of the stopped jobs, the last stopped one first.
    fn stopped(&self) -> Vec<usize> {
        let mut found: Vec<(u64, usize)> = Vec::new();
        found.extend(
            self.list.iter().enumerate().filter(|(_, job)| job.stop().is_some()).map(|(at, job)| (job.stops, at)),
        );
        found.sort_unstable();
        found.into_iter().rev().map(|(_, at)| at).collect()
    }

    /// The index of the job that `%+` denotes: the one that was stopped last, or else the newest.
    pub(crate) fn current(&self) -> Option<usize> {
        self.stopped().first().copied().or(self.list.len().checked_sub(1))
    }

    /// The index of the job that `%-` denotes: the one that was stopped before the current one, the one that ran before the newest
    /// was started, or else the last other running one.
    pub(crate) fn previous(&self) -> Option<usize> {
        match *self.stopped() {
            [_, second, ..] => Some(second),
            [only] if only + 1 < self.list.len() => self.list.len().checked_sub(1),
            _ => self.before_newest(),
        }
    }

    fn before_newest(&self) -> Option<usize> {
        let (newest, others) = self.list.split_last()?;
        let kept = others.iter().position(|job| Some(job.number) == newest.before);
        kept.or_else(|| newest.before.and_then(|_| others.iter().rposition(|job| job.status().is_none())))
    }

    /// The index of the job that `%n`, `%%`, `%+`, `%-`, `%text` or `%?text` denotes.
    pub(crate) fn find(&self, spec: &[u8]) -> Result<usize, JobLookupError> {
        let spec = spec.strip_prefix(b"%").unwrap_or(spec);
        let newest = self.current();
        let found = match spec {
            b"" | b"%" | b"+" => newest,
            b"-" => self.previous().or(newest),
            _ => match crate::parse::plain_number(spec) {
                Some(number) => self.list.iter().position(|job| i64::from(job.number) == number),
                None => return self.find_text(spec),
            },
        };
        found.ok_or(JobLookupError::Unknown)
    }

    fn find_text(&self, spec: &[u8]) -> Result<usize, JobLookupError> {
        let fits = |job: &Job| match spec.strip_prefix(b"?") {
            Some(part) => job.text.windows(part.len().max(1)).any(|window| window == part),
            None => job.text.starts_with(spec),
        };
        let mut found = self.list.iter().enumerate().filter(|(_, job)| fits(job)).map(|(at, _)| at);
        match (found.next(), found.next()) {
            (Some(at), None) => Ok(at),
            (Some(_), Some(_)) => Err(JobLookupError::Ambiguous),
            (None, _) => Err(JobLookupError::Unknown),
        }
    }
}

impl Shell {
    /// Waits until `pid` has ended. Traps of signals that arrive during the wait run afterwards.
    pub(crate) fn wait_pid(&mut self, pid: u32) -> EvalResult<ExitStatus> {
        Ok(match self.wait_child(pid, false)? {
            ChildChange::Ended(status) => status,
            ChildChange::Stopped(signal) => ExitStatus::Killed(signal),
        })
    }

    /// Waits like [`Self::wait_pid`], and with `untraced` also until the process is stopped.
    pub(crate) fn wait_child(&mut self, pid: u32, untraced: bool) -> EvalResult<ChildChange> {
        self.io.flush();
        let reads_keys = self.traps.keyboard != Keyboard::Unused;
        let was_interrupted = reads_keys && {
            self.catch_signals();
            self.traps.has_interrupt()
        };
        loop {
            match wait_for_change(pid, true, untraced) {
                Ok(Some(change)) => {
                    self.traps.child_ended();
                    if reads_keys && !was_interrupted && change != ChildChange::Ended(ExitStatus::Killed(INT)) {
                        // The program has handled it. A trap of the shell runs nevertheless.
                        self.catch_signals();
                        if self.traps.get(INT).is_none() {
                            self.traps.forget_interrupt();
                        }
                    }
                    if self.has_terminal() {
                        self.update_window();
                    }
                    return Ok(change);
                }
                Ok(None) => {}
                Err(Errno::INTR) => self.catch_signals(),
                // The process was already reaped.
                Err(_) => return Ok(ChildChange::Ended(ExitStatus::Exited(127))),
            }
        }
    }

    /// Records a change of a background process.
    fn record_change(&mut self, pid: u32, change: ChildChange) {
        match change {
            ChildChange::Ended(status) => self.record_end(pid, status),
            ChildChange::Stopped(signal) => self.jobs.note_stop(pid, signal),
        }
    }

    /// Records the end of a background process.
    pub(crate) fn record_end(&mut self, pid: u32, status: ExitStatus) {
        self.jobs.note(pid, status);
        self.traps.child_ended();
        if self.coprocess.is_some() {
            self.forget_coprocess(pid);
        }
    }

    /// Records the ends of background processes without waiting.
    pub(crate) fn reap(&mut self) {
        if self.jobs.inherited {
            return;
        }
        self.jobs.reap_adopted();
        let processes = self.jobs.list.iter().filter(|job| !job.adopted).flat_map(|job| &job.processes);
        let running: Vec<u32> =
            processes.filter(|process| process.status.is_none()).map(|process| process.pid).collect();
        for pid in running {
            match wait_for_change(pid, false, self.options.monitor) {
                Ok(Some(change)) => self.record_change(pid, change),
                Err(Errno::CHILD) => self.record_end(pid, ExitStatus::Exited(127)),
                Ok(None) | Err(_) => {}
            }
        }
        for pid in self.jobs.substituted.clone() {
            if let Ok(Some(waited)) = rt::wait(i32::try_from(pid).unwrap_or(i32::MAX), false) {
                self.jobs.substituted.retain(|known| *known != pid);
                self.jobs.remember(pid, waited.status);
                self.traps.child_ended();
            }
        }
    }

    /// Removes ended jobs. Reports those that a signal ended, and all of them under `set -m`.
    pub(crate) fn notify_jobs(&mut self) {
        if self.jobs.list.is_empty() || self.jobs.inherited {
            return;
        }
        self.reap();
        let shows = self.options.interactive && !self.process.forked;
        while let Some(at) = self.jobs.list.iter().position(|job| shows && job.reports_stop && job.stop().is_some()) {
            self.report_stop(at);
        }
        while let Some(at) = self.jobs.list.iter().position(|job| self.should_report(job)) {
            if self.options.interactive && !self.process.forked {
                let line = self.job_line(at, false);
                // A closed standard error is ignored.
                let _ = self.io.write(2, &line);
            } else {
                self.report_exit(at);
            }
            self.jobs.finish(at);
        }
    }

    /// Returns whether every end of a job is reported: in interactive shells, and in a command string under `set -m`.
    fn reports_all_jobs(&self) -> bool {
        self.options.interactive || (self.options.monitor && self.options.from_string)
    }

    /// Reports an ended job: its state under `set -m`, otherwise only the signal that ended it.
    pub(crate) fn report_exit(&mut self, at: usize) {
        // Under `set -m` a script also gets reports that are otherwise suppressed.
        let status = self.jobs.list.get(at).and_then(Job::status);
        let quiet = matches!(status, Some(ExitStatus::Killed(signal)) if self.is_quiet(signal));
        if self.options.monitor && (self.options.from_string || quiet) && !self.process.forked {
            let line = self.job_line(at, false);
            // A closed standard error is ignored.
            let _ = self.io.write(2, &line);
        } else {
            self.report_signal_exit(at);
        }
    }

    /// Returns whether an ended job is removed automatically, with a report if there is one.
    fn should_report(&self, job: &Job) -> bool {
        match job.status() {
            None => false,
            Some(_) if self.reports_all_jobs() => true,
            // A command string keeps ended jobs only in posix mode.
            Some(_) if self.options.from_string => !self.options.posix,
            // In a script a job that a signal ended is removed, even without a report.
            Some(status) => matches!(status, ExitStatus::Killed(_)),
        }
    }

    /// Returns whether the end by this signal is not reported.
    fn is_quiet(&self, signal: u8) -> bool {
        matches!(signal, 2 | 13 | 15) || self.traps.get(signal).is_some()
    }

    /// Forgets the jobs of a script that signals have ended, and all that have ended of a command string, as bash does
    /// whenever it has waited for a command.
    pub(crate) fn report_signal_exits(&mut self) {
        if !self.jobs.list.is_empty() && !self.options.interactive {
            self.notify_jobs();
        }
    }

    /// Reports a job that a signal ended to a script.
    fn report_signal_exit(&mut self, at: usize) {
        let Some(job) = self.jobs.list.get(at) else { return };
        let Some(ExitStatus::Killed(signal)) = job.status() else { return };
        if self.process.is_substitution || self.is_quiet(signal) {
            return;
        }
        let what = crate::eval::death_text(signal);
        let text = format!("{:5} {what:<23} {}", job.pid(), crate::expand::lossy(&job.text));
        self.report_error(text);
    }

    /// Waits for the job at `index`; `None` if it is stopped, or a trapped signal has ended the waiting, whose status is set.
    pub(crate) fn wait_job(&mut self, index: usize) -> EvalResult<Option<ExitStatus>> {
        self.io.flush();
        loop {
            let Some(job) = self.jobs.list.get(index) else { return Ok(None) };
            let mut left = job.processes.iter().filter(|process| process.status.is_none());
            let running = left.clone().find(|process| process.stopped.is_none());
            let Some(process) = running.or_else(|| left.next()) else { return Ok(job.status()) };
            let pid = process.pid;
            if let Some(signal) = job.stop() {
                self.status = 128_u8.saturating_add(signal);
                return Ok(None);
            }
            if job.adopted {
                std::thread::sleep(ADOPTED_WAIT);
                self.jobs.reap_adopted();
            } else {
                match wait_for_change(pid, true, self.controls_jobs()) {
                    Ok(Some(change)) => self.record_change(pid, change),
                    Ok(None) | Err(Errno::INTR) => {}
                    Err(_) => self.record_end(pid, ExitStatus::Exited(127)),
                }
            }
            // A trapped signal ends the waiting, also one that came together with the child's end.
            if self.catches_signals()
                && let Some(signal) = self.signal_that_ends_waiting()?
            {
                self.handle_signal(signal)?;
                self.status = 128_u8.saturating_add(signal);
                return Ok(None);
            }
        }
    }

    /// The trapped signal that has arrived and ends the waiting for jobs. The end of a child does so in posix mode alone;
    /// else its trap runs.
    pub(crate) fn signal_that_ends_waiting(&mut self) -> EvalResult<Option<u8>> {
        let signals = self.take_signals();
        let signal = signals.iter().copied().find(|signal| *signal != crate::trap::CHLD || self.options.posix);
        if signal.is_none() && !signals.is_empty() {
            self.reap();
        }
        if self.options.posix {
            self.traps.consume_child_exit();
        } else {
            self.run_child_traps()?;
        }
        Ok(signal)
    }
}
