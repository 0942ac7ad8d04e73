//! What guests call: the decoding of their arguments, and the answers.

use crate::errno::Errno;
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
