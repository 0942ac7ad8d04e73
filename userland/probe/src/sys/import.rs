//! The functions with their witx names; pointers are passed as addresses.

use super::{Errno, Record, Vector};

#[link(wasm_import_module = "wasi_snapshot_preview1")]
unsafe extern "C" {
    pub(crate) fn args_get(list: *mut u32, bytes: *mut u8) -> Errno;
    pub(crate) fn args_sizes_get(count: *mut u32, size: *mut u32) -> Errno;
    pub(crate) fn environ_get(list: *mut u32, bytes: *mut u8) -> Errno;
    pub(crate) fn environ_sizes_get(count: *mut u32, size: *mut u32) -> Errno;
    pub(crate) fn clock_res_get(id: u32, out: *mut u64) -> Errno;
    pub(crate) fn clock_time_get(id: u32, precision: u64, out: *mut u64) -> Errno;
    pub(crate) safe fn fd_advise(fd: u32, offset: u64, len: u64, advice: u32) -> Errno;
    pub(crate) safe fn fd_allocate(fd: u32, offset: u64, len: u64) -> Errno;
    pub(crate) safe fn fd_close(fd: u32) -> Errno;
    pub(crate) safe fn fd_datasync(fd: u32) -> Errno;
    pub(crate) fn fd_fdstat_get(fd: u32, out: *mut Record<24>) -> Errno;
    pub(crate) safe fn fd_fdstat_set_flags(fd: u32, flags: u32) -> Errno;
    pub(crate) safe fn fd_fdstat_set_rights(fd: u32, base: u64, inheriting: u64) -> Errno;
    pub(crate) fn fd_filestat_get(fd: u32, out: *mut Record<64>) -> Errno;
    pub(crate) safe fn fd_filestat_set_size(fd: u32, size: u64) -> Errno;
    pub(crate) safe fn fd_filestat_set_times(fd: u32, atime: u64, mtime: u64, flags: u32) -> Errno;
    pub(crate) fn fd_pread(fd: u32, list: *const Vector, len: usize, offset: u64, out: *mut u32) -> Errno;
    pub(crate) fn fd_prestat_get(fd: u32, out: *mut Record<8>) -> Errno;
    pub(crate) fn fd_prestat_dir_name(fd: u32, path: *mut u8, len: usize) -> Errno;
    pub(crate) fn fd_pwrite(fd: u32, list: *const Vector, len: usize, offset: u64, out: *mut u32) -> Errno;
    pub(crate) fn fd_read(fd: u32, list: *const Vector, len: usize, out: *mut u32) -> Errno;
    pub(crate) fn fd_readdir(fd: u32, buffer: *mut u8, len: usize, cookie: u64, out: *mut u32) -> Errno;
    pub(crate) safe fn fd_renumber(fd: u32, to: u32) -> Errno;
    pub(crate) fn fd_seek(fd: u32, offset: i64, whence: u32, out: *mut u64) -> Errno;
    pub(crate) safe fn fd_sync(fd: u32) -> Errno;
    pub(crate) fn fd_tell(fd: u32, out: *mut u64) -> Errno;
    pub(crate) fn fd_write(fd: u32, list: *const Vector, len: usize, out: *mut u32) -> Errno;
    pub(crate) fn path_create_directory(fd: u32, path: *const u8, len: usize) -> Errno;
    pub(crate) fn path_filestat_get(fd: u32, flags: u32, path: *const u8, len: usize, out: *mut Record<64>) -> Errno;
    pub(crate) fn path_filestat_set_times(
        fd: u32,
        flags: u32,
        path: *const u8,
        len: usize,
        atime: u64,
        mtime: u64,
        which: u32,
    ) -> Errno;
    pub(crate) fn path_link(
        fd: u32,
        flags: u32,
        path: *const u8,
        len: usize,
        to: u32,
        new: *const u8,
        new_len: usize,
    ) -> Errno;
    pub(crate) fn path_open(
        fd: u32,
        dirflags: u32,
        path: *const u8,
        len: usize,
        oflags: u32,
        base: u64,
        inheriting: u64,
        fdflags: u32,
        out: *mut u32,
    ) -> Errno;
    pub(crate) fn path_readlink(
        fd: u32,
        path: *const u8,
        len: usize,
        buffer: *mut u8,
        buffer_len: usize,
        out: *mut u32,
    ) -> Errno;
    pub(crate) fn path_remove_directory(fd: u32, path: *const u8, len: usize) -> Errno;
    pub(crate) fn path_rename(fd: u32, path: *const u8, len: usize, to: u32, new: *const u8, new_len: usize) -> Errno;
    pub(crate) fn path_symlink(target: *const u8, len: usize, fd: u32, new: *const u8, new_len: usize) -> Errno;
    pub(crate) fn path_unlink_file(fd: u32, path: *const u8, len: usize) -> Errno;
    pub(crate) fn poll_oneoff(
        subscriptions: *const Record<48>,
        events: *mut Record<32>,
        count: usize,
        out: *mut u32,
    ) -> Errno;
    pub(crate) safe fn proc_exit(code: u32) -> !;
    pub(crate) safe fn proc_raise(signal: u32) -> Errno;
    pub(crate) safe fn sched_yield() -> Errno;
    pub(crate) fn random_get(buffer: *mut u8, len: usize) -> Errno;
    pub(crate) fn sock_accept(fd: u32, flags: u32, out: *mut u32) -> Errno;
    pub(crate) fn sock_recv(
        fd: u32,
        list: *const Vector,
        len: usize,
        flags: u32,
        size: *mut u32,
        out: *mut u16,
    ) -> Errno;
    pub(crate) fn sock_send(fd: u32, list: *const Vector, len: usize, flags: u32, size: *mut u32) -> Errno;
    pub(crate) safe fn sock_shutdown(fd: u32, how: u32) -> Errno;
}
