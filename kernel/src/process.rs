//! Processes: what one is, and the table that finds it by number.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Waker;

use crate::fd::Descriptors;
use crate::fifo::Waiting;
use crate::fs::{Contents, Ino};
use crate::host::HostProgram;
use crate::resolve::Place;
use crate::session::SessionId;
use crate::signal::{Dispositions, Effect, Signal};
use crate::wasi::Wait;

/// Number of a process. Numbers increase and are reused only after 4 million processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pid(pub u32);

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It left with this exit code.
    Exited(u8),
    /// It died of this signal.
    Killed(Signal),
}

impl Status {
    /// From the number a guest gave to `proc_exit`, of which POSIX keeps the low eight bits.
    pub fn from_exit(code: i32) -> Self {
        Self::Exited((code & 0xff) as u8)
    }

    /// The exit code a shell shows: 0 to 255, or 128 + *n* for signal *n*.
    pub fn code(self) -> i32 {
        match self {
            Self::Exited(code) => i32::from(code),
            Self::Killed(signal) => 128 + i32::from(signal.number()),
        }
    }

    /// As `wait` of `tidebox_v1` writes it: 0 to 255, or 256 + *n* for signal *n*.
    pub(crate) fn wire(self) -> u32 {
        match self {
            Self::Exited(code) => u32::from(code),
            Self::Killed(signal) => 256 + u32::from(signal.number()),
        }
    }
}

/// The module that a process runs.
#[derive(Clone, Debug)]
pub struct Image {
    /// The file it came from.
    pub ino: Ino,
    /// The file's content version; with `ino` it is a key for compiled code.
    pub version: u64,
    /// The module's bytes, shared with the file.
    pub contents: Contents,
}

/// A process that the engine has to instantiate.
#[derive(Clone, Debug)]
pub struct Start {
    /// Its number.
    pub pid: Pid,
    /// What it runs.
    pub image: Image,
    /// Set when it is a copy of another process.
    pub fork: Option<Fork>,
    /// Set when the application runs it; [`HostProcess`](crate::HostProcess) is then what the engine polls.
    pub host: Option<Arc<dyn HostProgram>>,
    /// Non-zero: the number of the signal that the process must die of. The engine reads it at its ticks, without the
    /// kernel's lock.
    pub kill_flag: Arc<AtomicU32>,
}

/// How a copied process begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fork {
    /// Whose memory and globals to copy, before it runs on.
    pub parent: Pid,
    /// Argument of `tidebox_fork_child`.
    pub arg: i32,
}

/// Strings as `args_get` delivers them: each ended by a NUL byte, one after the other.
#[derive(Debug, Default)]
pub(crate) struct Strings {
    pub(crate) bytes: Vec<u8>,
    pub(crate) count: u32,
}

impl Strings {
    pub(crate) fn new(list: &[Vec<u8>]) -> Self {
        let mut bytes = Vec::with_capacity(list.iter().map(|s| s.len() + 1).sum());
        for s in list {
            bytes.extend_from_slice(s);
            bytes.push(0);
        }
        Self { bytes, count: u32::try_from(list.len()).unwrap_or(u32::MAX) }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        // The last string ends in NUL too, so what `split` finds after it is no string.
        self.bytes.split(|b| *b == 0).take(self.count as usize)
    }
}

/// What a process brings along that a copy or a child of it shares.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) image: Image,
    /// Set when the file stands for a program of the application.
    pub(crate) host: Option<Arc<dyn HostProgram>>,
    /// Path of the file, for `/proc/self/exe`.
    pub(crate) path: Arc<[u8]>,
    pub(crate) argv: Arc<Strings>,
    pub(crate) env: Arc<Strings>,
}

impl Program {
    /// What its strings are charged. A copy shares them and is charged all the same: who of them lives longest is not
    /// known.
    pub(crate) fn string_bytes(&self) -> usize {
        self.argv.bytes.len().saturating_add(self.env.bytes.len())
    }
}

#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) pid: Pid,
    /// 0 when the host started it or its parent is gone.
    pub(crate) parent: u32,
    pub(crate) group: u32,
    pub(crate) session: SessionId,
    pub(crate) depth: u32,
    pub(crate) children: Vec<Pid>,
    /// Set when it has ended and waits for its parent to ask.
    pub(crate) ended: Option<Status>,
    pub(crate) program: Program,
    pub(crate) cwd: Place,
    pub(crate) umask: u32,
    pub(crate) fds: Descriptors,
    pub(crate) signals: Dispositions,
    /// A noted signal arrived since the last call that it interrupted.
    pub(crate) interrupted: bool,
    /// Non-zero: the signal it must die of. Shared with the engine, which reads it without the kernel's lock.
    pub(crate) kill_flag: Arc<AtomicU32>,
    pub(crate) memory_bytes: u64,
    pub(crate) started: u64,
    pub(crate) blocked: Blocked,
    /// Opens of named pipes that wait for the other end. More than one only in components, whose calls run side by side.
    pub(crate) openings: Vec<Waiting>,
    /// Calls of this turn, and whether it was ended before the process had to wait.
    pub(crate) calls: u32,
    pub(crate) gave_way: bool,
    /// Set while it is parked.
    waker: Option<Waker>,
    /// Until when at the latest it is parked.
    until: Option<u64>,
    woken: bool,
    /// Whether it is parked for something that is not in the sandbox.
    pub(crate) outside: bool,
}

