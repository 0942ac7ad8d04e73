//! Processes and the process table.

use std::fmt;
use std::sync::Arc;
use std::task::Waker;

use crate::cpu_time::CpuTime;
use crate::execution::ExecutionId;
use crate::fd::Descriptors;
use crate::fifo::PendingOpen;
use crate::fs::{Contents, Ino};
use crate::host::HostProgram;
use crate::process_flags::ProcessFlags;
use crate::resolve::DirRef;
use crate::saved_process::SavedProcess;
use crate::signal::{Dispositions, Effect, Signal};
use crate::syscall::Wait;

/// Process id. Ids increase and are reused only after 4 million processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pid(pub u32);

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Exit status of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExitStatus {
    /// Exited with this exit code.
    Exited(u8),
    /// Killed by this signal.
    Killed(Signal),
}

impl ExitStatus {
    /// Converts the argument of `proc_exit`. POSIX keeps the low eight bits.
    pub fn from_exit(code: i32) -> Self {
        Self::Exited((code & 0xff) as u8)
    }

    /// Returns the exit code that a shell shows: 0 to 255, or 128 + *n* for signal *n*.
    pub fn code(self) -> i32 {
        match self {
            Self::Exited(code) => i32::from(code),
            Self::Killed(signal) => 128 + i32::from(signal.number()),
        }
    }

    /// Encodes the status as `wait` of `tidebox_v1` writes it: 0 to 255, or 256 + *n* for signal *n*.
    pub(crate) fn to_abi(self) -> u32 {
        match self {
            Self::Exited(code) => u32::from(code),
            Self::Killed(signal) => 256 + u32::from(signal.number()),
        }
    }
}

/// The module that a process runs.
#[derive(Clone, Debug)]
pub struct Executable {
    /// Its file.
    pub ino: Ino,
    /// The file's content version; with `ino` it is a key for compiled code.
    pub version: u64,
    /// The module's bytes, shared with the file.
    pub contents: Contents,
}

/// A process that the engine has to instantiate.
#[derive(Clone, Debug)]
pub struct PendingProcess {
    /// Its pid.
    pub pid: Pid,
    /// The execution it belongs to.
    pub execution: ExecutionId,
    /// The executable.
    pub image: Executable,
    /// Set if it is a fork of another process.
    pub fork: Option<ForkOrigin>,
    /// Set if it continues a saved process.
    pub resume: Option<Arc<SavedProcess>>,
    /// Set if the application runs it; the engine then polls [`HostProcess`](crate::HostProcess).
    pub host: Option<Arc<dyn HostProgram>>,
    /// State that the engine reads without the kernel's lock.
    pub flags: Arc<ProcessFlags>,
}

/// Origin of a forked process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForkOrigin {
    /// The process whose memory and globals must be copied before it resumes.
    pub parent: Pid,
    /// Argument of `tidebox_fork_child`.
    pub arg: i32,
}

/// Arguments or an environment in the layout of `args_get`: NUL-terminated and concatenated, in one allocation.
#[derive(Clone, Default)]
pub struct CStringList {
    pub(crate) bytes: Vec<u8>,
    pub(crate) count: u32,
}

/// Prints the sizes only: variables may hold secrets.
impl fmt::Debug for CStringList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CStringList").field("count", &self.count).field("bytes", &self.bytes.len()).finish()
    }
}

impl CStringList {
    /// Creates an empty list that holds this many bytes, a terminator for each string included, without another allocation.
    pub fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), count: 0 }
    }

    /// Appends a string, given in parts. A list in which a string contains a NUL byte starts no process: the kernel returns
    /// [`Errno::Inval`](crate::Errno::Inval).
    pub fn push(&mut self, parts: &[&[u8]]) {
        for part in parts {
            self.bytes.extend_from_slice(part);
        }
        self.bytes.push(0);
        self.count = self.count.saturating_add(1);
    }

    /// Returns the strings, if none contains a NUL byte.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        // The last string ends in NUL too, so the part after it is not a string.
        self.bytes.split(|b| *b == 0).take(self.count as usize)
    }

    /// Returns whether a string contains a NUL byte, so that [`iter`](Self::iter) would split it.
    pub(crate) fn has_embedded_nul(&self) -> bool {
        self.bytes.iter().filter(|byte| **byte == 0).count() != self.count as usize
    }
}

