//! State of guests in the engine, in addition to that of the kernel.

use std::cell::RefCell;
use std::sync::Arc;

use tidebox_kernel::{ExitStatus, GuestMemory, MemoryFault, Pid, ProcessFlags, SharedKernel, Signal};

use crate::js_imports;
use crate::pack::Interrupts;
use crate::slots::Slots;

/// The memory of the guest with this slot, accessed through JavaScript.
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
    pub(crate) pid: Pid,
    /// Slot of its execution.
    pub(crate) execution: u32,
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
    static GUESTS: RefCell<Slots<Guest>> = const { RefCell::new(Slots::new()) };
}

/// Calls `work` with the table of the guests of all sandboxes. `work` must not call functions that run guests.
pub(crate) fn guests<T>(work: impl FnOnce(&mut Slots<Guest>) -> T) -> T {
    GUESTS.with(|guests| work(&mut guests.borrow_mut()))
}

pub(crate) fn guest<T>(slot: u32, work: impl FnOnce(&mut Guest) -> T) -> Option<T> {
    guests(|guests| guests.get_mut(slot).map(work))
}

/// Returns the kernel of a guest, and its pid there.
pub(crate) fn process(slot: u32) -> Option<(SharedKernel, Pid)> {
    guest(slot, |guest| (Arc::clone(&guest.kernel), guest.pid))
}
