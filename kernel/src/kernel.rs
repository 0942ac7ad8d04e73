//! The kernel itself and what engines and backends ask of it.

mod snapshot;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::time::Duration;

use tidebox_core::Limits;

use crate::errno::Errno;
use crate::fs::{Cred, Fs, Ino, Snapshot};
use crate::host::HostPrograms;
use crate::open_file::OpenFile;
use crate::pipe::Pipe;
use crate::printed::Printed;
use crate::process::{Pid, Process, Processes, Start, Status};
use crate::session::{Chunk, Report, Session, SessionId, Stop};
use crate::signal::Signal;
use crate::slab::Slab;
use crate::time::{Clock, Entropy};
use crate::wasi::Wait;

/// A kernel that an engine and a backend share. No call holds the lock while it waits.
pub type SharedKernel = Arc<Mutex<Kernel>>;

/// What a kernel is made of.
pub struct KernelConfig {
    /// Every bound.
    pub limits: Limits,
    /// Source of time.
    pub clock: Box<dyn Clock>,
    /// Source of random bytes.
    pub entropy: Box<dyn Entropy>,
    /// The files to begin with.
    pub files: Snapshot,
    /// What programs see as the machine's name.
    pub hostname: String,
}

impl fmt::Debug for KernelConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelConfig")
            .field("limits", &self.limits)
            .field("hostname", &self.hostname)
            .finish_non_exhaustive()
    }
}

/// The user that every program runs as.
pub(crate) const USER: Cred = Cred { uid: 1000, gid: 1000 };

/// One sandbox: its files, processes and sessions.
pub struct Kernel {
    pub(crate) limits: Limits,
    pub(crate) clock: Box<dyn Clock>,
    pub(crate) entropy: Box<dyn Entropy>,
    pub(crate) hostname: String,
    pub(crate) fs: Fs,
    pub(crate) files: Slab<OpenFile>,
    pub(crate) pipes: Slab<Pipe>,
    /// The pipes of the named ones that are open, by inode.
    pub(crate) fifos: BTreeMap<Ino, u32>,
    pub(crate) processes: Processes,
    pub(crate) sessions: BTreeMap<SessionId, Session>,
    pub(crate) host_programs: Option<HostPrograms>,
    pub(crate) memory_bytes: u64,
    /// Capacity of all pipes together; what they hold when they are spooled.
    pub(crate) pipe_bytes: usize,
    /// Set when pipes are spooled ([`spool_pipes`](Self::spool_pipes)).
    pub(crate) spool_bytes: Option<usize>,
    /// Arguments and environments of all processes together.
    pub(crate) string_bytes: usize,
    pub(crate) booted: u64,
    last_session: u64,
    /// Where bytes rest on their way when the engine cannot lend guest memory.
    pub(crate) scratch: Vec<u8>,
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("processes", &self.processes.len())
            .field("sessions", &self.sessions.len())
            .field("memory_bytes", &self.memory_bytes)
            .finish_non_exhaustive()
    }
}

impl Kernel {
    /// A kernel with the given files and no process.
    pub fn new(config: KernelConfig) -> Self {
        let fs = Fs::from_snapshot(&config.files, &config.limits);
        let booted = config.clock.monotonic();
        Self {
            limits: config.limits,
            clock: config.clock,
            entropy: config.entropy,
            hostname: config.hostname,
            fs,
            files: Slab::default(),
            pipes: Slab::default(),
            fifos: BTreeMap::new(),
            processes: Processes::default(),
            sessions: BTreeMap::new(),
            host_programs: None,
            memory_bytes: 0,
            pipe_bytes: 0,
            spool_bytes: None,
            string_bytes: 0,
            booted,
            last_session: 0,
            scratch: Vec::new(),
        }
    }

    /// The files.
    pub fn fs(&self) -> &Fs {
        &self.fs
    }

    /// The files, to change them from the host's side.
    pub fn fs_mut(&mut self) -> &mut Fs {
        &mut self.fs
    }

    /// Nanoseconds since the Unix epoch by the kernel's clock, for time stamps.
    pub fn now(&self) -> u64 {
        self.clock.realtime()
    }

