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

/// Links functions that move bytes, with others having a turn between the pieces of a long transfer.
macro_rules! in_pieces {
    ($linker:ident: $($name:ident $piece:ident),*) => {$(
        $linker.func_wrap_async(
            MODULE,
            stringify!($name),
            |mut caller: Caller<'_, Guest>, (fd, iovs, iovs_len, out): (u32, u32, u32, u32)| {
                Box::new(async move {
                    let mut progress = p1::Progress::default();
                    loop {
                        let answer = enter_blocking(&mut caller, |kernel, pid, memory| {
                            p1::$piece(kernel, pid, memory, fd, iovs, iovs_len, out, &mut progress)
                        });
                        let answer = answer.await?;
                        if !progress.more() {
                            return Ok(answer);
                        }
                        give_way().await;
                    }
                })
            },
        )?;
    )*};
}

/// Random bytes that are made at a time.
const RANDOM_BYTES: u32 = 256 << 10;

async fn random_get(caller: &mut Caller<'_, Guest>, at: u32, len: u32) -> wasmtime::Result<u32> {
    let (mut at, mut left) = (at, len);
    loop {
        let piece = left.min(RANDOM_BYTES);
        let answer = finish(enter(caller, |kernel, pid, memory| p1::random_get(kernel, pid, memory, at, piece)))?;
        left -= piece;
        if answer != tidebox_kernel::Errno::Success as u32 || left == 0 {
            return Ok(answer);
        }
        let Some(next) = at.checked_add(piece) else { return Ok(tidebox_kernel::Errno::Fault as u32) };
        at = next;
        give_way().await;
    }
}

pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    preview1_at_once!(direct!(linker, MODULE,));
    // Calls that others' doings show in never wait, but a guest that repeats one until they show must let them run.
    preview1_in_turn!(blocking!(linker, MODULE,));
    // These may have as much to do as a guest has memory, so they do it in pieces.
    linker.allow_shadowing(true);
    in_pieces! { linker: fd_read fd_read_piece, fd_write fd_write_piece }
    linker.func_wrap_async(MODULE, "random_get", |mut caller: Caller<'_, Guest>, (at, len): (u32, u32)| {
        Box::new(async move { random_get(&mut caller, at, len).await })
    })?;
    linker.allow_shadowing(false);
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
