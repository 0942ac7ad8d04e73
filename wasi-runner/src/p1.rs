//! `wasi_snapshot_preview1`, function by function: the names and types of the witx, the meaning from the kernel.

use tidebox_kernel::wasi::p1;
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
    direct! { linker, MODULE, p1:
        args_get(argv: u32, buffer: u32);
        args_sizes_get(count: u32, size: u32);
        environ_get(environ: u32, buffer: u32);
        environ_sizes_get(count: u32, size: u32);
        clock_res_get(id: u32, out: u32);
        clock_time_get(id: u32, precision: u64, out: u32);
        fd_advise(fd: u32, offset: u64, len: u64, advice: u32);
        fd_allocate(fd: u32, offset: u64, len: u64);
        fd_close(fd: u32);
        fd_datasync(fd: u32);
        fd_fdstat_get(fd: u32, out: u32);
        fd_fdstat_set_flags(fd: u32, flags: u32);
        fd_fdstat_set_rights(fd: u32, base: u64, inheriting: u64);
        fd_filestat_get(fd: u32, out: u32);
        fd_filestat_set_size(fd: u32, size: u64);
        fd_filestat_set_times(fd: u32, atime: u64, mtime: u64, flags: u32);
        fd_pread(fd: u32, iovs: u32, iovs_len: u32, offset: u64, out: u32);
        fd_prestat_get(fd: u32, out: u32);
        fd_prestat_dir_name(fd: u32, path: u32, len: u32);
        fd_pwrite(fd: u32, iovs: u32, iovs_len: u32, offset: u64, out: u32);
        fd_readdir(fd: u32, buffer: u32, len: u32, cookie: u64, out: u32);
        fd_renumber(fd: u32, to: u32);
        fd_seek(fd: u32, offset: i64, whence: u32, out: u32);
        fd_sync(fd: u32);
        fd_tell(fd: u32, out: u32);
        path_filestat_set_times(fd: u32, flags: u32, path: u32, len: u32, atime: u64, mtime: u64, which: u32);
        path_readlink(fd: u32, path: u32, len: u32, buffer: u32, buffer_len: u32, out: u32);
        proc_raise(signal: u32);
        random_get(buffer: u32, len: u32);
        sock_accept(fd: u32, flags: u32, out: u32);
        sock_recv(fd: u32, iovs: u32, iovs_len: u32, flags: u32, size: u32, out_flags: u32);
        sock_send(fd: u32, iovs: u32, iovs_len: u32, flags: u32, size: u32);
        sock_shutdown(fd: u32, how: u32);
    }
    // Calls that others' doings show in never wait, but a guest that repeats one until they show must let them run.
    blocking! { linker, MODULE, p1:
        fd_read(fd: u32, iovs: u32, iovs_len: u32, out: u32);
        fd_write(fd: u32, iovs: u32, iovs_len: u32, out: u32);
        path_create_directory(fd: u32, path: u32, len: u32);
        path_filestat_get(fd: u32, flags: u32, path: u32, len: u32, out: u32);
        path_link(old_fd: u32, old_flags: u32, old: u32, old_len: u32, new_fd: u32, new: u32, new_len: u32);
        path_open(
            fd: u32, dirflags: u32, path: u32, len: u32, oflags: u32, base: u64, inheriting: u64, fdflags: u32, out: u32
        );
        path_remove_directory(fd: u32, path: u32, len: u32);
        path_rename(fd: u32, old: u32, old_len: u32, new_fd: u32, new: u32, new_len: u32);
        path_symlink(old: u32, old_len: u32, fd: u32, new: u32, new_len: u32);
        path_unlink_file(fd: u32, path: u32, len: u32);
        poll_oneoff(subscriptions: u32, events: u32, count: u32, out: u32);
    }
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
