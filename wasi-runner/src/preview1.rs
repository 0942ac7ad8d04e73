//! `wasi_snapshot_preview1`, function by function. Names, types and semantics come from the kernel's table.

use tidebox_kernel::wasi::preview1;
use tidebox_kernel::{preview1_nonblocking, preview1_yielding};
use wasmtime::{Caller, Linker};

use crate::call::{call_kernel, call_kernel_blocking, finish, yield_now};
use crate::guest::Guest;

const MODULE: &str = "wasi_snapshot_preview1";

/// Links functions that never block, as plain host calls of a few nanoseconds each.
macro_rules! direct {
    ($linker:ident, $module:ident, $source:ident: $($name:ident($($arg:ident: $ty:ty),*);)*) => {$(
        $linker.func_wrap($module, stringify!($name), |mut caller: Caller<'_, Guest>, $($arg: $ty),*| {
            finish(call_kernel(&mut caller, |kernel, pid, memory| $source::$name(kernel, pid, memory, $($arg),*)))
        })?;
    )*};
}
pub(crate) use direct;

/// Links functions that may block. They cost ten times as much, so only where necessary.
macro_rules! blocking {
    ($linker:ident, $module:ident, $source:ident: $($name:ident($($arg:ident: $ty:ty),*);)*) => {$(
        $linker.func_wrap_async($module, stringify!($name), |mut caller: Caller<'_, Guest>, ($($arg,)*): ($($ty,)*)| {
            Box::new(async move {
                call_kernel_blocking(&mut caller, |kernel, pid, memory| $source::$name(kernel, pid, memory, $($arg),*)).await
            })
        })?;
    )*};
}
pub(crate) use blocking;

/// Links functions that move bytes. Long transfers are chunked and yield between chunks.
macro_rules! chunked {
    ($linker:ident: $($name:ident $chunk:ident),*) => {$(
        $linker.func_wrap_async(
            MODULE,
            stringify!($name),
            |mut caller: Caller<'_, Guest>, (fd, iovs, iovs_len, out): (u32, u32, u32, u32)| {
                Box::new(async move {
                    let mut progress = preview1::Progress::default();
                    loop {
                        let result = call_kernel_blocking(&mut caller, |kernel, pid, memory| {
                            preview1::$chunk(kernel, pid, memory, fd, iovs, iovs_len, out, &mut progress)
                        });
                        let result = result.await?;
                        if !progress.more() {
                            return Ok(result);
                        }
                        yield_now().await;
                    }
                })
            },
        )?;
    )*};
}

/// Random bytes generated at a time.
const RANDOM_BYTES: u32 = 256 << 10;

async fn random_get(caller: &mut Caller<'_, Guest>, at: u32, len: u32) -> wasmtime::Result<u32> {
    let (mut at, mut left) = (at, len);
    loop {
        let chunk = left.min(RANDOM_BYTES);
        let result =
            finish(call_kernel(caller, |kernel, pid, memory| preview1::random_get(kernel, pid, memory, at, chunk)))?;
        left -= chunk;
        if result != tidebox_kernel::Errno::Success as u32 || left == 0 {
            return Ok(result);
        }
        let Some(next) = at.checked_add(chunk) else { return Ok(tidebox_kernel::Errno::Fault as u32) };
        at = next;
        yield_now().await;
    }
}

pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    preview1_nonblocking!(direct!(linker, MODULE,));
    // These calls never block, but they observe other processes. A guest that polls with them must let the others run.
    preview1_yielding!(blocking!(linker, MODULE,));
    // The work of these calls can be as large as the guest's memory, so it is chunked.
    linker.allow_shadowing(true);
    chunked! { linker: fd_read fd_read_chunk, fd_write fd_write_chunk }
    linker.func_wrap_async(MODULE, "random_get", |mut caller: Caller<'_, Guest>, (at, len): (u32, u32)| {
        Box::new(async move { random_get(&mut caller, at, len).await })
    })?;
    linker.allow_shadowing(false);
    linker.func_wrap_async(MODULE, "sched_yield", |mut caller: Caller<'_, Guest>, (): ()| {
        Box::new(async move {
            let mut deterministic = false;
            let sys = call_kernel(&mut caller, |kernel, pid, memory| {
                deterministic = kernel.yield_slice(pid);
                preview1::sched_yield(kernel, pid, memory)
            });
            if deterministic {
                yield_now().await
            } else {
                tokio::task::yield_now().await
            }
            finish(sys)
        })
    })?;
    linker.func_wrap(MODULE, "proc_exit", |mut caller: Caller<'_, Guest>, code: u32| -> wasmtime::Result<()> {
        finish(call_kernel(&mut caller, |kernel, pid, memory| preview1::proc_exit(kernel, pid, memory, code)))
            .map(|_| ())
    })?;
    Ok(())
}
