//! Background jobs and waiting.

use std::collections::VecDeque;
use std::rc::Rc;

use tidebox_rt::{self as rt, Errno, Status};

use crate::ir::{Bytes, Simple};
use crate::state::{Run, Shell};

/// Ends of processes that are remembered after their jobs are gone.
const REMEMBERED: usize = 4096;

#[derive(Debug)]
pub(crate) struct Job {
    /// As in `%1`.
    pub(crate) number: u32,
    /// All processes, the one whose status counts last.
    pub(crate) processes: Vec<Process>,
    pub(crate) text: Bytes,
    /// It has a process group of its own, because it was started under `set -m`.
    pub(crate) grouped: bool,
    /// The number of the last job that still ran when this one was started, which `%-` means then.
    before: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) status: Option<Status>,
}

impl Job {
    pub(crate) fn pid(&self) -> u32 {
        self.processes.last().map_or(0, |process| process.pid)
    }

    /// How it ended, once every process of it has.
    pub(crate) fn status(&self) -> Option<Status> {
        if self.processes.iter().any(|process| process.status.is_none()) {
            return None;
        }
        self.processes.last().and_then(|process| process.status)
    }
}

/// Why a job specification means no job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoJob {
    Unknown,
    Ambiguous,
}

#[derive(Debug, Default)]
pub(crate) struct Jobs {
    pub(crate) list: Vec<Job>,
    /// The jobs are those of the parent of this subshell: they can be shown, and not waited for.
    pub(crate) inherited: bool,
    /// This is a subshell other than a substitution, which has no job control whatever `set -m` says.
    pub(crate) uncontrolled: bool,
    /// What is started is a job that gets a process group of its own.
    pub(crate) starting: bool,
    /// `$!`.
    pub(crate) last_pid: Option<u32>,
    /// The line that is named where a command in the foreground is told of that a signal ended: the last one of the
    /// commands that were read together, or the first one of the innermost function or loop over words, or `case`.
    pub(crate) line: u32,
    /// The program that this subshell ends with.
    pub(crate) last: Option<Rc<Simple>>,
    /// Processes of process substitutions, which nobody waits for by name.
    pub(crate) substituted: Vec<u32>,
    /// How processes ended whose jobs are gone; `wait` may still ask.
    ended: VecDeque<(u32, Status)>,
}

impl Jobs {
    pub(crate) fn add(&mut self, pids: &[u32], text: Bytes, grouped: bool) -> u32 {
        if std::mem::take(&mut self.inherited) {
            self.list.clear();
        }
        let number = self.list.iter().map(|job| job.number).max().unwrap_or(0) + 1;
        let processes = pids.iter().map(|&pid| Process { pid, status: None }).collect();
        let before = self.list.iter().rev().find(|job| job.status().is_none()).map(|job| job.number);
        self.list.push(Job { number, processes, text, grouped, before });
        self.last_pid = pids.last().copied();
        number
    }

    pub(crate) fn note(&mut self, pid: u32, status: Status) {
        for process in self.list.iter_mut().flat_map(|job| &mut job.processes) {
            if process.pid == pid {
                process.status = Some(status);
            }
        }
    }

    /// Takes a job out of the list and remembers how it ended.
    pub(crate) fn finish(&mut self, at: usize) {
        let job = self.list.remove(at);
        for process in job.processes {
            if let Some(status) = process.status {
                self.remember(process.pid, status);
            }
        }
    }

    pub(crate) fn remember(&mut self, pid: u32, status: Status) {
        if self.ended.len() >= REMEMBERED {
            self.ended.pop_front();
        }
        self.ended.push_back((pid, status));
    }

    /// How a process ended whose job is gone.
    pub(crate) fn ended(&self, pid: u32) -> Option<Status> {
        self.ended.iter().rev().find(|(known, _)| *known == pid).map(|(_, status)| *status)
    }

    /// What a subshell keeps of the jobs of its parent: only that they can be shown.
    pub(crate) fn inherit(&mut self) {
        self.inherited = true;
        self.ended.clear();
        self.substituted.clear();
    }

    /// The place of the job that `%-` means: the one that ran before the newest was started, or, when that is gone, the
    /// last one beside it that still runs.
    pub(crate) fn previous(&self) -> Option<usize> {
        let (newest, others) = self.list.split_last()?;
        let kept = others.iter().position(|job| Some(job.number) == newest.before);
        kept.or_else(|| newest.before.and_then(|_| others.iter().rposition(|job| job.status().is_none())))
    }

    /// The place of the job that `%n`, `%%`, `%+`, `%-`, `%text` or `%?text` names.
    pub(crate) fn find(&self, spec: &[u8]) -> Result<usize, NoJob> {
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
        found.ok_or(NoJob::Unknown)
    }

    fn find_text(&self, spec: &[u8]) -> Result<usize, NoJob> {
        let fits = |job: &Job| match spec.strip_prefix(b"?") {
            Some(part) => job.text.windows(part.len().max(1)).any(|window| window == part),
            None => job.text.starts_with(spec),
        };
        let mut found = self.list.iter().enumerate().filter(|(_, job)| fits(job)).map(|(at, _)| at);
        match (found.next(), found.next()) {
            (Some(at), None) => Ok(at),
            (Some(_), Some(_)) => Err(NoJob::Ambiguous),
            (None, _) => Err(NoJob::Unknown),
        }
    }
}

impl Shell {
    /// Waits until `pid` has ended. Traps for signals that arrive meanwhile run afterwards, as in bash.
    pub(crate) fn wait_pid(&mut self, pid: u32) -> Run<Status> {
        self.io.flush();
        loop {
            match rt::wait(i32::try_from(pid).unwrap_or(i32::MAX), true) {
                Ok(Some(waited)) => {
                    self.traps.child_ended();
                    return Ok(waited.status);
                }
                Ok(None) => {}
                Err(Errno::INTR) => self.note_signals(),
                // Somebody else reaped it; there is nothing to wait for.
                Err(_) => return Ok(Status::Exited(127)),
            }
        }
    }

