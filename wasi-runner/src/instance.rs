//! Instances of a program, each in its own store: in the engine's pool, or in the overflow engine if the pool is full.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use tidebox_kernel::{PendingProcess, ProcessFlags, SharedKernel, Signal};
use wasmtime::{
    AsContext, AsContextMut, Instance, InstancePre, PoolConcurrencyLimitError, StoreContext, StoreContextMut,
    UpdateDeadline,
};

use crate::call::GuestExit;
use crate::engine::Store;
use crate::fork::ForkQueue;
use crate::guest::{Guest, Limiter};
use crate::process::{self, ProcessContext};
use crate::program::Program;

/// Epochs per time slice of a guest.
pub(crate) const EPOCHS_PER_SLICE: u64 = 1;

/// Memory size from which freeing takes several milliseconds and therefore moves to another thread.
const DEFERRED_DROP_BYTES: usize = 32 << 20;

/// A process's store. A store with a large memory is dropped on another thread, so that the response and other
/// processes do not wait for it.
pub(crate) struct ProcessStore(Option<Store>);

impl ProcessStore {
    fn new(store: Store) -> Self {
        Self(Some(store))
    }
}

impl Deref for ProcessStore {
    type Target = Store;

    fn deref(&self) -> &Store {
        self.0.as_ref().expect("the store is taken only on drop")
    }
}

impl DerefMut for ProcessStore {
    fn deref_mut(&mut self) -> &mut Store {
        self.0.as_mut().expect("the store is taken only on drop")
    }
}

impl AsContext for ProcessStore {
    type Data = Guest;

    fn as_context(&self) -> StoreContext<'_, Guest> {
        (**self).as_context()
    }
}

impl AsContextMut for ProcessStore {
    fn as_context_mut(&mut self) -> StoreContextMut<'_, Guest> {
        (**self).as_context_mut()
    }
}

impl Drop for ProcessStore {
    fn drop(&mut self) {
        let Some(store) = self.0.take() else { return };
        let bytes = store.data().memory.map_or(0, |memory| memory.data_size(&store));
        if bytes < DEFERRED_DROP_BYTES {
            return;
        }
        // One at a time: a workload that creates large memories faster than they can be freed frees the rest itself.
        let engine_inner = Arc::clone(&store.data().engine);
        if let Ok(runtime) = tokio::runtime::Handle::try_current()
            && let Some(permit) = engine_inner.try_defer_drop()
        {
            runtime.spawn_blocking(move || {
                drop(store);
                drop(permit);
            });
        }
    }
}

/// Creates the store of a process.
pub(crate) fn store(context: &ProcessContext, start: &PendingProcess, program: &InstancePre<Guest>) -> ProcessStore {
    let guest = Guest {
        engine: Arc::clone(&context.inner),
        kernel: SharedKernel::clone(&context.kernel),
        pid: start.pid,
        memory: None,
        program: program.clone(),
        fork_queue: ForkQueue::clone(&context.fork_queue),
        is_background: context.is_background,
        limiter: Limiter::new(&context.kernel, start.pid),
        signal_flags: None,
        _process_guard: context.inner.count_process(),
    };
    let mut store = Store::new(program.module().engine(), guest);
    store.limiter(|guest| &mut guest.limiter);
    configure_epochs(&mut store, &start.flags);
    ProcessStore::new(store)
}

/// Configures a store to yield every epoch, and to trap when its process is killed.
pub(crate) fn configure_epochs<T>(store: &mut wasmtime::Store<T>, flags: &Arc<ProcessFlags>) {
    let flags = Arc::clone(flags);
    store.set_epoch_deadline(EPOCHS_PER_SLICE);
    store.epoch_deadline_callback(move |_| match flags.fatal_signal() {
        Some(signal) => Err(killed(signal)),
        None => Ok(UpdateDeadline::Yield(EPOCHS_PER_SLICE)),
    });
}

fn killed(signal: Signal) -> wasmtime::Error {
    wasmtime::Error::new(GuestExit::Killed(signal))
}

/// Instantiates a program for a process.
pub(crate) async fn new(
    context: &ProcessContext,
    start: &PendingProcess,
    program: &InstancePre<Guest>,
) -> (ProcessStore, wasmtime::Result<Instance>) {
    // The pool's slots are for commands of milliseconds; a background process would keep its slot for hours.
    if context.is_background
        && let Some((context, Program::Module { pre, .. })) = overflow_program(context, start).await
    {
        return instantiate(&context, start, &pre).await;
    }
    let (full, instance) = instantiate(context, start, program).await;
    if !instance.as_ref().is_err_and(is_pool_full) {
        return (full, instance);
    }
    match overflow_program(context, start).await {
        Some((context, Program::Module { pre, .. })) => instantiate(&context, start, &pre).await,
        _ => (full, instance),
    }
}

async fn instantiate(
    context: &ProcessContext,
    start: &PendingProcess,
    program: &InstancePre<Guest>,
) -> (ProcessStore, wasmtime::Result<Instance>) {
    let mut store = store(context, start, program);
    let instance = context.inner.ticker.tick_during(program.instantiate_async(&mut store)).await;
    (store, instance)
}

/// Returns whether instantiation failed because the pool is full.
pub(crate) fn is_pool_full(error: &wasmtime::Error) -> bool {
    error.is::<PoolConcurrencyLimitError>()
}

/// Returns the overflow engine and the same program in it. Native code fits both engines, so a cached program is only
/// mapped again.
pub(crate) async fn overflow_program(
    context: &ProcessContext,
    start: &PendingProcess,
) -> Option<(ProcessContext, Program)> {
    let inner = Arc::clone(context.inner.overflow()?);
    let context = ProcessContext { inner, ..context.clone() };
    let program = process::program(&context, start).await.ok()?;
    Some((context, program))
}
