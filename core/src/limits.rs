//! Every bound of a sandbox in one struct.

use std::time::Duration;

/// What a sandbox may use. A limit that is reached ends the command that reached it with a message on stderr and a
/// documented exit code; it never cuts a result silently.
///
/// The defaults suit one agent on a laptop. All sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Wall time of one `execute` that names no timeout of its own. Default 120 s: agents start builds and test runs,
    /// and a model that waits longer has usually started something that never ends. Exit code 124.
    pub wall_time: Duration,
    /// Linear memory of one process. Default 512 MiB: room for `sort` on a large file, far below what hurts a host.
    /// Growth beyond it fails inside the guest, as `malloc` returning null does.
    pub process_memory_bytes: u64,
    /// Linear memory of all live processes together. Default 1 GiB, so that a pipeline of a few large stages fits and
    /// a fork bomb does not.
    pub sandbox_memory_bytes: u64,
    /// Live processes, zombies included. Default 256: pipelines and `xargs -P` stay far below, a fork bomb stops
    /// early. Beyond it `spawn` answers `EAGAIN`.
    pub processes: u32,
    /// Descriptors of one process. Default 1,024, the usual soft limit of Linux.
    pub descriptors: u32,
    /// Capacity of one pipe. Default 64 KiB, as on Linux.
    pub pipe_bytes: u32,
    /// What one `execute` keeps of stdout and stderr together. Default 8 MiB. Bytes beyond it are dropped, the program
    /// goes on, and the response says `truncated`.
    pub output_bytes: u64,
    /// Bytes of all files that the sandbox wrote. Default 512 MiB. Beyond it writing answers `ENOSPC`.
    pub file_bytes: u64,
    /// Size of one file, sparse parts included. Default 512 MiB. Beyond it writing answers `EFBIG`.
    pub single_file_bytes: u64,
    /// Files, folders and links together. Default 200,000: a large source tree with its dependencies. Beyond it
    /// creating answers `ENOSPC`.
    pub inodes: u64,
    /// Length of a path as a guest passes it. Default 4,096, Linux's `PATH_MAX`.
    pub path_bytes: u32,
    /// Symbolic links followed in one path. Default 40, as on Linux. Beyond it the walk answers `ELOOP`.
    pub symlink_depth: u32,
    /// Bytes of arguments and environment of one spawn. Default 2 MiB, as on Linux. Beyond it `spawn` answers `E2BIG`.
    pub argument_bytes: u32,
    /// Size of a WebAssembly module that a guest may start. Default 64 MiB.
    pub module_bytes: u64,
    /// Calls in progress of functions in one shell, and depth of nested processes. Default 1,000. It ends runaway
    /// recursion with a message well before a stack would end it.
    pub nesting: u32,
    /// What the shell of a persistent session keeps from one `execute` to the next. Default 4 MiB: people keep
    /// kilobytes in variables and functions, now and then a file of a few MiB, and every snapshot may hold a state of
    /// its own in the host's memory. Beyond it the command ends with a message and exit code 1, unless it failed
    /// anyway, and the session stays as it was before the command.
    pub shell_state_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self {
            wall_time: Duration::from_secs(120),
            process_memory_bytes: 512 * MIB,
            sandbox_memory_bytes: 1024 * MIB,
            processes: 256,
            descriptors: 1024,
            pipe_bytes: 64 * 1024,
            output_bytes: 8 * MIB,
            file_bytes: 512 * MIB,
            single_file_bytes: 512 * MIB,
            inodes: 200_000,
            path_bytes: 4096,
            symlink_depth: 40,
            argument_bytes: 2 * 1024 * 1024,
            module_bytes: 64 * MIB,
            nesting: 1000,
            shell_state_bytes: 4 * MIB,
        }
    }
}
