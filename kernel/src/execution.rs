//! An execution is one `execute` call: its standard input, its captured output, its processes and its result.

use std::fmt;
use std::sync::Arc;

use tidebox_core::{OutputStream, StopReason};

use crate::output_buffer::OutputBuffer;
use crate::process::{ExitStatus, PendingProcess, Pid};
use crate::request_channel::RequestChannel;
use crate::signal::Signal;

/// Identifies an execution of one kernel. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExecutionId(pub u64);

/// Parameters of an execution.
#[derive(Clone, Default)]
pub struct ExecutionSpec {
    /// Arguments of the root process, starting with the program's name.
    pub argv: Vec<Vec<u8>>,
    /// Environment, each entry as `NAME=value`.
    pub env: Vec<Vec<u8>>,
    /// Absolute path of the working directory.
    pub cwd: Vec<u8>,
    /// Absolute path of the program's file.
    pub program: Vec<u8>,
    /// All bytes of standard input. Empty means immediate end of file.
    pub stdin: Vec<u8>,
    /// Maximum bytes of stdout and stderr together; the rest is dropped and [`ExecutionReport::truncated`] set.
    pub output_bytes: u64,
    /// Shell state that the root process reads; it may then store a new one, see [`ExecutionReport::shell_state`]. `None`: the
    /// execution keeps no state.
    pub shell_state: Option<Arc<[u8]>>,
    /// True if the caller exchanges requests with the root process ([`Kernel::send_request`](crate::Kernel::send_request)).
    pub interactive: bool,
}

/// Prints the program and the sizes only: variables and input may hold secrets.
impl fmt::Debug for ExecutionSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutionSpec")
            .field("program", &String::from_utf8_lossy(&self.program))
            .field("arguments", &self.argv.len())
            .field("variables", &self.env.len())
            .field("stdin_bytes", &self.stdin.len())
            .field("output_bytes", &self.output_bytes)
            .finish_non_exhaustive()
    }
}

/// Result of an execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutionReport {
    /// Exit status of the root process; `None` if it was still running and was killed now.
    pub status: Option<ExitStatus>,
    /// Reason that the host ended it, if it did. The first reason counts.
    pub stopped_by: Option<StopReason>,
    /// True if it was cancelled because the files were restored from a snapshot.
    pub restored: bool,
    /// True if output beyond the limit was dropped.
    pub truncated: bool,
    /// Peak linear memory of all its processes together, in bytes.
    pub peak_memory_bytes: u64,
    /// Number of processes started, the root process included.
    pub processes_started: u64,
    /// The state that the root process stored last. `None` if it stored none.
    pub shell_state: Option<Arc<[u8]>>,
}

/// Shell state of an execution that keeps one.
#[derive(Debug)]
pub(crate) struct ShellStateExchange {
    /// State passed in by the embedder.
    pub(crate) input: Arc<[u8]>,
    /// State stored by the root process.
    pub(crate) output: Option<Arc<[u8]>>,
}

#[derive(Debug)]
pub(crate) struct Execution {
    pub(crate) root: Pid,
    pub(crate) root_status: Option<ExitStatus>,
    pub(crate) stopped_by: Option<StopReason>,
    pub(crate) restored: bool,
    pub(crate) starts: Vec<PendingProcess>,
    pub(crate) memory_bytes: u64,
    pub(crate) peak_memory_bytes: u64,
    pub(crate) processes_started: u64,
    pub(crate) shell_state: Option<ShellStateExchange>,
    /// One of its processes ended because it ran out of memory.
    pub(crate) out_of_memory: bool,
    /// Nanoseconds that the virtual clock may still skip while all its processes wait. `None` is unlimited.
    pub(crate) virtual_time_limit: Option<u64>,
    pub(crate) interactive: Option<RequestChannel>,
    output: OutputQueue,
}

/// Queue between the printing programs and the caller.
#[derive(Debug, Default)]
struct OutputQueue {
    buffer: OutputBuffer,
    available: u64,
    truncated: bool,
}

impl Execution {
    pub(crate) fn new(root: Pid, output_bytes: u64, shell_state: Option<Arc<[u8]>>) -> Self {
        Self {
            root,
            root_status: None,
            out_of_memory: false,
            virtual_time_limit: None,
            interactive: None,
            stopped_by: None,
            restored: false,
            starts: Vec::new(),
            memory_bytes: 0,
            peak_memory_bytes: 0,
            processes_started: 0,
            shell_state: shell_state.map(|state| ShellStateExchange { input: state, output: None }),
            output: OutputQueue { available: output_bytes, ..OutputQueue::default() },
        }
    }

    /// Appends the bytes that fit and drops the rest. Never blocks, because a program must not hang if the caller does not read.
    pub(crate) fn push_output(&mut self, stream: OutputStream, bytes: &[u8]) {
        let available = usize::try_from(self.output.available).unwrap_or(usize::MAX);
        let kept = bytes.get(..available).unwrap_or(bytes);
        self.output.truncated |= kept.len() < bytes.len();
        if kept.is_empty() {
            return;
        }
        self.output.available -= kept.len() as u64;
        self.output.buffer.push(stream, kept);
    }

    /// Resets the output limit to that of a new execution. Buffered output stays.
    pub(crate) fn reset_output_limit(&mut self, bytes: u64) {
        (self.output.available, self.output.truncated) = (bytes, false);
    }

    pub(crate) fn take_output_buffer(&mut self) -> OutputBuffer {
        std::mem::take(&mut self.output.buffer)
    }

    pub(crate) fn report(&self) -> ExecutionReport {
        let killed = ExitStatus::Killed(Signal::Kill).code();
        let of_memory = self.out_of_memory && self.root_status.is_some_and(|status| status.code() == killed);
        ExecutionReport {
            status: self.root_status,
            stopped_by: self.stopped_by.or(of_memory.then_some(StopReason::Memory)),
            restored: self.restored,
            truncated: self.output.truncated,
            peak_memory_bytes: self.peak_memory_bytes,
            processes_started: self.processes_started,
            shell_state: self.shell_state.as_ref().and_then(|state| state.output.clone()),
        }
    }
}
