//! A program's instance in a store of its own: in the engine's pool, and beyond it where that is full.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use tidebox_kernel::{SharedKernel, Signal, Start};
use wasmtime::{
    AsContext, AsContextMut, Instance, InstancePre, PoolConcurrencyLimitError, StoreContext, StoreContextMut,
    UpdateDeadline,
};

use crate::call::Leave;
use crate::engine::Store;
use crate::fork::Nursery;
use crate::guest::{Guest, Limiter};
use crate::process::{self, Surroundings};
use crate::program::Program;

/// Epochs that a guest may run before it lets others have a turn.
pub(crate) const TURN: u64 = 1;

/// Memory from which on giving it back takes so long, some milliseconds, that another thread does it.
const LARGE_BYTES: usize = 32 << 20;

/// A process's store. One with a large memory is dropped elsewhere, so that neither the answer nor the other processes wait for that.
pub(crate) struct Body(Option<Store>);

impl Body {
    fn new(store: Store) -> Self {
        Self(Some(store))
    }
}

impl Deref for Body {
    type Target = Store;

    fn deref(&self) -> &Store {
        self.0.as_ref().expect("only dropping takes the store")
    }
}

impl DerefMut for Body {
    fn deref_mut(&mut self) -> &mut Store {
        self.0.as_mut().expect("only dropping takes the store")
    }
}

impl AsContext for Body {
    type Data = Guest;

    fn as_context(&self) -> StoreContext<'_, Guest> {
        (**self).as_context()
    }
}

impl AsContextMut for Body {
    fn as_context_mut(&mut self) -> StoreContextMut<'_, Guest> {
        (**self).as_context_mut()
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        let Some(store) = self.0.take() else { return };
        let bytes = store.data().memory.map_or(0, |memory| memory.data_size(&store));
        if bytes < LARGE_BYTES {
            return;
        }
        // One at a time: who makes and leaves large memories faster than they can be given back does the rest of the work itself.
        let home = Arc::clone(&store.data().home);
        if let Ok(runtime) = tokio::runtime::Handle::try_current()
            && let Some(turn) = home.begin_giving_back()
        {
            runtime.spawn_blocking(move || {
                drop(store);
                drop(turn);
            });
        }
    }
}

/// A store for a process that is about to be instantiated.
pub(crate) fn store(around: &Surroundings, start: &Start, program: &InstancePre<Guest>) -> Body {
    let guest = Guest {
        home: Arc::clone(&around.inner),
        kernel: SharedKernel::clone(&around.kernel),
        pid: start.pid,
        memory: None,
        program: program.clone(),
        nursery: Nursery::clone(&around.nursery),
        limiter: Limiter::new(&around.kernel, start.pid),
        interrupts: None,
        _living: around.inner.admit(),
    };
    let mut store = Store::new(program.module().engine(), guest);
    store.limiter(|guest| &mut guest.limiter);
    take_turns(&mut store, &start.kill_flag);
    Body::new(store)
}

/// Has a store give way to others every epoch, and end when its process is to die.
pub(crate) fn take_turns<T>(store: &mut wasmtime::Store<T>, kill_flag: &Arc<AtomicU32>) {
    let kill_flag = Arc::clone(kill_flag);
    store.set_epoch_deadline(TURN);
    store.epoch_deadline_callback(move |_| match process::fatal(&kill_flag) {
        Some(signal) => Err(killed(signal)),
        None => Ok(UpdateDeadline::Yield(TURN)),
    });
}

fn killed(signal: Signal) -> wasmtime::Error {
    wasmtime::Error::new(Leave::Killed(signal))
}

/// Instantiates a program for a process.
pub(crate) async fn new(
    around: &Surroundings,
    start: &Start,
    program: &InstancePre<Guest>,
) -> (Body, wasmtime::Result<Instance>) {
    let mut full = store(around, start, program);
    let made = program.instantiate_async(&mut full).await;
    if !made.as_ref().is_err_and(is_full) {
        return (full, made);
    }
    match beyond(around, start).await {
        Some((around, Program::Module { pre, .. })) => {
            let mut store = store(&around, start, &pre);
            let made = pre.instantiate_async(&mut store).await;
            (store, made)
        }
        _ => (full, made),
    }
}

/// Whether an instance was refused because the pool has no place for it.
pub(crate) fn is_full(error: &wasmtime::Error) -> bool {
    error.is::<PoolConcurrencyLimitError>()
}

/// The engine beyond the pool, and the same program there. Native code fits both, so a program of the cache is only mapped again.
pub(crate) async fn beyond(around: &Surroundings, start: &Start) -> Option<(Surroundings, Program)> {
    let inner = Arc::clone(around.inner.beyond()?);
    let around = Surroundings { inner, ..around.clone() };
    let program = process::program(&around, start).await.ok()?;
    Some((around, program))
}
