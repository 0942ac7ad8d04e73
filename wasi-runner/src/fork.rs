//! Fork at a safe point: a new instance of the caller's module with a copy of the caller's memory.
//!
//! Unlike POSIX fork, the caller's native stack is not copied. The child enters an exported function instead. Its
//! linear memory is at the same addresses as the caller's, so pointers into it stay valid.

use std::ops::Range;
use std::sync::{Arc, Weak};

use tidebox_core::lock::Mutex;

use tidebox_kernel::wasi::tidebox;
use tidebox_kernel::{Errno, PendingProcess, SyscallOutcome};
use wasmtime::{AsContextMut, Caller, Instance, Memory, Val};

use crate::call::{call_kernel, finish, yield_now};
use crate::guest::Guest;
use crate::instance::{self, ProcessStore};

/// Export that the forked child enters. It receives the caller's argument.
pub(crate) const ENTRY: &str = "tidebox_fork_child";

/// Name of the global with the shadow stack pointer, as the toolchain exports it.
const STACK_POINTER: &str = "__stack_pointer";

/// Bytes copied between two yields.
const BYTES_PER_YIELD: usize = 4 << 20;

/// Bytes per page of linear memory.
const PAGE: usize = 65_536;

/// A forked child that has its memory and is not scheduled yet.
pub(crate) struct ForkedProcess {
    pub(crate) start: PendingProcess,
    pub(crate) store: ProcessStore,
    pub(crate) instance: Instance,
    /// Argument of the entry function.
    pub(crate) arg: i32,
}

/// Forked children that the scheduler has not taken yet. Only the scheduler owns the queue: a child refers to it for
/// its own children, and a strong reference from a child inside the queue would leak both when the command ends before
/// the child is scheduled.
pub(crate) type ForkQueue = Weak<Mutex<Vec<ForkedProcess>>>;

pub(crate) async fn fork(caller: &mut Caller<'_, Guest>, arg: i32, pid_out: u32) -> wasmtime::Result<u32> {
    let Some(parent) = ParentState::of(caller) else { return Ok(Errno::Notsup as u32) };
    let mut started = None;
    let sys = call_kernel(caller, |kernel, pid, memory| {
        let sys = tidebox::fork(kernel, pid, memory, arg, pid_out);
        if matches!(sys, SyscallOutcome::Done(Errno::Success)) {
            started = kernel.take_fork(pid);
        }
        sys
    });
    let Some(start) = started else { return finish(sys) };
    let pid = start.pid;
    let kernel = Arc::clone(&caller.data().kernel);
    let copied = copy(caller, &parent, start, arg).await;
    match (copied, caller.data().fork_queue.upgrade()) {
        (Ok(forked), Some(queue)) => {
            queue.lock().push(forked);
            Ok(Errno::Success as u32)
        }
        _ => {
            kernel.lock().cancel_spawn(pid);
            Ok(Errno::Again as u32)
        }
    }
}

/// The child could not be created: no instance slot is available, or its memory exceeds the limit.
struct ForkFailed;

/// State of the parent that is read before its memory is copied.
struct ParentState {
    memory: Memory,
    stack_pointer: i32,
    globals: Vec<(String, Val)>,
}

impl ParentState {
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

async fn copy(
    caller: &mut Caller<'_, Guest>,
    parent: &ParentState,
    start: PendingProcess,
    arg: i32,
) -> Result<ForkedProcess, ForkFailed> {
    let (context, program) = (caller.data().context(), caller.data().program.clone());
    let (mut store, created) = instance::new(&context, &start, &program).await;
    let instance = created.map_err(|_| ForkFailed)?;
    let memory = instance.get_memory(&mut store, "memory").ok_or(ForkFailed)?;
    store.data_mut().memory = Some(memory);

    let source = parent.memory.data(&*caller);
    let missing = source.len().saturating_sub(memory.data_size(&store));
    if missing > 0 {
        memory.grow(&mut store, (missing / PAGE) as u64).map_err(|_| ForkFailed)?;
    }
    // No frame uses the memory below the stack pointer. This is most of a stack sized for recursion.
    let live = usize::try_from(parent.stack_pointer).unwrap_or(0).min(source.len());
    let (mut at, end) = (live, source.len());
    while at < end {
        let next = end.min(at.saturating_add(BYTES_PER_YIELD));
        copy_pages(parent.memory.data(&*caller), memory.data_mut(&mut store), at..next);
        at = next;
        // The parent is suspended during the copy, so its memory does not change.
        if at < end {
            yield_now().await;
        }
    }
    for (name, value) in &parent.globals {
        let global = instance.get_global(&mut store, name).ok_or(ForkFailed)?;
        global.set(&mut store, *value).map_err(|_| ForkFailed)?;
    }
    Ok(ForkedProcess { start, store, instance, arg })
}

/// Copies the part of the range that both memories have.
fn copy_pages(source: &[u8], target: &mut [u8], range: Range<usize>) {
    let range = range.start..range.end.min(source.len()).min(target.len());
    if let (Some(target), Some(source)) = (target.get_mut(range.clone()), source.get(range)) {
        target.copy_from_slice(source);
    }
}