impl<S: AsRef<[u8]>> FromIterator<S> for CStringList {
    fn from_iter<I: IntoIterator<Item = S>>(strings: I) -> Self {
        let mut list = Self::default();
        for string in strings {
            list.push(&[string.as_ref()]);
        }
        list
    }
}

/// Program data that forks and children share.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) image: Executable,
    /// Set if the file belongs to a host program.
    pub(crate) host: Option<Arc<dyn HostProgram>>,
    /// Path of the file, for `/proc/self/exe`.
    pub(crate) path: Arc<[u8]>,
    pub(crate) argv: Arc<CStringList>,
    pub(crate) env: Arc<CStringList>,
}

impl Program {
    /// Returns the charge of its strings. A fork shares them and is charged too, because any of the processes may live longest.
    pub(crate) fn string_bytes(&self) -> usize {
        self.argv.bytes.len().saturating_add(self.env.bytes.len())
    }
}

#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) pid: Pid,
    /// 0 if the host started it or its parent has exited.
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) execution: ExecutionId,
    pub(crate) depth: u32,
    pub(crate) children: Vec<Pid>,
    /// Set after it has exited, until its parent waits for it.
    pub(crate) ended: Option<ExitStatus>,
    pub(crate) program: Program,
    pub(crate) cwd: DirRef,
    pub(crate) umask: u32,
    /// Niceness, -20 to 19. Shown, and without effect.
    pub(crate) nice: i8,
    pub(crate) fds: Descriptors,
    pub(crate) signals: Dispositions,
    /// Set while the process is stopped by a signal.
    pub(crate) stopped: Option<Stopped>,
    /// A caught signal arrived since the last interrupted call.
    pub(crate) interrupted: bool,
    /// State that the engine reads without the kernel's lock.
    pub(crate) flags: Arc<ProcessFlags>,
    pub(crate) memory_bytes: u64,
    pub(crate) cpu_time: CpuTime,
    pub(crate) started: u64,
    pub(crate) blocked: BlockedCall,
    /// Opens of FIFOs that wait for the other end. More than one only in components, whose calls run concurrently.
    pub(crate) pending_opens: Vec<PendingOpen>,
    /// Calls of this time slice, and whether it ended before the process had to wait.
    pub(crate) calls: u32,
    pub(crate) yielded: bool,
    /// Set while it is parked.
    waker: Option<Waker>,
    /// Deadline of the wait while it is parked.
    wake_deadline: Option<u64>,
    woken: bool,
    /// True if it is parked for something outside the sandbox.
    pub(crate) waits_externally: bool,
}

/// State of a blocked call between retries.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BlockedCall {
    /// Monotonic time of the first attempt, so that a relative timeout keeps its deadline.
    pub(crate) since: Option<u64>,
    /// Bytes that a write has already delivered.
    pub(crate) written: u32,
}

/// State of a stopped process.
#[derive(Debug, Default)]
pub(crate) struct Stopped {
    /// The signal that stopped it, until its parent has waited for the stop.
    pub(crate) unreported: Option<Signal>,
    /// Wakes the engine when the process continues or is killed.
    waker: Option<Waker>,
    /// A fatal signal that takes effect when the process continues.
    fatal: Option<Signal>,
}

/// Data of a new process; the table adds the rest.
pub(crate) struct NewProcess {
    pub(crate) parent: u32,
    pub(crate) group: Option<u32>,
    pub(crate) execution: ExecutionId,
    pub(crate) depth: u32,
    pub(crate) program: Program,
    pub(crate) cwd: DirRef,
    pub(crate) umask: u32,
    pub(crate) nice: i8,
    pub(crate) fds: Descriptors,
    pub(crate) signals: Dispositions,
    pub(crate) started: u64,
}

