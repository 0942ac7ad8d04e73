//! Processes, signals, limits, clocks.

use crate::{Result, SpawnRequest, border};

/// Who the caller is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ids {
    /// Process id.
    pub pid: u32,
    /// The parent's process id.
    pub ppid: u32,
    /// Process group.
    pub pgid: u32,
    /// User.
    pub uid: u32,
    /// Group of the user.
    pub gid: u32,
}

/// What the kernel allows the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Linear memory of one process, in bytes.
    pub process_memory_bytes: u64,
    /// Bytes of all files that the sandbox wrote.
    pub file_bytes: u64,
    /// Descriptors of one process.
    pub descriptors: u32,
    /// Live processes of the sandbox.
    pub processes: u32,
    /// Calls in progress of functions in one shell.
    pub nesting: u32,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// With this exit code.
    Exited(u8),
    /// By this signal.
    Killed(u8),
}

impl Status {
    /// The code that a shell shows: the exit code, or 128 + the signal.
    pub fn code(self) -> u8 {
        match self {
            Self::Exited(code) => code,
            Self::Killed(signal) => signal.saturating_add(128),
        }
    }

    #[cfg(target_family = "wasm")]
    pub(crate) fn decode(raw: u32) -> Self {
        match raw.checked_sub(256) {
            None => Self::Exited((raw & 255) as u8),
            Some(signal) => Self::Killed((signal & 127) as u8),
        }
    }
}

/// What a wait brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waited {
    /// Which child ended.
    pub pid: u32,
    /// How.
    pub status: Status,
}

/// What a signal does to the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// What the signal does by default.
    Default,
    /// Nothing.
    Ignore,
    /// It is noted until [`sig_take`] asks.
    Note,
}

/// Starts a program and returns its process id.
pub fn spawn(request: &SpawnRequest<'_>) -> Result<u32> {
    border::spawn(request)
}

/// Starts a copy of the caller that runs `child` and ends; `child` calls [`exit`] itself when its code is not 0.
///
/// The copy has the caller's memory, so what `child` borrows is there, but nothing of the call stack: `child` never
/// returns into the frames that called `fork`. The caller itself goes on, and `child` is dropped without being run.
pub fn fork<'a>(child: impl FnOnce() + 'a) -> Result<u32> {
    border::fork(Box::new(child))
}

/// Waits for a child: `pid` > 0 that one, -1 any, 0 any of the caller's group, < -1 any of group `-pid`.
///
/// With `block` false, `None` says that none has ended. Errors: `CHILD`, `INTR`.
pub fn wait(pid: i32, block: bool) -> Result<Option<Waited>> {
    border::wait(pid, block)
}

/// The ids of the caller.
pub fn getids() -> Result<Ids> {
    border::getids()
}

/// Moves a child (or 0: the caller) to a group (or 0: its own new one).
pub fn setpgid(pid: u32, pgid: u32) -> Result<()> {
    border::setpgid(pid, pgid)
}

/// Sends a signal; 0 only asks. `pid` as for the system call of POSIX.
pub fn kill(pid: i32, signal: u32) -> Result<()> {
    border::kill(pid, signal)
}

/// Sets what a signal does.
pub fn sig_set(signal: u32, disposition: Disposition) -> Result<()> {
    border::sig_set(
        signal,
        match disposition {
            Disposition::Default => 0,
            Disposition::Ignore => 1,
            Disposition::Note => 2,
        },
    )
}

/// The noted signals (bit *n* is signal *n*), which are cleared.
pub fn sig_take() -> Result<u64> {
    border::sig_take()
}

/// What the kernel allows the caller.
pub fn limits() -> Result<Limits> {
    border::limits()
}

/// Ends the caller at once, without unwinding and without flushing std's buffers.
pub fn exit(code: u8) -> ! {
    border::exit(code)
}

/// The arguments, the program's name first, as bytes.
pub fn args() -> Vec<Vec<u8>> {
    border::args()
}

/// The environment, each `NAME=value`, as bytes.
pub fn environ() -> Vec<Vec<u8>> {
    border::environ()
}

/// Nanoseconds since the epoch.
pub fn realtime_ns() -> u64 {
    border::clock(0)
}

/// Nanoseconds since some fixed moment, never going back.
pub fn monotonic_ns() -> u64 {
    border::clock(1)
}

/// Fills `into` from the kernel's source of entropy.
pub fn random(into: &mut [u8]) -> Result<()> {
    border::random(into)
}
