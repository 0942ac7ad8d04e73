//! Background jobs and waiting.

use tidebox_rt::{self as rt, Errno, Status};

use crate::ir::Bytes;
use crate::state::{Run, Shell};

#[derive(Debug)]
pub(crate) struct Job {
    /// As in `%1`.
    pub(crate) number: u32,
    /// All processes, the one whose status counts last.
    pub(crate) processes: Vec<Process>,
    pub(crate) text: Bytes,
    /// Its end was already reported by `wait` or `jobs`.
    pub(crate) reported: bool,
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

#[derive(Debug, Default)]
pub(crate) struct Jobs {
    pub(crate) list: Vec<Job>,
    /// `$!`.
    pub(crate) last_pid: Option<u32>,
    /// Processes of process substitutions, which nobody waits for by name.
    pub(crate) substituted: Vec<u32>,
}

impl Jobs {
    pub(crate) fn add(&mut self, pids: &[u32], text: Bytes) -> u32 {
        let number = self.list.iter().map(|job| job.number).max().unwrap_or(0) + 1;
        let processes = pids.iter().map(|&pid| Process { pid, status: None }).collect();
        self.list.push(Job { number, processes, text, reported: false });
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

    /// The job that `%n`, `%%`, `%+`, `%-`, `%text` names.
    pub(crate) fn find(&self, spec: &[u8]) -> Option<usize> {
        let spec = spec.strip_prefix(b"%")?;
        match spec {
            b"" | b"%" | b"+" => self.list.len().checked_sub(1),
            b"-" => self.list.len().checked_sub(2).or(self.list.len().checked_sub(1)),
            _ => match crate::parse::plain_number(spec) {
                Some(number) => self.list.iter().position(|job| i64::from(job.number) == number),
                None => match spec.strip_prefix(b"?") {
                    Some(part) => {
                        self.list.iter().position(|job| job.text.windows(part.len().max(1)).any(|w| w == part))
                    }
                    None => self.list.iter().position(|job| job.text.starts_with(spec)),
                },
            },
        }
    }
}

impl Shell {
    /// Waits until `pid` has ended. Traps for signals that arrive meanwhile run afterwards, as in bash.
    pub(crate) fn wait_pid(&mut self, pid: u32) -> Run<Status> {
        self.io.flush();
        loop {
            match rt::wait(i32::try_from(pid).unwrap_or(i32::MAX), true) {
                Ok(Some(waited)) => return Ok(waited.status),
                Ok(None) => {}
                Err(Errno::INTR) => self.note_signals(),
                // Somebody else reaped it; there is nothing to wait for.
                Err(_) => return Ok(Status::Exited(127)),
            }
        }
    }

    /// Takes note of background processes that have ended, without waiting.
    pub(crate) fn reap(&mut self) {
        let running: Vec<u32> = self
            .jobs
            .list
            .iter()
            .flat_map(|job| &job.processes)
            .filter(|process| process.status.is_none())
            .map(|process| process.pid)
            .collect();
        for pid in running {
            match rt::wait(i32::try_from(pid).unwrap_or(i32::MAX), false) {
                Ok(Some(waited)) => self.jobs.note(waited.pid, waited.status),
                Err(Errno::CHILD) => self.jobs.note(pid, Status::Exited(127)),
                Ok(None) | Err(_) => {}
            }
        }
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
                Ok(Some(waited)) => self.jobs.note(waited.pid, waited.status),
                Ok(None) | Err(Errno::INTR) => {}
                Err(_) => self.jobs.note(pid, Status::Exited(127)),
            }
            // A trapped signal ends the waiting, also one that came together with the child's end.
            if self.notes_signals()
                && let Some(signal) = self.take_signals().first()
            {
                self.run_trap(*signal)?;
                self.status = 128_u8.saturating_add(*signal);
                return Ok(None);
            }
        }
    }
}
