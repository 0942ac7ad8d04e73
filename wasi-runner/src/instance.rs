//! A program's instance in a store of its own: in the engine's pool, and beyond it where that is full.

use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use tidebox_kernel::{SharedKernel, Signal, Start};
use wasmtime::{Instance, InstancePre, PoolConcurrencyLimitError, UpdateDeadline};

use crate::call::Leave;
use crate::engine::Store;
use crate::fork::Nursery;
use crate::guest::{Guest, Limiter};
use crate::process::{self, Surroundings};
use crate::program::Program;

/// Epochs that a guest may run before it lets others have a turn.
pub(crate) const TURN: u64 = 1;

/// A store for a process that is about to be instantiated.
pub(crate) fn store(around: &Surroundings, start: &Start, program: &InstancePre<Guest>) -> Store {
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
    store
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
) -> (Store, wasmtime::Result<Instance>) {
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