    /// Nanoseconds of [`Clock::monotonic`], to which [`Wait::deadline`] refers.
    pub fn monotonic(&self) -> u64 {
        self.clock.monotonic()
    }

    /// Lets time pass in deterministic mode: when every process of the session is parked, the clock goes to the
    /// earliest deadline among them and who is due is woken. `false` when the clock is a real one ([`Clock::skip_to`]),
    /// a process is still busy, or none waits for a time; then the engine has to wait. A host process that waits for the
    /// outside world counts as busy: what comes from there comes at no time that the sandbox could tell.
    ///
    /// A session whose patience ([`limit_waiting`](Self::limit_waiting)) ends before the deadline is stopped when it does.
    pub fn skip_waiting(&mut self, session: SessionId) -> bool {
        let all = || self.processes.iter().filter(|p| p.session == session && p.ended.is_none());
        let Some(until) = all().filter_map(Process::alarm).min() else { return false };
        let before = self.clock.monotonic();
        let patience = self.sessions.get(&session).and_then(|found| found.patience).unwrap_or(u64::MAX);
        let end = before.saturating_add(patience);
        if !all().all(Process::waits_inside) || !self.clock.skip_to(until.min(end)) {
            return false;
        }
        if end < until {
            self.stop(session, Stop::Time);
            return true;
        }
        if let Some(patience) = self.sessions.get_mut(&session).and_then(|found| found.patience.as_mut()) {
            *patience = patience.saturating_sub(until.saturating_sub(before));
        }
        let now = self.clock.monotonic();
        for process in self.processes.iter_mut().filter(|p| p.alarm().is_some_and(|due| due <= now)) {
            process.wake();
        }
        true
    }

    /// Bounds the time that [`skip_waiting`](Self::skip_waiting) may let pass for a session. Without it a `sleep 60` that may
    /// take a second would end well in deterministic mode, because no time of the world passes.
    pub fn limit_waiting(&mut self, session: SessionId, most: Duration) {
        if let Some(found) = self.sessions.get_mut(&session) {
            found.patience = Some(u64::try_from(most.as_nanos()).unwrap_or(u64::MAX));
        }
    }

    /// The bounds in force.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Live processes and zombies of all sessions.
    pub fn process_count(&self) -> usize {
        self.processes.len()
    }

    /// Whether runs are to be repeatable, because time passes only while all programs wait ([`Clock::is_virtual`]).
    pub fn is_repeatable(&self) -> bool {
        self.clock.is_virtual()
    }

    /// Random bytes for the host's own use, which programs do not miss: those of a source forked off from theirs.
    pub fn random_aside(&self, dst: &mut [u8]) {
        self.entropy.fork().fill(dst);
    }

    pub(crate) fn new_session(&mut self) -> SessionId {
        self.last_session += 1;
        SessionId(self.last_session)
    }

    /// The processes to instantiate since the last call, in the order in which they were started. A forked one must
    /// have its memory copied before its parent runs on.
    pub fn take_starts(&mut self, session: SessionId) -> Vec<Start> {
        self.sessions.get_mut(&session).map(|s| std::mem::take(&mut s.starts)).unwrap_or_default()
    }

    /// Whether [`take_starts`](Self::take_starts) would answer something.
    pub fn has_starts(&self, session: SessionId) -> bool {
        self.sessions.get(&session).is_some_and(|s| !s.starts.is_empty())
    }

    /// The file name of what the process runs, for messages. `?` for an unknown process.
    pub fn program_name(&self, pid: Pid) -> String {
        let path = self.processes.get(pid).map_or(b"?".as_slice(), |p| &p.program.path);
        String::from_utf8_lossy(path.rsplit(|b| *b == b'/').next().unwrap_or_default()).into_owned()
    }

    /// The engine reports that a guest ended because it got no more memory. When that is the session's root process, or the
    /// root process ends with the code of one that did, memory is what stopped the session.
    pub fn out_of_memory(&mut self, pid: Pid) {
        let Some(process) = self.processes.get(pid) else {
            return;
        };
        let Some(session) = self.sessions.get_mut(&process.session) else { return };
        session.out_of_memory = true;
        if session.root == pid {
            session.stopped_by.get_or_insert(Stop::Memory);
        }
    }

