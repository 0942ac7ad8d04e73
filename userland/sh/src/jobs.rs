//! Background jobs and waiting.

use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use tidebox_rt::{self as rt, Errno, ExitStatus};

use crate::ir::{Bytes, Simple};
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
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) status: Option<ExitStatus>,
}

impl Job {
    pub(crate) fn pid(&self) -> u32 {
        self.processes.last().map_or(0, |process| process.pid)
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
    /// The next process is a job with its own process group.
    pub(crate) starting: bool,
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
        let number = self.list.iter().map(|job| job.number).max().unwrap_or(0) + 1;
        let processes = pids.iter().map(|&pid| Process { pid, status: None }).collect();
        let before = self.list.iter().rev().find(|job| job.status().is_none()).map(|job| job.number);
        self.list.push(Job { number, processes, text, grouped, adopted: false, before });
        self.last_pid = pids.last().copied();
        number
    }

    /// Adds a job of an earlier shell of the session, if one of its processes still runs.
    pub(crate) fn adopt(&mut self, stored: StoredJob) {
        let processes: Vec<Process> = stored.pids.iter().map(|&pid| Process { pid, status: None }).collect();
        if !processes.iter().any(|process| is_alive(process.pid)) {
            return;
        }
        self.last_pid = stored.pids.last().copied();
        let before = self.list.last().map(|job| job.number);
        let StoredJob { number, text, grouped, .. } = stored;
        self.list.push(Job { number, processes, text, grouped, adopted: true, before });
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

    /// The index of the job that `%-` denotes: the one that ran before the newest was started, or else the last other
    /// running one.
    pub(crate) fn previous(&self) -> Option<usize> {
        let (newest, others) = self.list.split_last()?;
        let kept = others.iter().position(|job| Some(job.number) == newest.before);
        kept.or_else(|| newest.before.and_then(|_| others.iter().rposition(|job| job.status().is_none())))
    }

    /// The index of the job that `%n`, `%%`, `%+`, `%-`, `%text` or `%?text` denotes.
    pub(crate) fn find(&self, spec: &[u8]) -> Result<usize, JobLookupError> {
        let spec = spec.strip_prefix(b"%").unwrap_or(spec);
        let newest = self.list.len().checked_sub(1);
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
        self.io.flush();
        let reads_keys = self.traps.keyboard != Keyboard::Unused;
        let was_interrupted = reads_keys && {
            self.catch_signals();
            self.traps.has_interrupt()
        };
        loop {
            match rt::wait(i32::try_from(pid).unwrap_or(i32::MAX), true) {
                Ok(Some(waited)) => {
                    self.traps.child_ended();
                    if reads_keys && !was_interrupted && waited.status != ExitStatus::Killed(INT) {
                        // The program has handled it. A trap of the shell runs nevertheless.
                        self.catch_signals();
                        if self.traps.get(INT).is_none() {
                            self.traps.forget_interrupt();
                        }
                    }
                    if self.has_terminal() {
                        self.update_window();
                    }
                    return Ok(waited.status);
                }
                Ok(None) => {}
                Err(Errno::INTR) => self.catch_signals(),
                // The process was already reaped.
                Err(_) => return Ok(ExitStatus::Exited(127)),
            }
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
            match rt::wait(i32::try_from(pid).unwrap_or(i32::MAX), false) {
                Ok(Some(waited)) => self.record_end(waited.pid, waited.status),
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

    /// Waits for the job at `index`; `None` when a trapped signal ended the waiting, whose status is set.
    pub(crate) fn wait_job(&mut self, index: usize) -> EvalResult<Option<ExitStatus>> {
        self.io.flush();
        loop {
            let Some(job) = self.jobs.list.get(index) else { return Ok(None) };
            let Some(process) = job.processes.iter().find(|process| process.status.is_none()) else {
                return Ok(job.status());
            };
            let pid = process.pid;
            if job.adopted {
                std::thread::sleep(ADOPTED_WAIT);
                self.jobs.reap_adopted();
            } else {
                match rt::wait(i32::try_from(pid).unwrap_or(i32::MAX), true) {
                    Ok(Some(waited)) => self.record_end(waited.pid, waited.status),
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