/// What a call that waits has to remember until the engine makes it again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Blocked {
    /// Monotonic time of the first attempt, so that a relative timeout keeps its end.
    pub(crate) since: Option<u64>,
    /// Bytes that a write has delivered already.
    pub(crate) written: u32,
}

/// What makes a new process; the table adds the rest.
pub(crate) struct Birth {
    pub(crate) parent: u32,
    pub(crate) group: Option<u32>,
    pub(crate) session: SessionId,
    pub(crate) depth: u32,
    pub(crate) program: Program,
    pub(crate) cwd: Place,
    pub(crate) umask: u32,
    pub(crate) fds: Descriptors,
    pub(crate) signals: Dispositions,
    pub(crate) started: u64,
}

impl Process {
    /// The signal it must die of, if any.
    pub(crate) fn fatal(&self) -> Option<Signal> {
        Signal::from_number(self.kill_flag.load(Ordering::Relaxed))
    }

    /// Lets a signal take effect. The first fatal one counts, except that SIGKILL wins over all.
    pub(crate) fn signal(&mut self, signal: Signal) {
        if self.ended.is_some() {
            return;
        }
        match self.signals.effect(signal) {
            Effect::Nothing => return,
            Effect::Note => {
                self.signals.noted |= signal.bit();
                self.interrupted = true;
            }
            Effect::Kill => {
                if self.fatal().is_none() || signal == Signal::Kill {
                    self.kill_flag.store(u32::from(signal.number()), Ordering::Relaxed);
                }
            }
        }
        self.wake();
    }

    /// Makes the engine try a blocked call again. Waking a process that does not wait is harmless.
    pub(crate) fn wake(&mut self) {
        match self.waker.take() {
            Some(waker) => waker.wake(),
            None => self.woken = true,
        }
    }

    /// A call that may have waited is over.
    pub(crate) fn went_on(&mut self) {
        self.blocked = Blocked::default();
        self.waker = None;
    }

    /// It goes on without having made its call again. Whether it was woken since it last was parked or went on.
    pub(crate) fn unpark(&mut self) -> bool {
        self.went_on();
        std::mem::take(&mut self.woken)
    }

    pub(crate) fn is_parked(&self) -> bool {
        self.waker.is_some()
    }

    /// Whether only another process, or time, can make it go on.
    pub(crate) fn waits_inside(&self) -> bool {
        self.is_parked() && !self.outside
    }

    /// When it wakes up by itself, if it is parked.
    pub(crate) fn alarm(&self) -> Option<u64> {
        self.until.filter(|_| self.is_parked())
    }

    /// A call is about to answer `Block`: only wake-ups from now on count.
    pub(crate) fn will_block(&mut self) {
        self.woken = false;
    }

    pub(crate) fn park(&mut self, wait: Wait, waker: &Waker) {
        self.until = wait.deadline;
        self.calls = 0;
        if std::mem::take(&mut self.woken) {
            waker.wake_by_ref();
        } else {
            self.waker = Some(waker.clone());
        }
    }
}

/// All processes, zombies included. A pid's low bits are its slot, and only pids whose slot is free are given out, so
/// that finding a process is one indexed load.
#[derive(Debug)]
pub(crate) struct Processes {
    slots: Vec<Option<Box<Process>>>,
    count: usize,
    last: u32,
}

/// Linux's `pid_max` on 64-bit machines.
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

    /// A table without processes that goes on counting where this one is.
    pub(crate) fn successor(&self) -> Self {
        Self { last: self.last, ..Self::default() }
    }

    /// The number given out last.
    pub(crate) fn last(&self) -> u32 {
        self.last
    }

    /// In no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Process> {
        self.slots.iter().flatten().map(|p| &**p)
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Process> {
        self.slots.iter_mut().flatten().map(|p| &mut **p)
    }

    pub(crate) fn insert(&mut self, birth: Birth) -> &mut Process {
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
            session: birth.session,
            depth: birth.depth,
            children: Vec::new(),
            ended: None,
            program: birth.program,
            cwd: birth.cwd,
            umask: birth.umask,
            fds: birth.fds,
            signals: birth.signals,
            interrupted: false,
            kill_flag: Arc::default(),
            memory_bytes: 0,
            started: birth.started,
            blocked: Blocked::default(),
            openings: Vec::new(),
            calls: 0,
            gave_way: false,
            waker: None,
            until: None,
            woken: false,
            outside: false,
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

    /// Pids whose low bits differ also differ in one bit more, so every process finds a slot of its own.
    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        self.slots.resize_with(old.len() * 2, || None);
        for process in old.into_iter().flatten() {
            let at = self.slot(process.pid.0);
            self.slots[at] = Some(process);
        }
    }

    /// Ends because at most half of the slots are taken.
    fn free_pid(&mut self) -> u32 {
        loop {
            self.last = if self.last >= LAST_PID { 2 } else { self.last + 1 };
            if self.slots[self.slot(self.last)].is_none() {
                return self.last;
            }
        }
    }
}