    /// Output since the last call, in arrival order.
    pub fn take_output(&mut self, session: SessionId) -> Vec<Chunk> {
        self.take_printed(session).into_chunks()
    }

    /// The same without a piece of memory for each chunk.
    pub fn take_printed(&mut self, session: SessionId) -> Printed {
        self.sessions.get_mut(&session).map(Session::take_printed).unwrap_or_default()
    }

    /// How the root process ended; `None` while it runs.
    pub fn root_status(&self, session: SessionId) -> Option<Status> {
        self.sessions.get(&session)?.root_status
    }

    /// Kills every process of the session. The first reason is the one that [`end`](Self::end) reports.
    pub fn stop(&mut self, session: SessionId, why: Stop) {
        let Some(found) = self.sessions.get_mut(&session) else {
            return;
        };
        found.stopped_by.get_or_insert(why);
        for process in self.processes.iter_mut().filter(|p| p.session == session) {
            process.signal(Signal::Kill);
        }
    }

    /// Forgets the session: kills and frees the processes that are left, and tells how it went. Take the output
    /// before; what was not taken is dropped. A session that does not exist reports that nothing ran.
    pub fn end(&mut self, session: SessionId) -> Report {
        let left: Vec<Pid> = self.processes.iter().filter(|p| p.session == session).map(|p| p.pid).collect();
        for pid in left {
            // The flag is for an engine that still runs the guest; its next call finds no process and ends it too.
            if let Some(process) = self.processes.get_mut(pid) {
                process.signal(Signal::Kill);
            }
            self.bury(pid);
        }
        let ended = self.sessions.remove(&session);
        if self.sessions.is_empty() {
            self.drain_fifos();
        }
        ended.map(|s| s.report()).unwrap_or_default()
    }

    /// Remembers whom to wake when what the blocked call waits for may have come. One waker per process; `wait` is what
    /// the call answered. The deadline is still the engine's to watch.
    pub fn park(&mut self, pid: Pid, wait: Wait, waker: &Waker) {
        match self.processes.get_mut(pid) {
            Some(process) => process.park(wait, waker),
            // A process that is gone must not sleep; its next call tells the engine to end it.
            None => waker.wake_by_ref(),
        }
    }

    /// Forgets whom to wake: the process goes on. What happens from now on is noticed by the next [`park`](Self::park).
    /// `true` when something has happened to it while it was not parked.
    pub fn unpark(&mut self, pid: Pid) -> bool {
        self.processes.get_mut(pid).is_none_or(Process::unpark)
    }

    /// As [`park`](Self::park), for a process of the application. `outside` says that it waits for something that no
    /// process of the sandbox does.
    pub(crate) fn park_host(&mut self, pid: Pid, waker: &Waker, outside: bool) {
        self.park(pid, Wait::default(), waker);
        if let Some(process) = self.processes.get_mut(pid) {
            process.outside = outside;
        }
    }

    /// Asks before linear memory grows from `from` to `to` bytes; `false` when a limit forbids it. A new instance
    /// asks with `from` 0.
    pub fn grow_memory(&mut self, pid: Pid, from: u64, to: u64) -> bool {
        let more = to.saturating_sub(from);
        let Some(process) = self.processes.get_mut(pid).filter(|p| p.ended.is_none()) else {
            return false;
        };
        let wanted = process.memory_bytes.saturating_add(more);
        let total = self.memory_bytes.saturating_add(more);
        if wanted > self.limits.process_memory_bytes || total > self.limits.sandbox_memory_bytes {
            return false;
        }
        process.memory_bytes = wanted;
        self.memory_bytes = total;
        if let Some(session) = self.sessions.get_mut(&process.session) {
            session.memory_bytes = session.memory_bytes.saturating_add(more);
            session.peak_memory_bytes = session.peak_memory_bytes.max(session.memory_bytes);
        }
        true
    }

    pub(crate) fn process(&self, pid: Pid) -> Result<&Process, Errno> {
        self.processes.get(pid).ok_or(Errno::Srch)
    }

    pub(crate) fn process_mut(&mut self, pid: Pid) -> Result<&mut Process, Errno> {
        self.processes.get_mut(pid).ok_or(Errno::Srch)
    }
}