    /// Takes note that a background process has ended.
    pub(crate) fn note_end(&mut self, pid: u32, status: Status) {
        self.jobs.note(pid, status);
        self.traps.child_ended();
        if self.coprocess.is_some() {
            self.forget_coprocess(pid);
        }
    }

    /// Takes note of background processes that have ended, without waiting.
    pub(crate) fn reap(&mut self) {
        if self.jobs.inherited {
            return;
        }
        let processes = self.jobs.list.iter().flat_map(|job| &job.processes);
        let running: Vec<u32> =
            processes.filter(|process| process.status.is_none()).map(|process| process.pid).collect();
        for pid in running {
            match rt::wait(i32::try_from(pid).unwrap_or(i32::MAX), false) {
                Ok(Some(waited)) => self.note_end(waited.pid, waited.status),
                Err(Errno::CHILD) => self.note_end(pid, Status::Exited(127)),
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

    /// Forgets jobs that have ended: a signal that ended one is told of, and under `set -m` every end is.
    pub(crate) fn notify_jobs(&mut self) {
        if self.jobs.list.is_empty() || self.jobs.inherited {
            return;
        }
        self.reap();
        while let Some(at) = self.jobs.list.iter().position(|job| self.is_told(job)) {
            if self.options.interactive && !self.forked {
                let line = self.job_line(at, false);
                // Where standard error is closed there is nobody to tell.
                let _ = self.io.write(2, &line);
            } else {
                self.tell_end(at);
            }
            self.jobs.finish(at);
        }
    }

    /// Whether each end of a job is told: to who types the commands, and of a command string under `set -m`.
    fn tells_jobs(&self) -> bool {
        self.options.interactive || (self.options.monitor && self.options.from_string)
    }

    /// What is told of a job that has ended: under `set -m` how, else only which signal ended it.
    pub(crate) fn tell_end(&mut self, at: usize) {
        // What a script is not told of otherwise it hears under `set -m`.
        let status = self.jobs.list.get(at).and_then(Job::status);
        let quiet = matches!(status, Some(Status::Killed(signal)) if self.is_quiet(signal));
        if self.options.monitor && (self.options.from_string || quiet) && !self.forked {
            let line = self.job_line(at, false);
            // Where standard error is closed there is nobody to tell.
            let _ = self.io.write(2, &line);
        } else {
            self.tell_death(at);
        }
    }

    /// Whether a job that has ended is told of, where there is something to tell, and forgotten without being asked for.
    fn is_told(&self, job: &Job) -> bool {
        match job.status() {
            None => false,
            Some(_) if self.tells_jobs() => true,
            // A command string keeps what has ended for POSIX alone.
            Some(_) if self.options.from_string => !self.options.posix,
            // In a script one that a signal ended is over with that, also where nothing is said of it.
            Some(status) => matches!(status, Status::Killed(_)),
        }
    }

    /// Whether nothing is said of a job that this signal ended.
    fn is_quiet(&self, signal: u8) -> bool {
        matches!(signal, 2 | 13 | 15) || self.traps.get(signal).is_some()
    }

    /// Forgets the jobs of a script that signals have ended, and all that have ended of a command string, as bash does
    /// whenever it has waited for a command.
    pub(crate) fn notify_of_deaths(&mut self) {
        if !self.jobs.list.is_empty() && !self.options.interactive {
            self.notify_jobs();
        }
    }

    /// What a script is told of a job that a signal ended.
    fn tell_death(&mut self, at: usize) {
        let Some(job) = self.jobs.list.get(at) else { return };
        let Some(Status::Killed(signal)) = job.status() else { return };
        if self.substitutes || self.is_quiet(signal) {
            return;
        }
        let what = crate::eval::death_text(signal);
        let text = format!("{:5} {what:<23} {}", job.pid(), crate::expand::lossy(&job.text));
        self.complain(text);
    }

    /// Waits for the job at `index`; `None` when a trapped signal ended the waiting, whose status is set.
    pub(crate) fn wait_job(&mut self, index: usize) -> Run<Option<Status>> {
        self.io.flush();
        loop {
            let Some(job) = self.jobs.list.get(index) else { return Ok(None) };
            let Some(process) = job.processes.iter().find(|process| process.status.is_none()) else {
                return Ok(job.status());
            };
            let pid = process.pid;
            match rt::wait(i32::try_from(pid).unwrap_or(i32::MAX), true) {
                Ok(Some(waited)) => self.note_end(waited.pid, waited.status),
                Ok(None) | Err(Errno::INTR) => {}
                Err(_) => self.note_end(pid, Status::Exited(127)),
            }
            // A trapped signal ends the waiting, also one that came together with the child's end.
            if self.notes_signals()
                && let Some(signal) = self.signal_that_ends_waiting()?
            {
                self.run_trap(signal)?;
                self.status = 128_u8.saturating_add(signal);
                return Ok(None);
            }
        }
    }

    /// The trapped signal that has arrived and ends the waiting for jobs. The end of a child does so in posix mode alone; else
    /// its trap runs.
    pub(crate) fn signal_that_ends_waiting(&mut self) -> Run<Option<u8>> {
        let signals = self.take_signals();
        let signal = signals.iter().copied().find(|signal| *signal != crate::trap::CHLD || self.options.posix);
        if signal.is_none() && !signals.is_empty() {
            self.reap();
        }
        if self.options.posix {
            self.traps.takes_child();
        } else {
            self.run_child_traps()?;
        }
        Ok(signal)
    }
}