impl Process {
    /// Returns the pending fatal signal, if any.
    pub(crate) fn fatal(&self) -> Option<Signal> {
        self.flags.fatal_signal()
    }

    /// Delivers a signal. The first fatal one counts, except that SIGKILL overrides all.
    pub(crate) fn signal(&mut self, signal: Signal) {
        if self.ended.is_some() {
            return;
        }
        if signal == Signal::Cont
            && let Some(stopped) = self.stopped.take()
        {
            self.flags.set_stopped(false);
            if let Some(fatal) = stopped.fatal {
                self.flags.set_fatal_signal(fatal);
            }
            stopped.waker.into_iter().for_each(Waker::wake);
            // A read in the background is tried again.
            self.wake();
        }
        match self.signals.effect(signal) {
            Effect::Nothing => return,
            Effect::Stop => {
                self.stopped.get_or_insert_with(|| Stopped { unreported: Some(signal), ..Stopped::default() });
                self.flags.set_stopped(true);
                return;
            }
            Effect::Catch => {
                self.signals.pending |= signal.bit();
                self.interrupted = true;
            }
            Effect::Kill if signal != Signal::Kill && self.stopped.is_some() => {
                if let Some(stopped) = &mut self.stopped {
                    stopped.fatal.get_or_insert(signal);
                }
                return;
            }
            Effect::Kill => {
                if let Some(stopped) = self.stopped.take() {
                    self.flags.set_stopped(false);
                    stopped.waker.into_iter().for_each(Waker::wake);
                }
                if self.fatal().is_none() || signal == Signal::Kill {
                    self.flags.set_fatal_signal(signal);
                }
            }
        }
        self.wake();
    }

    /// Makes the engine retry a blocked call. Waking a process that does not wait is harmless.
    pub(crate) fn wake(&mut self) {
        match self.waker.take() {
            Some(waker) => waker.wake(),
            None => self.woken = true,
        }
    }

    /// Clears the state of a call that may have waited.
    pub(crate) fn clear_blocked(&mut self) {
        self.blocked = BlockedCall::default();
        self.waker = None;
    }

    /// Removes the waker without a retry. Returns whether it was woken since it was last parked or resumed.
    pub(crate) fn unpark(&mut self) -> bool {
        self.clear_blocked();
        std::mem::take(&mut self.woken)
    }

    pub(crate) fn is_parked(&self) -> bool {
        self.waker.is_some()
    }

    /// Registers the waker of a stopped process. Returns `false` if the process is not stopped.
    pub(crate) fn park_if_stopped(&mut self, waker: &Waker) -> bool {
        match &mut self.stopped {
            Some(stopped) => {
                stopped.waker = Some(waker.clone());
                true
            }
            None => false,
        }
    }

    /// Returns the signal that stopped it, if its parent has not waited for that.
    pub(crate) fn unreported_stop(&self) -> Option<Signal> {
        self.stopped.as_ref().and_then(|stopped| stopped.unreported)
    }

    /// Returns whether only another process, or time, can resume it.
    pub(crate) fn waits_internally(&self) -> bool {
        self.stopped.is_some() || (self.is_parked() && !self.waits_externally)
    }

    /// Returns its wake-up time, if it is parked with a deadline.
    pub(crate) fn wake_time(&self) -> Option<u64> {
        self.wake_deadline.filter(|_| self.is_parked() && self.stopped.is_none())
    }

    /// Prepares to return `Block`: only later wake-ups count.
    pub(crate) fn prepare_block(&mut self) {
        self.woken = false;
    }

    pub(crate) fn park(&mut self, wait: Wait, waker: &Waker) {
        self.wake_deadline = wait.deadline;
        self.calls = 0;
        if std::mem::take(&mut self.woken) {
            waker.wake_by_ref();
        } else {
            self.waker = Some(waker.clone());
        }
    }
}

/// All processes, zombies included. A pid's low bits are its slot, and only pids with a free slot are assigned, so that a lookup
/// is one indexed load.
#[derive(Debug)]
pub(crate) struct Processes {
    slots: Vec<Option<Box<Process>>>,
    count: usize,
    last: u32,
}

