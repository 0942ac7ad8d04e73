//! Processes, signals, limits, clocks.

use crate::{Result, SpawnRequest, border};

/// Ids of the caller.
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

/// Limits of the caller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Linear memory of one process, in bytes.
    pub process_memory_bytes: u64,
    /// Bytes of all files written by the sandbox.
    pub file_bytes: u64,
    /// Descriptors of one process.
    pub descriptors: u32,
    /// Live processes of the sandbox.
    pub processes: u32,
    /// Nested function calls in one shell.
    pub nesting: u32,
}

/// Exit status of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitStatus {
    /// Exited with this code.
    Exited(u8),
    /// Killed by this signal.
    Killed(u8),
}

impl ExitStatus {
    /// Exit code as a shell reports it: the exit code, or 128 + the signal.
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

/// Result of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WaitResult {
    /// Process id of the child.
    pub pid: u32,
    /// Its exit status.
    pub status: ExitStatus,
}

/// Change of a child that [`wait_change`] returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildChange {
    /// It has ended.
    Ended(ExitStatus),
    /// It was stopped by this signal and can be continued.
    Stopped(u8),
}

/// Signal disposition of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// Default action.
    Default,
    /// Ignored.
    Ignore,
    /// Caught: pending until [`sig_take`] is called.
    Note,
}

/// Starts a program and returns its process id.
pub fn spawn(request: &SpawnRequest<'_>) -> Result<u32> {
    border::spawn(request)
}

/// Starts a copy of the caller that runs `child` and exits; `child` calls [`exit`] itself if its code is not 0.
///
/// The copy has the caller's memory, so everything that `child` borrows exists, but not its call stack: `child` never returns
/// into the frames that called `fork`. The caller continues, and `child` is dropped without being run.
pub fn fork<'a>(child: impl FnOnce() + 'a) -> Result<u32> {
    border::fork(Box::new(child))
}

/// Waits for a child: `pid` > 0 that one, -1 any, 0 any of the caller's group, < -1 any of group `-pid`.
///
/// With `block` false, `None` means that none has ended. Errors: `CHILD`, `INTR`.
pub fn wait(pid: i32, block: bool) -> Result<Option<WaitResult>> {
    border::wait(pid, block)
}

/// Waits like [`wait`], also for a child that is stopped. Each stop is returned once.
pub fn wait_change(pid: i32, block: bool) -> Result<Option<(u32, ChildChange)>> {
    border::wait_change(pid, block)
}

/// Returns the ids of the caller.
pub fn getids() -> Result<Ids> {
    border::getids()
}

/// Processor time in nanoseconds. All of it is user time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuTimes {
    /// Time of the caller.
    pub own: u64,
    /// Time of the children it has waited for, and of their descendants.
    pub children: u64,
}

impl CpuTimes {
    /// Returns the sum.
    pub fn total(self) -> u64 {
        self.own.saturating_add(self.children)
    }
}

/// Returns the processor time used until now. Zero in a deterministic sandbox.
pub fn cpu_times() -> CpuTimes {
    border::cpu_times()
}

/// Adds to the niceness of the caller, at most up to 19, and returns it. Niceness is shown and has no effect. `PERM` for a negative
/// increment.
pub fn nice(increment: i32) -> Result<i32> {
    border::nice(increment)
}

/// Moves a child (or 0: the caller) to a group (or 0: its own new one).
pub fn setpgid(pid: u32, pgid: u32) -> Result<()> {
    border::setpgid(pid, pgid)
}

/// Sends a signal; 0 only checks permission. `pid` as in POSIX `kill`.
pub fn kill(pid: i32, signal: u32) -> Result<()> {
    border::kill(pid, signal)
}

/// Sets the disposition of a signal.
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

/// Returns and clears the caught signals (bit *n* is signal *n*).
pub fn sig_take() -> Result<u64> {
    border::sig_take()
}

/// Records that the caller fails because it reached the limit on nesting ([`Limits::nesting`]).
pub fn nesting_reached() {
    border::nesting_reached();
}

/// Returns the limits of the caller.
pub fn limits() -> Result<Limits> {
    border::limits()
}

/// Exits immediately, without unwinding and without flushing std's buffers.
pub fn exit(code: u8) -> ! {
    border::exit(code)
}

/// Returns the arguments, the program's name first, as bytes.
pub fn args() -> Vec<Vec<u8>> {
    border::args()
}

/// Returns the environment, each `NAME=value`, as bytes.
pub fn environ() -> Vec<Vec<u8>> {
    border::environ()
}

/// Returns nanoseconds since the epoch.
pub fn realtime_ns() -> u64 {
    border::clock(0)
}

/// Returns nanoseconds on a monotonic clock with an arbitrary origin.
pub fn monotonic_ns() -> u64 {
    border::clock(1)
}

/// Fills `into` from the kernel's source of entropy.
pub fn random(into: &mut [u8]) -> Result<()> {
    border::random(into)
}
