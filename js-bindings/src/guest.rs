//! State of guests in the engine, in addition to that of the kernel.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use tidebox_kernel::{ExitStatus, GuestMemory, MemoryFault, ProcessFlags, SharedKernel, Signal};

use crate::js_imports;
use crate::pack::Interrupts;

/// The memory of a guest, accessed through JavaScript.
#[derive(Debug)]
pub(crate) struct JsGuestMemory(pub(crate) u32);

impl GuestMemory for JsGuestMemory {
    fn read(&self, at: u32, dst: &mut [u8]) -> Result<(), MemoryFault> {
        if js_imports::guest_read(self.0, at, dst) { Ok(()) } else { Err(MemoryFault) }
    }

    fn write(&mut self, at: u32, src: &[u8]) -> Result<(), MemoryFault> {
        if js_imports::guest_write(self.0, at, src) { Ok(()) } else { Err(MemoryFault) }
    }
}

/// A guest from start to exit.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) kernel: SharedKernel,
    pub(crate) session: u32,
    /// State that the kernel sets, such as the signal that kills the guest.
    pub(crate) flags: Arc<ProcessFlags>,
    /// Exit status, set before its stack is unwound.
    pub(crate) exit_status: Option<ExitStatus>,
    /// True if it was ever denied memory: the most likely cause if it traps afterwards.
    pub(crate) memory_denied: bool,
    /// Deadline of the blocking call, in nanoseconds of the kernel's clock.
    pub(crate) deadline: Option<u64>,
    /// Response to a pre-initialized program, until it has allocated memory for it.
    pub(crate) response: Vec<u8>,
    /// Signal flags of a pre-initialized program.
    pub(crate) interrupts: Option<Arc<Interrupts>>,
}

impl Guest {
    pub(crate) fn fatal(&self) -> Option<Signal> {
        self.flags.fatal_signal()
    }
}

thread_local! {
    /// Keyed by pid: this module runs one kernel, so pids are unique.
    static GUESTS: RefCell<BTreeMap<u32, Guest>> = const { RefCell::new(BTreeMap::new()) };
}

/// Calls `work` with the table of guests. `work` must not call functions that run guests.
pub(crate) fn guests<T>(work: impl FnOnce(&mut BTreeMap<u32, Guest>) -> T) -> T {
    GUESTS.with(|guests| work(&mut guests.borrow_mut()))
}

pub(crate) fn guest<T>(pid: u32, work: impl FnOnce(&mut Guest) -> T) -> Option<T> {
    guests(|guests| guests.get_mut(&pid).map(work))
}
