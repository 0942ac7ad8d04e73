//! What guests call: the decoding of their arguments, and the answers.

mod arg;
pub mod calls;
pub mod door;
pub mod ext;
mod ext_process;
mod ext_start;
mod ext_state;
mod ext_talk;
pub mod p1;
mod p1_dir;
mod p1_fd;
mod p1_io;
mod p1_path;
mod p1_poll;
#[cfg(test)]
mod tests;

use crate::errno::Errno;
use crate::kernel::Kernel;
use crate::process::Pid;
use crate::signal::Signal;

/// What a call answers to the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sys {
    /// The call is over; the guest gets this number.
    Done(Errno),
    /// The call has to wait. The engine parks the process ([`Kernel::park`](crate::Kernel::park)) and makes the same call again when it is
    /// woken, or at the deadline.
    Block(Wait),
    /// The guest ends by its own wish with this exit code (only the low eight bits count, as in POSIX).
    Exit(i32),
    /// The guest must end: a signal whose default is to end it has arrived.
    Kill(Signal),
}

/// What a blocked call waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wait {
    /// When to make the call again at the latest, in nanoseconds of [`Clock::monotonic`](crate::Clock::monotonic). `None` means that only a
    /// wake-up ends the wait.
    pub deadline: Option<u64>,
}

/// A guest passed a range that is not inside its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault;

/// Linear memory of a guest. Addresses and lengths come from the guest unchecked, so implementations must not
/// overflow on `at + len`.
pub trait GuestMem {
    /// Copies from the guest. Fails without a partial copy when the range is outside.
    fn read(&self, at: u32, dst: &mut [u8]) -> Result<(), Fault>;

    /// Copies to the guest. Fails without a partial copy when the range is outside.
    fn write(&mut self, at: u32, src: &[u8]) -> Result<(), Fault>;

    /// The range itself, where the engine can lend it. `None` also when the range is outside; the caller then takes
    /// the copying way, which reports the fault.
    fn slice(&self, at: u32, len: u32) -> Option<&[u8]> {
        let _ = (at, len);
        None
    }

    /// The range itself for writing. As [`slice`](Self::slice).
    fn slice_mut(&mut self, at: u32, len: u32) -> Option<&mut [u8]> {
        let _ = (at, len);
        None
    }
}

/// Why a call, or a transfer of an engine's own, did not come to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// It failed, with this number.
    Errno(Errno),
    /// It has to wait, at most until this time in nanoseconds of [`Clock::monotonic`](crate::Clock::monotonic).
    Block(Option<u64>),
    /// The process must end: a signal whose default is to end it has arrived.
    Kill(Signal),
}

impl From<Errno> for Halt {
    fn from(errno: Errno) -> Self {
        Self::Errno(errno)
    }
}

impl From<Fault> for Halt {
    fn from(_: Fault) -> Self {
        Self::Errno(Errno::Fault)
    }
}

type Answer = Result<(), Halt>;

/// Every call goes through here: a process that must die learns it before anything else happens.
pub(crate) fn attempt<T>(
    k: &mut Kernel,
    pid: Pid,
    body: impl FnOnce(&mut Kernel) -> Result<T, Halt>,
) -> Result<T, Halt> {
    match doom(k, pid) {
        Some(signal) => Err(Halt::Kill(signal)),
        None => body(k),
    }
}

fn call(k: &mut Kernel, pid: Pid, body: impl FnOnce(&mut Kernel) -> Answer) -> Sys {
    match attempt(k, pid, body) {
        Ok(()) => Sys::Done(Errno::Success),
        Err(Halt::Errno(errno)) => Sys::Done(errno),
        Err(Halt::Kill(signal)) => Sys::Kill(signal),
        Err(Halt::Block(deadline)) => Sys::Block(Wait { deadline }),
    }
}

/// As [`call`], for functions that may wait: keeps and clears what a retry has to know, and turns a wait into `INTR`
/// when a signal that the guest wants to note has arrived. One arrival interrupts one call.
fn blocking_call(k: &mut Kernel, pid: Pid, body: impl FnOnce(&mut Kernel) -> Answer) -> Sys {
    let sys = call(k, pid, body);
    let Some(process) = k.processes.get_mut(pid) else { return sys };
    let Sys::Block(_) = sys else {
        process.went_on();
        return sys;
    };
    if std::mem::take(&mut process.interrupted) {
        process.went_on();
        return Sys::Done(Errno::Intr);
    }
    process.will_block();
    sys
}

/// The signal that the caller must die of. A process that the kernel no longer knows was killed with its session.
fn doom(k: &Kernel, pid: Pid) -> Option<Signal> {
    match k.processes.get(pid) {
        Some(process) if process.ended.is_none() => process.fatal(),
        _ => Some(Signal::Kill),
    }
}

/// After a call may have sent a signal to the caller itself: it acts before the call returns.
fn survive(k: &Kernel, pid: Pid) -> Answer {
    doom(k, pid).map_or(Ok(()), |signal| Err(Halt::Kill(signal)))
}
