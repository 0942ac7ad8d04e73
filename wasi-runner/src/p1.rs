//! `wasi_snapshot_preview1`, function by function: the names and types from the table of the kernel, as the meaning.

use tidebox_kernel::wasi::p1;
use tidebox_kernel::{preview1_at_once, preview1_in_turn};
use wasmtime::{Caller, Linker};

use crate::call::{enter, enter_blocking, finish, give_way};
use crate::guest::Guest;

const MODULE: &str = "wasi_snapshot_preview1";

/// Links functions that answer at once: plain host calls, a few nanoseconds each.
macro_rules! direct {
    ($linker:ident, $module:ident, $source:ident: $($name:ident($($arg:ident: $ty:ty),*);)*) => {$(
        $linker.func_wrap($module, stringify!($name), |mut caller: Caller<'_, Guest>, $($arg: $ty),*| {
            finish(enter(&mut caller, |kernel, pid, memory| $source::$name(kernel, pid, memory, $($arg),*)))
        })?;
    )*};
}
pub(crate) use direct;

/// Links functions that may have to wait: ten times dearer, so only where it must be.
macro_rules! blocking {
    ($linker:ident, $module:ident, $source:ident: $($name:ident($($arg:ident: $ty:ty),*);)*) => {$(
        $linker.func_wrap_async($module, stringify!($name), |mut caller: Caller<'_, Guest>, ($($arg,)*): ($($ty,)*)| {
            Box::new(async move {
                enter_blocking(&mut caller, |kernel, pid, memory| $source::$name(kernel, pid, memory, $($arg),*)).await
            })
        })?;
    )*};
}
pub(crate) use blocking;

pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    preview1_at_once!(direct!(linker, MODULE,));
    // Calls that others' doings show in never wait, but a guest that repeats one until they show must let them run.
    preview1_in_turn!(blocking!(linker, MODULE,));
    linker.func_wrap_async(MODULE, "sched_yield", |mut caller: Caller<'_, Guest>, (): ()| {
        Box::new(async move {
            let mut repeatable = false;
            let sys = enter(&mut caller, |kernel, pid, memory| {
                repeatable = kernel.end_turn(pid);
                p1::sched_yield(kernel, pid, memory)
            });
            if repeatable {
                give_way().await
            } else {
                tokio::task::yield_now().await
            }
            finish(sys)
        })
    })?;
    linker.func_wrap(MODULE, "proc_exit", |mut caller: Caller<'_, Guest>, code: u32| -> wasmtime::Result<()> {
        finish(enter(&mut caller, |kernel, pid, memory| p1::proc_exit(kernel, pid, memory, code))).map(|_| ())
    })?;
    Ok(())
}
