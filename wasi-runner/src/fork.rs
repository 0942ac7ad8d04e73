//! Fork at a safe point: a new instance of the caller's module with the caller's memory.
//!
//! The caller's stack is not copied as a native stack would be. The child enters an exported function instead, and finds
//! everything that the caller's linear memory held where it was, so pointers into it stay valid.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tidebox_kernel::wasi::{Sys, ext};
use tidebox_kernel::{Errno, Start};
use wasmtime::{AsContextMut, Caller, Instance, Memory, Val};

use crate::call::{enter, finish, give_way};
use crate::guest::{Guest, lock};
use crate::instance::{self, Body};

/// What a fork's child is told to do: this export receives the caller's argument.
pub(crate) const ENTRY: &str = "tidebox_fork_child";

/// The shadow stack's pointer, which the toolchain keeps in a global of this name.
const STACK_POINTER: &str = "__stack_pointer";

/// Bytes that are copied before others have a turn.
const PIECE_BYTES: usize = 4 << 20;

/// Bytes in a page of linear memory.
const PAGE: usize = 65_536;

/// A child that has its memory and waits to be scheduled.
pub(crate) struct Forked {
    pub(crate) start: Start,
    pub(crate) store: Body,
    pub(crate) instance: Instance,
    /// What the entry function receives.
    pub(crate) arg: i32,
}

/// Children that their parents have made and the scheduler has not taken yet. The scheduler alone keeps them: a child knows where its
/// own children go, and one that kept the place alive which it lies in would stay there for ever when its command ends before its turn.
pub(crate) type Nursery = Weak<Mutex<Vec<Forked>>>;

pub(crate) async fn fork(caller: &mut Caller<'_, Guest>, arg: i32, pid_out: u32) -> wasmtime::Result<u32> {
    let Some(parent) = Parent::of(caller) else { return Ok(Errno::Notsup as u32) };
    let mut started = None;
    let sys = enter(caller, |kernel, pid, memory| {
        let sys = ext::fork(kernel, pid, memory, arg, pid_out);
        if matches!(sys, Sys::Done(Errno::Success)) {
            started = kernel.take_fork(pid);
        }
        sys
    });
    let Some(start) = started else { return finish(sys) };
    let pid = start.pid;
    let kernel = Arc::clone(&caller.data().kernel);
    let copied = copy(caller, &parent, start, arg).await;
    match (copied, caller.data().nursery.upgrade()) {
        (Ok(forked), Some(nursery)) => {
            nursery.lock().unwrap_or_else(PoisonError::into_inner).push(forked);
            Ok(Errno::Success as u32)
        }
        _ => {
            lock(&kernel).abandon(pid);
            Ok(Errno::Again as u32)
        }
    }
}

/// The child could not be made: no instance slot, or its memory is over the limit.
struct Refused;

/// What the child needs to know of its parent before the parent is copied.
struct Parent {
    memory: Memory,
    stack_pointer: i32,
    globals: Vec<(String, Val)>,
}

impl Parent {
    fn of(caller: &mut Caller<'_, Guest>) -> Option<Self> {
        let memory = caller.data().memory?;
        caller.get_export(ENTRY)?.into_func()?;
        let stack_pointer = caller.get_export(STACK_POINTER)?.into_global()?.get(caller.as_context_mut()).i32()?;
        let names: Vec<String> = mutable_globals(&caller.data().program);
        let globals = names
            .into_iter()
            .filter_map(|name| {
                let global = caller.get_export(&name)?.into_global()?;
                let value = global.get(caller.as_context_mut());
                Some((name, value))
            })
            .collect();
        Some(Self { memory, stack_pointer, globals })
    }
}

fn mutable_globals(program: &wasmtime::InstancePre<Guest>) -> Vec<String> {
    program
        .module()
        .exports()
        .filter(|export| export.ty().global().is_some_and(|global| global.mutability() == wasmtime::Mutability::Var))
        .map(|export| export.name().to_owned())
        .collect()
}

async fn copy(caller: &mut Caller<'_, Guest>, parent: &Parent, start: Start, arg: i32) -> Result<Forked, Refused> {
    let (around, program) = (caller.data().surroundings(), caller.data().program.clone());
    let (mut store, made) = instance::new(&around, &start, &program).await;
    let instance = made.map_err(|_| Refused)?;
    let memory = instance.get_memory(&mut store, "memory").ok_or(Refused)?;
    store.data_mut().memory = Some(memory);

    let source = parent.memory.data(&*caller);
    let missing = source.len().saturating_sub(memory.data_size(&store));
    if missing > 0 {
        memory.grow(&mut store, (missing / PAGE) as u64).map_err(|_| Refused)?;
    }
    // Below the stack pointer lies what no frame uses any more: the larger part of a stack that is sized for recursion.
    let live = usize::try_from(parent.stack_pointer).unwrap_or(0).min(source.len());
    let (mut at, end) = (live, source.len());
    while at < end {
        let next = end.min(at.saturating_add(PIECE_BYTES));
        copy_pages(parent.memory.data(&*caller), memory.data_mut(&mut store), at..next);
        at = next;
        // The parent waits meanwhile, so that its memory stays as it is.
        if at < end {
            give_way().await;
        }
    }
    for (name, value) in &parent.globals {
        let global = instance.get_global(&mut store, name).ok_or(Refused)?;
        global.set(&mut store, *value).map_err(|_| Refused)?;
    }
    Ok(Forked { start, store, instance, arg })
}

/// Copies what both memories have of the range.
fn copy_pages(source: &[u8], target: &mut [u8], range: Range<usize>) {
    let range = range.start..range.end.min(source.len()).min(target.len());
    if let (Some(target), Some(source)) = (target.get_mut(range.clone()), source.get(range)) {
        target.copy_from_slice(source);
    }
}