/// Linux's `pid_max` on 64-bit systems.
const LAST_PID: u32 = 1 << 22;

impl Default for Processes {
    fn default() -> Self {
        Self { slots: (0..64).map(|_| None).collect(), count: 0, last: 1 }
    }
}

impl Processes {
    fn slot(&self, pid: u32) -> usize {
        pid as usize & (self.slots.len() - 1)
    }

    pub(crate) fn get(&self, pid: Pid) -> Option<&Process> {
        let found = self.slots.get(self.slot(pid.0))?.as_deref()?;
        (found.pid == pid).then_some(found)
    }

    pub(crate) fn get_mut(&mut self, pid: Pid) -> Option<&mut Process> {
        let at = self.slot(pid.0);
        let found = self.slots.get_mut(at)?.as_deref_mut()?;
        (found.pid == pid).then_some(found)
    }

    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// Creates an empty table that continues with the next pid.
    pub(crate) fn with_next_pid(&self) -> Self {
        Self { last: self.last, ..Self::default() }
    }

    /// Returns the pid assigned last.
    pub(crate) fn last(&self) -> u32 {
        self.last
    }

    /// Iterates in arbitrary order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Process> {
        self.slots.iter().flatten().map(|p| &**p)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Process> {
        self.slots.iter_mut().flatten().map(|p| &mut **p)
    }

    pub(crate) fn insert(&mut self, birth: NewProcess) -> &mut Process {
        if self.count * 2 >= self.slots.len() {
            self.grow();
        }
        let pid = self.free_pid();
        let at = self.slot(pid);
        self.count += 1;
        self.slots[at].insert(Box::new(Process {
            pid: Pid(pid),
            parent: birth.parent,
            group: birth.group.unwrap_or(pid),
            execution: birth.execution,
            depth: birth.depth,
            children: Vec::new(),
            ended: None,
            program: birth.program,
            cwd: birth.cwd,
            umask: birth.umask,
            nice: birth.nice,
            fds: birth.fds,
            signals: birth.signals,
            stopped: None,
            interrupted: false,
            flags: Arc::default(),
            memory_bytes: 0,
            cpu_time: CpuTime::default(),
            started: birth.started,
            blocked: BlockedCall::default(),
            pending_opens: Vec::new(),
            calls: 0,
            yielded: false,
            waker: None,
            wake_deadline: None,
            woken: false,
            waits_externally: false,
        }))
    }

    pub(crate) fn remove(&mut self, pid: Pid) -> Option<Box<Process>> {
        let at = self.slot(pid.0);
        let slot = self.slots.get_mut(at)?;
        if slot.as_deref()?.pid != pid {
            return None;
        }
        self.count -= 1;
        slot.take()
    }

    /// Pids with different low bits also differ with one bit more, so every process keeps a distinct slot.
    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        self.slots.resize_with(old.len() * 2, || None);
        for process in old.into_iter().flatten() {
            let at = self.slot(process.pid.0);
            self.slots[at] = Some(process);
        }
    }

    /// Terminates because at most half of the slots are in use.
    fn free_pid(&mut self) -> u32 {
        loop {
            self.last = if self.last >= LAST_PID { 2 } else { self.last + 1 };
            if self.slots[self.slot(self.last)].is_none() {
                return self.last;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_strings_detects_embedded_nul_bytes() {
        let mut list: CStringList = ["one", "", "two"].into_iter().collect();
        list.push(&[b"NAME", b"=", b"value"]);
        assert!(!list.has_embedded_nul());
        assert_eq!(list.iter().collect::<Vec<_>>(), [&b"one"[..], b"", b"two", b"NAME=value"]);
        assert!(["a\0b"].into_iter().collect::<CStringList>().has_embedded_nul());
        assert!(!CStringList::default().has_embedded_nul());
    }

    #[test]
    fn debug_output_of_strings_shows_no_contents() {
        let list: CStringList = ["TOKEN=secret"].into_iter().collect();
        assert_eq!(format!("{list:?}"), "CStringList { count: 1, bytes: 13 }");
    }
}
