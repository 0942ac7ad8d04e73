//! Safe Rust bindings of the Tidebox kernel ABI for guests.
//!
//! Binds the functions of the import module `tidebox_v1`, and those calls of `wasi_snapshot_preview1` that a shell needs and std
//! does not provide (raw descriptors, directory listing without `stat`, polling). `docs/abi.md` is the specification.
//!
//! Every Tidebox guest must call [`init`] first, so that relative paths work in std.

mod descriptor;
mod errno;
mod file;
mod process;
mod request;
mod shell_state;
mod socket;
mod startup;
mod terminal;
#[cfg(test)]
mod tests;

#[cfg(target_family = "wasm")]
#[path = "import/mod.rs"]
mod border;
#[cfg(not(target_family = "wasm"))]
#[path = "host/mod.rs"]
mod border;

#[cfg(target_family = "wasm")]
pub use border::EndingAllocator;
pub use descriptor::{
    Fd, Open, Readiness, close, dup, dup_to, fd_of_unix, inherited, is_terminal, move_fd, open, pipe, poll_both,
    poll_read, poll_reads, read, seek, seek_to, set_nonblocking, set_size, unix_of_fd, write, write_all,
};
pub use errno::Errno;
pub use file::{
    Entry, FileKind, Stat, Time, access, chdir, chmod, fstat, getcwd, link, make_dir, make_fifo, read_dir, read_link,
    remove_dir, rename, set_times, stat, symlink, umask, unlink,
};
pub use process::{
    ChildChange, CpuTimes, Disposition, ExitStatus, Ids, Limits, WaitResult, args, cpu_times, environ, exit, fork,
    getids, kill, limits, monotonic_ns, nesting_reached, nice, random, realtime_ns, setpgid, sig_set, sig_take, spawn,
    wait, wait_change,
};
pub use request::SpawnRequest;
pub use shell_state::{ShellSession, shell_session, store_shell_state};
pub use socket::{
    accept, connect, finish_connect, listen, local_address, own_address, peer_address, shut_down_write, socket_pair,
    start_connect,
};
pub use startup::{StartupInfo, startup_info};
pub use terminal::{
    TERMINAL_CHARACTERS, TerminalMode, set_terminal_mode, terminal_flag, terminal_group, terminal_mode, terminal_width,
};

/// Result of every call: a value, or the kernel's error number.
pub type Result<T> = core::result::Result<T, Errno>;

/// Sets the working directory of std, because preview1 has none.
///
/// Call it first in `main`. If the working directory no longer exists, std stays at `/`, as in the kernel.
///
/// If standard output is closed, it is replaced by a descriptor that rejects writes with the same error: otherwise the first file
/// that the program opens would get its number and receive its output.
pub fn init() {
    start_with(b"/dev/zero", Open { read: true, ..Open::default() });
}

/// Like [`init`], for a program that prints through std, which ignores a closed standard output: writes there fail as on a full
/// disk.
pub fn init_for_std_output() {
    start_with(b"/dev/full", Open { write: true, ..Open::default() });
}

fn start_with(closed_output: &[u8], how: Open) {
    if fstat(1) == Err(Errno::BADF)
        && let Ok(fd) = open(closed_output, how)
        && fd != 1
    {
        // If this fails, the output stays closed.
        let _ = dup_to(fd, 1).and_then(|()| close(fd));
    }
    if let Ok(path) = getcwd() {
        // A directory that was removed in between is reported by the first relative path.
        let _ = std::env::set_current_dir(path_of_bytes(&path));
    }
}

/// Views the kernel's bytes as a path of std, without copying or validation.
pub fn path_of_bytes(bytes: &[u8]) -> &std::path::Path {
    #[cfg(not(target_family = "wasm"))]
    use std::os::unix::ffi::OsStrExt;
    #[cfg(target_family = "wasm")]
    use std::os::wasi::ffi::OsStrExt;
    std::path::Path::new(std::ffi::OsStr::from_bytes(bytes))
}
