//! System calls: outcomes, errors, and the common entry and exit path.

use crate::errno::Errno;
use crate::guest_memory::MemoryFault;
use crate::kernel::Kernel;
use crate::process::Pid;
use crate::signal::Signal;

/// Outcome of a system call for the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyscallOutcome {
    /// The call has completed; the guest gets this number.
    Done(Errno),
    /// The call has to wait. The engine parks the process ([`Kernel::park`](crate::Kernel::park)) and repeats the same call when
    /// it is woken, or at the deadline.
    Block(Wait),
    /// The guest exits with this exit code (only the low eight bits count, as in POSIX).
    Exit(i32),
    /// The guest must end: a fatal signal has arrived.
    Kill(Signal),
}

/// Condition that a blocked call waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wait {
    /// Latest time to repeat the call, in nanoseconds of [`Clock::monotonic`](crate::Clock::monotonic). `None` means that only a
    /// wake-up ends the wait.
    pub deadline: Option<u64>,
}

/// Reason that a system call, or a transfer by the engine, did not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyscallError {
    /// It failed with this number.
    Errno(Errno),
    /// It has to wait, at most until this time in nanoseconds of [`Clock::monotonic`](crate::Clock::monotonic).
    Block(Option<u64>),
    /// The process must end: a fatal signal has arrived.
    Kill(Signal),
}

impl From<Errno> for SyscallError {
    fn from(errno: Errno) -> Self {
        Self::Errno(errno)
    }
}

impl From<MemoryFault> for SyscallError {
    fn from(_: MemoryFault) -> Self {
        Self::Errno(Errno::Fault)
    }
}

pub(crate) type SyscallResult = Result<(), SyscallError>;

/// Runs the body of a system call. All calls use it, so that a pending fatal signal takes effect before anything else.
pub(crate) fn run_syscall<T>(
    k: &mut Kernel,
    pid: Pid,
    body: impl FnOnce(&mut Kernel) -> Result<T, SyscallError>,
) -> Result<T, SyscallError> {
    if let Some(signal) = fatal_signal(k, pid) {
        return Err(SyscallError::Kill(signal));
    }
    let result = body(k);
    if let Err(SyscallError::Errno(errno)) = &result {
        k.record_failed_call(pid, *errno);
    }
    result
}

/// Runs a system call of a guest that never waits, and converts its result.
pub(crate) fn call(k: &mut Kernel, pid: Pid, body: impl FnOnce(&mut Kernel) -> SyscallResult) -> SyscallOutcome {
    match run_syscall(k, pid, body) {
        Ok(()) => SyscallOutcome::Done(Errno::Success),
        Err(SyscallError::Errno(errno)) => SyscallOutcome::Done(errno),
        Err(SyscallError::Kill(signal)) => SyscallOutcome::Kill(signal),
        Err(SyscallError::Block(deadline)) => SyscallOutcome::Block(Wait { deadline }),
    }
}

/// Like [`call`], for functions that may wait: keeps and clears the retry state, and turns a wait into `INTR` if a caught signal
/// has arrived. One arrival interrupts one call.
pub(crate) fn blocking_call(
    k: &mut Kernel,
    pid: Pid,
    body: impl FnOnce(&mut Kernel) -> SyscallResult,
) -> SyscallOutcome {
    let sys = call(k, pid, body);
    let Some(process) = k.processes.get_mut(pid) else { return sys };
    let SyscallOutcome::Block(_) = sys else {
        process.clear_blocked();
        return sys;
    };
    if std::mem::take(&mut process.interrupted) {
        process.clear_blocked();
        return SyscallOutcome::Done(Errno::Intr);
    }
    process.prepare_block();
    sys
}

/// Returns the fatal signal of the caller. A process unknown to the kernel was killed with its execution.
fn fatal_signal(k: &Kernel, pid: Pid) -> Option<Signal> {
    match k.processes.get(pid) {
        Some(process) if process.ended.is_none() => process.fatal(),
        _ => Some(Signal::Kill),
    }
}

/// Checks for a fatal signal after a call that may have signalled the caller itself: it takes effect before the call returns.
pub(crate) fn check_not_killed(k: &Kernel, pid: Pid) -> SyscallResult {
    fatal_signal(k, pid).map_or(Ok(()), |signal| Err(SyscallError::Kill(signal)))
}
