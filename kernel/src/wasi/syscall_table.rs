//! Tables of the functions that guests can call, with their types in the witx and `docs/abi.md`. Each engine has a macro that
//! links one of these functions for its guests, and passes it to the macros here: `preview1_nonblocking!(link!(linker,))` becomes
//! `link! { linker, preview1: args_get(argv: u32, buffer: u32); ... }`.
//!
//! Functions that each engine implements itself are in no table: `proc_exit` and `sched_yield` of preview1, `fork` of
//! `tidebox_v1`.

/// Functions of `wasi_snapshot_preview1` ([`preview1`](crate::wasi::preview1)) that never wait.
#[macro_export]
macro_rules! preview1_nonblocking {
    ($with:ident!($($context:tt)*)) => {
        $with! { $($context)* preview1:
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
            sock_shutdown(fd: u32, how: u32);
        }
    };
}

/// Functions of `wasi_snapshot_preview1` ([`preview1`](crate::wasi::preview1)) that may wait, and those that observe other
/// processes: a guest that repeats one until the result changes must let others run.
#[macro_export]
macro_rules! preview1_yielding {
    ($with:ident!($($context:tt)*)) => {
        $with! { $($context)* preview1:
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
            sock_accept(fd: u32, flags: u32, out: u32);
            sock_recv(fd: u32, iovs: u32, iovs_len: u32, flags: u32, size: u32, out_flags: u32);
            sock_send(fd: u32, iovs: u32, iovs_len: u32, flags: u32, size: u32);
        }
    };
}

/// Functions of `tidebox_v1` ([`tidebox`](crate::wasi::tidebox)) that never wait.
#[macro_export]
macro_rules! tidebox_v1_nonblocking {
    ($with:ident!($($context:tt)*)) => {
        $with! { $($context)* tidebox:
            spawn(request: u32, len: u32, pid_out: u32);
            pipe(out: u32);
            dup(fd: u32, at_least: u32, out: u32);
            dup_to(fd: u32, target: u32);
            chdir(path: u32, len: u32);
            getcwd(buffer: u32, len: u32, len_out: u32);
            getids(out: u32);
            cpu_times(out: u32);
            nice(increment: i32, out: u32);
            setpgid(target: i32, pgid: i32);
            sock_open(family: u32, out: u32);
            sock_pair(out: u32);
            sock_bind(fd: u32, address: u32);
            sock_listen(fd: u32, backlog: u32);
            sock_name(fd: u32, of_peer: u32, out: u32);
            tty_get(fd: u32, out: u32);
            sig_set(signal: u32, disposition: u32);
            sig_take(out: u32);
            umask(mask: u32, out: u32);
            chmod(path: u32, len: u32, mode: u32);
            fstat(fd: u32, out: u32);
            limits(out: u32);
            nesting_reached();
            startup_info(buffer: u32, len: u32, len_out: u32);
            shell_state_read(buffer: u32, len: u32, len_out: u32);
            shell_state_write(from: u32, len: u32);
        }
    };
}

/// Functions of `tidebox_v1` ([`tidebox`](crate::wasi::tidebox)) like those of [`preview1_yielding`].
#[macro_export]
macro_rules! tidebox_v1_yielding {
    ($with:ident!($($context:tt)*)) => {
        $with! { $($context)* tidebox:
            kill(target: i32, signal: u32);
            mkfifo(path: u32, len: u32, mode: u32);
            stat(path: u32, len: u32, flags: u32, out: u32);
            access(path: u32, len: u32, mode: u32);
            sock_connect(fd: u32, address: u32);
            tty_set(fd: u32, when: u32, from: u32);
            tty_group(fd: u32, group: u32, out: u32);
            wait(target: i32, flags: u32, out: u32);
        }
    };
}

macro_rules! names {
    ($source:ident: $($name:ident($($arg:ident: $ty:ty),*);)*) => { [$(stringify!($name)),*] };
}

/// Returns the names of the functions of an import module; empty for an unknown module.
pub fn functions(module: &str) -> impl Iterator<Item = &'static str> {
    let tables: [&[&str]; 3] = match module {
        "wasi_snapshot_preview1" => {
            [&preview1_nonblocking!(names!()), &preview1_yielding!(names!()), &["proc_exit", "sched_yield"]]
        }
        "tidebox_v1" => [&tidebox_v1_nonblocking!(names!()), &tidebox_v1_yielding!(names!()), &["fork"]],
        _ => [&[], &[], &[]],
    };
    tables.into_iter().flatten().copied()
}
