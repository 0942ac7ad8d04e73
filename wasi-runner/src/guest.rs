//! Store data of a running guest: its kernel, identity and memory.

use std::sync::Arc;

use tidebox_kernel::{GuestMemory, MemoryFault, Pid, SharedKernel};
use wasmtime::{Engine, InstancePre, Linker, Memory, ResourceLimiter};

use crate::engine::Inner;
use crate::fork::ForkQueue;
use crate::preinit::SignalFlags;
use crate::process::ProcessContext;
use crate::process_count::ProcessGuard;

/// The data of a guest's store.
pub(crate) struct Guest {
    /// The engine of the program.
    pub(crate) engine: Arc<Inner>,
    pub(crate) kernel: SharedKernel,
    pub(crate) pid: Pid,
    /// `None` until the module is instantiated, and for modules that export no memory.
    pub(crate) memory: Option<Memory>,
    /// The program of this guest, which `fork` instantiates again.
    pub(crate) program: InstancePre<Self>,
    /// Forked children that the scheduler has not taken yet.
    pub(crate) fork_queue: ForkQueue,
    /// True in a background execution.
    pub(crate) is_background: bool,
    pub(crate) limiter: Limiter,
    /// Flags that report caught signals to a program that cannot query them.
    pub(crate) signal_flags: Option<Arc<SignalFlags>>,
    pub(crate) _process_guard: ProcessGuard,
}

impl Guest {
    /// Returns the context for starting a child of this process.
    pub(crate) fn context(&self) -> ProcessContext {
        ProcessContext {
            inner: Arc::clone(&self.engine),
            kernel: SharedKernel::clone(&self.kernel),
            fork_queue: ForkQueue::clone(&self.fork_queue),
            is_background: self.is_background,
        }
    }
}

/// Sets the flags of pending signals, for a program that learns of signals through flags.
pub(crate) fn interrupt(mut store: impl wasmtime::AsContextMut<Data = Guest>) {
    let store = &mut store.as_context_mut();
    let Some((signal_flags, memory)) = store.data().signal_flags.clone().zip(store.data().memory) else { return };
    let guest = store.data();
    let signals = guest.kernel.lock().take_pending_signals(guest.pid);
    if signals != 0 {
        signal_flags.set(memory.data_mut(store), signals);
    }
}

/// Checks with the kernel before a guest's memory grows.
pub(crate) struct Limiter {
    pub(crate) kernel: SharedKernel,
    pub(crate) pid: Pid,
    /// True if a growth was denied: a guest that traps afterwards most likely ran out of memory.
    pub(crate) memory_denied: bool,
}

/// Maximum table elements per process, 16 bytes each on the host. The largest module tested, CPython with numpy, has
/// about 20,000.
const TABLE_ELEMENTS: usize = 64_000;

/// Maximum core instances, tables and memories per process. A component of several modules needs some of each, and all
/// of its memories count towards the process's limit.
const INSTANCES: usize = 200;
const TABLES: usize = 200;
const MEMORIES: usize = 50;

impl Limiter {
    pub(crate) fn new(kernel: &SharedKernel, pid: Pid) -> Self {
        Self { kernel: Arc::clone(kernel), pid, memory_denied: false }
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
        let granted = within_module && self.kernel.lock().grow_memory(self.pid, current as u64, desired as u64);
        self.memory_denied |= !granted;
        Ok(granted)
    }

    fn table_growing(&mut self, _: usize, desired: usize, _: Option<usize>) -> wasmtime::Result<bool> {
        Ok(desired <= TABLE_ELEMENTS)
    }
}

/// A guest's linear memory, as seen by the kernel.
pub(crate) struct LinearMemory<'a>(pub(crate) &'a mut [u8]);

impl LinearMemory<'_> {
    fn range(at: u32, len: usize) -> Result<std::ops::Range<usize>, MemoryFault> {
        let start = at as usize;
        start.checked_add(len).map(|end| start..end).ok_or(MemoryFault)
    }
}

impl GuestMemory for LinearMemory<'_> {
    fn read(&self, at: u32, dst: &mut [u8]) -> Result<(), MemoryFault> {
        let src = self.0.get(Self::range(at, dst.len())?).ok_or(MemoryFault)?;
        dst.copy_from_slice(src);
        Ok(())
    }

    fn write(&mut self, at: u32, src: &[u8]) -> Result<(), MemoryFault> {
        let dst = self.0.get_mut(Self::range(at, src.len())?).ok_or(MemoryFault)?;
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

/// Defines everything that a guest may import.
pub(crate) fn linker(engine: &Engine) -> wasmtime::Result<Linker<Guest>> {
    let mut linker = Linker::new(engine);
    crate::preview1::link(&mut linker)?;
    crate::tidebox_v1::link(&mut linker)?;
    Ok(linker)
}
