//! What a running guest carries: the kernel it calls, who it is, and its memory.

use std::sync::{Arc, MutexGuard, PoisonError};

use tidebox_kernel::wasi::{Fault, GuestMem};
use tidebox_kernel::{Kernel, Pid, SharedKernel};
use wasmtime::{Engine, InstancePre, Linker, Memory, ResourceLimiter};

use crate::engine::Inner;
use crate::fork::Nursery;
use crate::living::Living;
use crate::prepared::Interrupts;
use crate::process::Surroundings;

/// The data of a guest's store.
pub(crate) struct Guest {
    /// The engine that the program belongs to.
    pub(crate) home: Arc<Inner>,
    pub(crate) kernel: SharedKernel,
    pub(crate) pid: Pid,
    /// Absent until the module is instantiated, and for modules that export none.
    pub(crate) memory: Option<Memory>,
    /// The program this guest is an instance of: what `fork` instantiates again.
    pub(crate) program: InstancePre<Self>,
    /// Forked children on their way to the scheduler.
    pub(crate) nursery: Nursery,
    pub(crate) limiter: Limiter,
    /// How the program learns of signals that it wants to note, where it cannot ask.
    pub(crate) interrupts: Option<Arc<Interrupts>>,
    pub(crate) _living: Living,
}

impl Guest {
    /// What a child of this process needs to start.
    pub(crate) fn surroundings(&self) -> Surroundings {
        Surroundings {
            inner: Arc::clone(&self.home),
            kernel: SharedKernel::clone(&self.kernel),
            nursery: Nursery::clone(&self.nursery),
        }
    }
}

/// Sets the flags of the signals that have arrived, for a program that learns of them that way.
pub(crate) fn interrupt(mut store: impl wasmtime::AsContextMut<Data = Guest>) {
    let store = &mut store.as_context_mut();
    let Some((interrupts, memory)) = store.data().interrupts.clone().zip(store.data().memory) else { return };
    let guest = store.data();
    let signals = lock(&guest.kernel).take_noted(guest.pid);
    if signals != 0 {
        interrupts.set(memory.data_mut(store), signals);
    }
}

/// Locks the kernel. A panic of another thread inside the kernel would be a defect of ours; its state is still the
/// only one there is, and refusing all further calls would turn one defect into a dead sandbox.
pub(crate) fn lock(kernel: &SharedKernel) -> MutexGuard<'_, Kernel> {
    kernel.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Asks the kernel before a guest's memory grows.
pub(crate) struct Limiter {
    pub(crate) kernel: SharedKernel,
    pub(crate) pid: Pid,
    /// Whether a growth was ever refused: a guest that traps afterwards most likely ran out of memory.
    pub(crate) refused: bool,
}

/// Table elements of one process, 16 bytes each on the host. The largest module tried so far, CPython with numpy, has
/// some 20,000 functions in its table.
const TABLE_ELEMENTS: usize = 64_000;

/// What one process may be made of. A component of several modules has some instances of each, and all of their memories
/// count as the process's.
const INSTANCES: usize = 200;
const TABLES: usize = 200;
const MEMORIES: usize = 50;

impl Limiter {
    pub(crate) fn new(kernel: &SharedKernel, pid: Pid) -> Self {
        Self { kernel: Arc::clone(kernel), pid, refused: false }
    }
}

impl ResourceLimiter for Limiter {
    fn instances(&self) -> usize {
        INSTANCES
    }

    fn tables(&self) -> usize {
        TABLES
    }

    fn memories(&self) -> usize {
        MEMORIES
    }

    fn memory_growing(&mut self, current: usize, desired: usize, maximum: Option<usize>) -> wasmtime::Result<bool> {
        let within_module = maximum.is_none_or(|maximum| desired <= maximum);
        let granted = within_module && lock(&self.kernel).grow_memory(self.pid, current as u64, desired as u64);
        self.refused |= !granted;
        Ok(granted)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= TABLE_ELEMENTS)
    }
}

/// A guest's linear memory, as the kernel sees it.
pub(crate) struct Linear<'a>(pub(crate) &'a mut [u8]);

impl Linear<'_> {
    fn range(at: u32, len: usize) -> Result<std::ops::Range<usize>, Fault> {
        let start = at as usize;
        start.checked_add(len).map(|end| start..end).ok_or(Fault)
    }
}

impl GuestMem for Linear<'_> {
    fn read(&self, at: u32, dst: &mut [u8]) -> Result<(), Fault> {
        let src = self.0.get(Self::range(at, dst.len())?).ok_or(Fault)?;
        dst.copy_from_slice(src);
        Ok(())
    }

    fn write(&mut self, at: u32, src: &[u8]) -> Result<(), Fault> {
        let dst = self.0.get_mut(Self::range(at, src.len())?).ok_or(Fault)?;
        dst.copy_from_slice(src);
        Ok(())
    }

    fn slice(&self, at: u32, len: u32) -> Option<&[u8]> {
        self.0.get(Self::range(at, len as usize).ok()?)
    }

    fn slice_mut(&mut self, at: u32, len: u32) -> Option<&mut [u8]> {
        self.0.get_mut(Self::range(at, len as usize).ok()?)
    }
}

/// Everything a guest may import.
pub(crate) fn linker(engine: &Engine) -> wasmtime::Result<Linker<Guest>> {
    let mut linker = Linker::new(engine);
    crate::p1::link(&mut linker)?;
    crate::ext::link(&mut linker)?;
    Ok(linker)
}
