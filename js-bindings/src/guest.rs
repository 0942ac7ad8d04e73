//! What the engine knows of the guests that run, beside what the kernel knows.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

use tidebox_kernel::wasi::{Fault, GuestMem};
use tidebox_kernel::{Kernel, SharedKernel, Signal, Status};

use crate::host;
use crate::pack::Interrupts;

/// The memory of a guest, reached through JavaScript.
#[derive(Debug)]
pub(crate) struct GuestMemory(pub(crate) u32);

impl GuestMem for GuestMemory {
    fn read(&self, at: u32, dst: &mut [u8]) -> Result<(), Fault> {
        if host::guest_read(self.0, at, dst) { Ok(()) } else { Err(Fault) }
    }

    fn write(&mut self, at: u32, src: &[u8]) -> Result<(), Fault> {
        if host::guest_write(self.0, at, src) { Ok(()) } else { Err(Fault) }
    }
}

/// A guest on its way from start to end.
#[derive(Debug)]
pub(crate) struct Guest {
    pub(crate) kernel: SharedKernel,
    pub(crate) session: u32,
    /// Non-zero: the signal it must die of.
    pub(crate) kill_flag: Arc<AtomicU32>,
    /// How it said that it ends, before its stack was left.
    pub(crate) leaving: Option<Status>,
    /// Whether it was ever refused memory: if it traps afterwards, that is most likely why.
    pub(crate) refused: bool,
    /// Until when the call that blocks waits at most, in nanoseconds of the kernel's clock.
    pub(crate) deadline: Option<u64>,
    /// What a prepared program was answered, until it has made room for it.
    pub(crate) answer: Vec<u8>,
    /// How a prepared program learns of signals.
    pub(crate) interrupts: Option<Arc<Interrupts>>,
}

impl Guest {
    pub(crate) fn fatal(&self) -> Option<Signal> {
        Signal::from_number(self.kill_flag.load(Ordering::Relaxed))
    }
}

thread_local! {
    /// One kernel lives in an instance of this module, so process numbers tell guests apart.
    static GUESTS: RefCell<BTreeMap<u32, Guest>> = const { RefCell::new(BTreeMap::new()) };
}

/// Runs `work` on the table of guests. It must not call what runs guests.
pub(crate) fn guests<T>(work: impl FnOnce(&mut BTreeMap<u32, Guest>) -> T) -> T {
    GUESTS.with(|guests| work(&mut guests.borrow_mut()))
}

pub(crate) fn guest<T>(pid: u32, work: impl FnOnce(&mut Guest) -> T) -> Option<T> {
    guests(|guests| guests.get_mut(&pid).map(work))
}

pub(crate) fn lock(kernel: &SharedKernel) -> MutexGuard<'_, Kernel> {
    kernel.lock().unwrap_or_else(PoisonError::into_inner)
}
