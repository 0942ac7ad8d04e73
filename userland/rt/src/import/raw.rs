//! The imported functions, by import module.

pub(super) mod tidebox {
    #[link(wasm_import_module = "tidebox_v1")]
    unsafe extern "C" {
        pub(in super::super) fn spawn(request: *const u8, len: usize, pid_out: *mut u32) -> i32;
        pub(in super::super) fn fork(arg: i32, pid_out: *mut u32) -> i32;
        pub(in super::super) fn wait(pid: i32, flags: u32, out: *mut [u32; 2]) -> i32;
        pub(in super::super) fn pipe(out: *mut [u32; 2]) -> i32;
        pub(in super::super) fn sock_open(family: u32, out: *mut u32) -> i32;
        pub(in super::super) fn sock_pair(out: *mut [u32; 2]) -> i32;
        pub(in super::super) fn sock_bind(fd: u32, address: *const [u8; 20]) -> i32;
        pub(in super::super) fn sock_listen(fd: u32, backlog: u32) -> i32;
        pub(in super::super) fn sock_connect(fd: u32, address: *const [u8; 20]) -> i32;
        pub(in super::super) fn sock_name(fd: u32, of_peer: u32, out: *mut [u8; 20]) -> i32;
        pub(in super::super) fn dup(fd: u32, at_least: u32, out: *mut u32) -> i32;
        pub(in super::super) fn dup_to(fd: u32, target: u32) -> i32;
        pub(in super::super) fn chdir(path: *const u8, len: usize) -> i32;
        pub(in super::super) fn getcwd(buf: *mut u8, len: usize, len_out: *mut usize) -> i32;
        pub(in super::super) fn getids(out: *mut [u32; 5]) -> i32;
        pub(in super::super) fn cpu_times(out: *mut [u64; 2]) -> i32;
        pub(in super::super) fn nice(increment: i32, out: *mut i32) -> i32;
        pub(in super::super) fn setpgid(pid: u32, pgid: u32) -> i32;
        pub(in super::super) fn kill(pid: i32, signal: u32) -> i32;
        pub(in super::super) fn sig_set(signal: u32, disposition: u32) -> i32;
        pub(in super::super) fn sig_take(out: *mut u64) -> i32;
        pub(in super::super) fn tty_get(fd: u32, out: *mut [u8; 64]) -> i32;
        pub(in super::super) fn tty_set(fd: u32, when: u32, from: *const [u8; 64]) -> i32;
        pub(in super::super) fn tty_group(fd: u32, group: u32, out: *mut u32) -> i32;
        pub(in super::super) fn umask(mask: u32, out: *mut u32) -> i32;
        pub(in super::super) fn chmod(path: *const u8, len: usize, mode: u32) -> i32;
        pub(in super::super) fn mkfifo(path: *const u8, len: usize, mode: u32) -> i32;
        pub(in super::super) fn stat(path: *const u8, len: usize, flags: u32, out: *mut [u8; 64]) -> i32;
        pub(in super::super) fn fstat(fd: u32, out: *mut [u8; 64]) -> i32;
        pub(in super::super) fn access(path: *const u8, len: usize, mode: u32) -> i32;
        pub(in super::super) fn nesting_reached() -> i32;
        pub(in super::super) fn limits(out: *mut RawLimits) -> i32;
        pub(in super::super) fn startup_info(buf: *mut u8, len: usize, len_out: *mut usize) -> i32;
        pub(in super::super) fn shell_state_read(buf: *mut u8, len: usize, len_out: *mut usize) -> i32;
        pub(in super::super) fn shell_state_write(from: *const u8, len: usize) -> i32;
    }

    /// Output struct of `limits`, with the layout of the ABI.
    #[repr(C)]
    #[derive(Default)]
    pub(in super::super) struct RawLimits {
        pub(in super::super) memory: u64,
        pub(in super::super) files: u64,
        pub(in super::super) descriptors: u32,
        pub(in super::super) processes: u32,
        pub(in super::super) nesting: u32,
        pub(in super::super) reserved: u32,
    }
}

