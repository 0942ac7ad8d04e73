//! State of a process that the engine reads without the kernel's lock.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::signal::Signal;

/// Flags of a process, shared with the engine. It reads them before it runs the process and at its ticks.
#[derive(Debug, Default)]
pub struct ProcessFlags {
    /// Non-zero: the number of a fatal signal.
    fatal: AtomicU32,
    stopped: AtomicBool,
}

impl ProcessFlags {
    /// Returns the signal that must end the process now, if any.
    pub fn fatal_signal(&self) -> Option<Signal> {
        Signal::from_number(self.fatal.load(Ordering::Relaxed))
    }

    /// Returns whether the process is stopped. If so, the engine calls
    /// [`Kernel::park_if_stopped`](crate::Kernel::park_if_stopped) instead of running it.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(crate) fn set_fatal_signal(&self, signal: Signal) {
        self.fatal.store(u32::from(signal.number()), Ordering::Relaxed);
    }

    pub(crate) fn set_stopped(&self, stopped: bool) {
        self.stopped.store(stopped, Ordering::Relaxed);
    }
}
