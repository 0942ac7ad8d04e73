//! Limits of a sandbox.

use std::time::Duration;

/// Resource limits of a sandbox.
///
/// Time and processor time end the command. The other limits make a call of the guest fail, usually with a message of the program
/// on stderr. The response names the first limit that was reached if the command then fails. Output beyond its limit is dropped,
/// and the response marked as `truncated`, unless the request says otherwise. `docs/limits.md` has the table of messages and exit
/// codes.
///
/// The defaults suit one agent on a laptop. All sizes are in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Wall time of one `execute` without a timeout. Default 120 s: agents start builds and test runs, and a command that takes
    /// longer usually never ends. Exit code 124.
    pub wall_time: Duration,
    /// Processor time of one `execute`, over all its processes and the compilation of programs that it created. Default `None`,
    /// unlimited: one command uses at most one core, so `wall_time` limits it too. Exit code 152.
    pub cpu_time: Option<Duration>,
    /// Linear memory of one process. Default 512 MiB: enough for `sort` on a large file, and safe for the host. Growth beyond it
    /// fails inside the guest, like `malloc` returning null.
    pub process_memory_bytes: u64,
    /// Linear memory of all live processes together. Default 1 GiB: enough for a pipeline of a few large stages, but not for a
    /// fork bomb.
    pub sandbox_memory_bytes: u64,
    /// Live processes, zombies included. Default 256: pipelines and `xargs -P` stay far below, a fork bomb stops early. Beyond it
    /// `spawn` returns `EAGAIN`.
    pub processes: u32,
    /// Descriptors of one process. Default 1,024, the usual soft limit of Linux.
    pub descriptors: u32,
    /// Capacity of one pipe. Default 64 KiB, as on Linux.
    pub pipe_bytes: u32,
    /// Sockets of all processes together, and connections that wait to be accepted. Default 1,024: a server with some hundred
    /// clients, both ends in the sandbox. Beyond it `socket` and `connect` return `ENFILE`.
    pub sockets: u32,
    /// Total stdout and stderr kept by one `execute`. Default 8 MiB. Beyond it
    /// [`ExecuteRequest::output_overflow`](crate::ExecuteRequest::output_overflow) applies: by default the rest is dropped, the
    /// program continues, and the response is marked as `truncated`.
    pub output_bytes: u64,
    /// Bytes of all files that the sandbox wrote. Default 512 MiB. Beyond it writing returns `ENOSPC`.
    pub file_bytes: u64,
    /// Size of one file, sparse parts included. Default 512 MiB. Beyond it writing returns `EFBIG`.
    pub single_file_bytes: u64,
    /// Files, directories and links together. Default 200,000: a large source tree with its dependencies. Beyond it creating a
    /// file returns `ENOSPC`.
    pub inodes: u64,
    /// Length of a path passed by a guest. Default 4,096, Linux's `PATH_MAX`.
    pub path_bytes: u32,
    /// Symbolic links followed in one path. Default 40, as on Linux. Beyond it path resolution returns `ELOOP`.
    pub symlink_depth: u32,
    /// Bytes of arguments and environment of one spawn. Default 2 MiB, as on Linux. Beyond it `spawn` returns `E2BIG`.
    pub argument_bytes: u32,
    /// Size of a WebAssembly module that a guest may start. Default 64 MiB.
    pub module_bytes: u64,
    /// Nested function calls in one shell, and depth of nested processes. Default 1,000. It ends runaway recursion with a message
    /// well before the stack overflows.
    pub nesting: u32,
    /// State that the shell of a persistent session keeps between two `execute` calls. Default 4 MiB: variables and functions
    /// usually take kilobytes, occasionally a file of a few MiB, and every snapshot may have a separate copy in the host's
    /// memory. Beyond it the command ends with a message and exit code 1, unless it failed anyway, and the session keeps the
    /// state from before the command.
    pub shell_state_bytes: u64,
    /// Processes that outlive the call which started them. Default 16: a server, a database, a watcher, and room for more. Beyond
    /// it `spawn` fails.
    pub background_processes: u32,
    /// Output kept of each of them. Default 1 MiB. Older output is dropped, because a server prints without end.
    pub background_output_bytes: u64,
    /// Linear memory of all of them together. Default 512 MiB, half of the sandbox's, so that they cannot take what a command
    /// needs.
    pub background_memory_bytes: u64,
    /// Wall time of each of them. Default 24 hours, so that nothing forgotten runs for ever.
    pub background_time: Duration,
    /// Processor time of each of them, in percent of one core, beyond a burst of 10 seconds. Default 50, so that a process that
    /// computes without end leaves its neighbours room.
    pub background_cpu_percent: u32,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self {
            wall_time: Duration::from_secs(120),
            cpu_time: None,
            process_memory_bytes: 512 * MIB,
            sandbox_memory_bytes: 1024 * MIB,
            processes: 256,
            descriptors: 1024,
            pipe_bytes: 64 * 1024,
            sockets: 1024,
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
            background_processes: 16,
            background_output_bytes: MIB,
            background_memory_bytes: 512 * MIB,
            background_time: Duration::from_secs(24 * 3600),
            background_cpu_percent: 50,
        }
    }
}