pub(super) mod wasi {
    #[link(wasm_import_module = "wasi_snapshot_preview1")]
    unsafe extern "C" {
        pub(in super::super) fn args_sizes_get(count: *mut usize, bytes: *mut usize) -> i32;
        pub(in super::super) fn args_get(pointers: *mut *mut u8, bytes: *mut u8) -> i32;
        pub(in super::super) fn environ_sizes_get(count: *mut usize, bytes: *mut usize) -> i32;
        pub(in super::super) fn environ_get(pointers: *mut *mut u8, bytes: *mut u8) -> i32;
        pub(in super::super) fn clock_time_get(id: u32, precision: u64, out: *mut u64) -> i32;
        pub(in super::super) fn random_get(buf: *mut u8, len: usize) -> i32;
        pub(in super::super) fn fd_read(fd: u32, iovs: *const [usize; 2], count: usize, out: *mut usize) -> i32;
        pub(in super::super) fn fd_write(fd: u32, iovs: *const [usize; 2], count: usize, out: *mut usize) -> i32;
        pub(in super::super) fn fd_seek(fd: u32, by: i64, whence: u32, out: *mut u64) -> i32;
        pub(in super::super) fn fd_close(fd: u32) -> i32;
        pub(in super::super) fn sock_accept(fd: u32, flags: u32, out: *mut u32) -> i32;
        pub(in super::super) fn sock_shutdown(fd: u32, how: u32) -> i32;
        pub(in super::super) fn fd_fdstat_set_flags(fd: u32, flags: u32) -> i32;
        pub(in super::super) fn fd_fdstat_get(fd: u32, out: *mut [u64; 3]) -> i32;
        pub(in super::super) fn fd_readdir(fd: u32, buf: *mut u8, len: usize, cookie: u64, used: *mut usize) -> i32;
        pub(in super::super) fn path_open(
            dir: u32,
            lookup: u32,
            path: *const u8,
            len: usize,
            oflags: u32,
            base: u64,
            inheriting: u64,
            fdflags: u32,
            out: *mut u32,
        ) -> i32;
        pub(in super::super) fn path_readlink(
            dir: u32,
            path: *const u8,
            len: usize,
            buf: *mut u8,
            cap: usize,
            used: *mut usize,
        ) -> i32;
        pub(in super::super) fn path_unlink_file(dir: u32, path: *const u8, len: usize) -> i32;
        pub(in super::super) fn path_create_directory(dir: u32, path: *const u8, len: usize) -> i32;
        pub(in super::super) fn path_remove_directory(dir: u32, path: *const u8, len: usize) -> i32;
        pub(in super::super) fn path_symlink(
            text: *const u8,
            text_len: usize,
            dir: u32,
            path: *const u8,
            len: usize,
        ) -> i32;
        pub(in super::super) fn path_link(
            old_dir: u32,
            lookup: u32,
            old: *const u8,
            old_len: usize,
            dir: u32,
            path: *const u8,
            len: usize,
        ) -> i32;
        pub(in super::super) fn path_rename(
            old_dir: u32,
            old: *const u8,
            old_len: usize,
            dir: u32,
            path: *const u8,
            len: usize,
        ) -> i32;
        pub(in super::super) fn path_filestat_set_times(
            dir: u32,
            lookup: u32,
            path: *const u8,
            len: usize,
            accessed: u64,
            changed: u64,
            which: u32,
        ) -> i32;
        pub(in super::super) fn fd_filestat_set_size(fd: u32, size: u64) -> i32;
        pub(in super::super) fn poll_oneoff(
            input: *const [u64; 6],
            output: *mut [u64; 4],
            count: usize,
            events: *mut usize,
        ) -> i32;
        pub(in super::super) fn proc_exit(code: u32) -> !;
    }
}
