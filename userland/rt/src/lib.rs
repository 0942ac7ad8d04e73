//! What a guest of Tidebox may ask of its kernel, as safe Rust.
//!
//! The functions of the import module `tidebox_v1` are bound one by one, together with those calls of
//! `wasi_snapshot_preview1` that a shell needs and std does not offer (raw descriptors, directory listing without
//! `stat`, polling). `docs/abi.md` is the text that this crate follows.
//!
//! Every aware tool calls [`start`] first, so that relative paths work in std.

mod descriptor;
mod errno;
mod file;
mod process;
mod request;
mod shell_state;
mod started;
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
    poll_read, read, seek, seek_to, set_size, unix_of_fd, write, write_all,
};
pub use errno::Errno;
pub use file::{
    Entry, FileKind, Stat, Time, access, chdir, chmod, fstat, getcwd, link, make_dir, make_fifo, read_dir, read_link,
    remove_dir, rename, set_times, stat, symlink, umask, unlink,
};
pub use process::{
    Disposition, Ids, Limits, Status, Waited, args, environ, exit, fork, getids, kill, limits, monotonic_ns, random,
    realtime_ns, setpgid, sig_set, sig_take, spawn, wait,
};
pub use request::SpawnRequest;
pub use shell_state::{ShellSession, leave_shell_state, shell_session};
pub use started::{Started, started};

/// The result of every call: a value, or the kernel's error number.
pub type Result<T> = core::result::Result<T, Errno>;

/// Tells std where the process stands, because preview1 has no working directory of its own.
///
/// Call it first in `main`. A working directory that no longer exists leaves std at `/`, as the kernel would.
///
/// Where standard output is closed, something lies there afterwards that refuses what is written with the same error: the first
/// file that the program opens would be taken for its output otherwise.
pub fn start() {
    start_with(b"/dev/zero", Open { read: true, ..Open::default() });
}

/// [`start`] for a program that prints by std, which takes a closed standard output for one that swallows everything: what is
/// written there fails as on a full disk.
pub fn start_printing_by_std() {
    start_with(b"/dev/full", Open { write: true, ..Open::default() });
}

fn start_with(closed_output: &[u8], how: Open) {
    if fstat(1) == Err(Errno::BADF)
        && let Ok(fd) = open(closed_output, how)
        && fd != 1
    {
        // What cannot be put there leaves the output closed, as it was.
        let _ = dup_to(fd, 1).and_then(|()| close(fd));
    }
    if let Ok(path) = getcwd() {
        // A directory that vanished in between is met again, and reported, by the first relative path.
        let _ = std::env::set_current_dir(path_of_bytes(&path));
    }
}

/// Views the kernel's bytes as a path of std, without copying or checking.
pub fn path_of_bytes(bytes: &[u8]) -> &std::path::Path {
    #[cfg(not(target_family = "wasm"))]
    use std::os::unix::ffi::OsStrExt;
    #[cfg(target_family = "wasm")]
    use std::os::wasi::ffi::OsStrExt;
    std::path::Path::new(std::ffi::OsStr::from_bytes(bytes))
}
