//! An execution is one `execute` call: its standard input, its captured output, its processes and its result.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tidebox_core::{OutputBuffer, OutputOverflow, OutputStream, StopReason, TerminalSize};

use crate::process::{CStringList, ExitStatus, PendingProcess, Pid};
use crate::request_channel::RequestChannel;

/// Identifies an execution of one kernel. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExecutionId(pub u64);

/// Parameters of an execution.
#[derive(Clone, Default)]
pub struct ExecutionSpec {
    /// Arguments of the root process, starting with the program's name.
    pub argv: CStringList,
    /// Environment, each entry as `NAME=value`.
    pub env: CStringList,
    /// Absolute path of the working directory.
    pub cwd: Vec<u8>,
    /// Absolute path of the program's file.
    pub program: Vec<u8>,
    /// All bytes of standard input. Empty means immediate end of file.
    pub stdin: Vec<u8>,
    /// Maximum bytes of stdout and stderr together.
    pub output_bytes: u64,
    /// Action when the output exceeds `output_bytes`. [`ExecutionReport::truncated`] is set in any case.
    pub output_overflow: OutputOverflow,
    /// Shell state that the root process reads; it may then store a new one, see [`ExecutionReport::shell_state`]. `None`: the
    /// execution keeps no state.
    pub shell_state: Option<Arc<[u8]>>,
    /// True if the caller exchanges requests with the root process ([`Kernel::send_request`](crate::Kernel::send_request)).
    pub interactive: bool,
    /// True if the engine calls the entry function of an interactive root process again for each request, so that the process
    /// can rest in between ([`Engine::supports_rest`](crate::engine::Engine::supports_rest)).
    pub supports_rest: bool,
    /// True if it ends only when all its processes have ended, and is charged to the limits of background processes.
    pub is_background: bool,
    /// True if standard input is a pipe that [`HostWriter`](crate::HostWriter) writes, instead of `stdin`.
    pub open_input: bool,
    /// Size of the terminal that is standard input, output and error, instead of `stdin` and of captured streams. Its input comes
    /// from [`HostTerminal`](crate::HostTerminal), and its output is captured as standard output. `None`: no terminal.
    pub terminal: Option<TerminalSize>,
}

/// Prints the program and the sizes only: variables and input may hold secrets.
impl fmt::Debug for ExecutionSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExecutionSpec")
            .field("program", &String::from_utf8_lossy(&self.program))
            .field("arguments", &self.argv.count)
            .field("variables", &self.env.count)
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
    /// Reason that the host ended it, if it did; the first one counts. Otherwise, if the root process failed, the limit that
    /// the execution reached first.
    pub stopped_by: Option<StopReason>,
    /// True if it was cancelled because the files were restored from a snapshot.
    pub restored: bool,
    /// True if output beyond the limit was dropped.
    pub truncated: bool,
    /// Bytes that its processes wrote to stdout and stderr, dropped ones included; in an interactive execution, since the last
    /// request.
    pub written_bytes: u64,
    /// Peak linear memory of all its processes together, in bytes.
    pub peak_memory_bytes: u64,
    /// Processor time of all its processes together; in an interactive execution, since the last request. `None` in a
    /// deterministic sandbox, because it depends on the host.
    pub cpu_time: Option<Duration>,
    /// Number of processes started, the root process included.
    pub processes_started: u64,
    /// The state that the root process stored last. `None` if it stored none.
    pub shell_state: Option<Arc<[u8]>>,
}

/// Output limits of an execution.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputLimits {
    pub(crate) bytes: u64,
    pub(crate) overflow: OutputOverflow,
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
    /// Nanoseconds of processor time, and the part before the last request of an interactive execution.
    pub(crate) cpu_nanos: u64,
    pub(crate) cpu_nanos_before: u64,
    /// True if it used its last time slice; see [`Kernel::set_busy`](crate::Kernel::set_busy).
    pub(crate) is_busy: bool,
    /// The limit that was reached first.
    pub(crate) limit_reached: Option<StopReason>,
    /// Nanoseconds that the virtual clock may still skip while all its processes wait. `None` is unlimited.
    pub(crate) virtual_time_limit: Option<u64>,
    pub(crate) interactive: Option<RequestChannel>,
    pub(crate) is_background: bool,
    /// The pipe of its standard input, until the embedder takes the write end.
    pub(crate) input: Option<u32>,
    /// Its terminal.
    pub(crate) terminal: Option<u32>,
    /// A new wall-time limit, until the engine has read it.
    pub(crate) new_wall_time: Option<Duration>,
    output: OutputQueue,
}

/// Queue between the printing programs and the caller.
#[derive(Debug, Default)]
struct OutputQueue {
    buffer: OutputBuffer,
    limit: u64,
    overflow: OutputOverflow,
    /// Bytes since the start or the last request. Larger than `limit` if output was dropped.
    pushed: u64,
}

impl Execution {
    pub(crate) fn new(root: Pid, output: OutputLimits, shell_state: Option<Arc<[u8]>>) -> Self {
        Self {
            root,
            root_status: None,
            cpu_nanos: 0,
            cpu_nanos_before: 0,
            is_busy: false,
            limit_reached: None,
            virtual_time_limit: None,
            interactive: None,
            is_background: false,
            input: None,
            terminal: None,
            new_wall_time: None,
            stopped_by: None,
            restored: false,
            starts: Vec::new(),
            memory_bytes: 0,
            peak_memory_bytes: 0,
            processes_started: 0,
            shell_state: shell_state.map(|state| ShellStateExchange { input: state, output: None }),
            output: OutputQueue { limit: output.bytes, overflow: output.overflow, ..OutputQueue::default() },
        }
    }

    /// Appends output within the limit. Never blocks, because a program must not hang if the caller does not read.
    ///
    /// Returns `false` if the execution must be stopped for exceeding the limit.
    #[must_use]
    pub(crate) fn push_output(&mut self, stream: OutputStream, bytes: &[u8]) -> bool {
        let queue = &mut self.output;
        let available = queue.limit.saturating_sub(queue.pushed);
        queue.pushed = queue.pushed.saturating_add(bytes.len() as u64);
        let exceeds = bytes.len() as u64 > available;
        if queue.overflow == OutputOverflow::KeepTail {
            queue.buffer.push_tail(stream, bytes, queue.limit);
            return true;
        }
        let kept = if exceeds { bytes.get(..usize::try_from(available).unwrap_or(0)).unwrap_or(bytes) } else { bytes };
        if !kept.is_empty() {
            queue.buffer.push(stream, kept);
        }
        !exceeds || queue.overflow != OutputOverflow::Stop
    }

    /// Sets the maximum of further output; more is dropped.
    pub(crate) fn set_output_limit(&mut self, bytes: u64) {
        self.output =
            OutputQueue { buffer: std::mem::take(&mut self.output.buffer), limit: bytes, ..Default::default() };
    }

    /// Resets the limits to those of a new execution. Buffered output stays.
    pub(crate) fn reset_request_limits(&mut self, output_bytes: u64) {
        (self.output.limit, self.output.pushed) = (output_bytes, 0);
        self.cpu_nanos_before = self.cpu_nanos;
    }

    pub(crate) fn take_output_buffer(&mut self) -> OutputBuffer {
        let mut buffer = std::mem::take(&mut self.output.buffer);
        if self.output.overflow == OutputOverflow::KeepTail {
            buffer.keep_tail(self.output.limit);
        }
        buffer
    }

    /// Returns whether output was dropped.
    pub(crate) fn is_truncated(&self) -> bool {
        self.output.pushed > self.output.limit
    }

    pub(crate) fn report(&self, is_deterministic: bool) -> ExecutionReport {
        let failed = self.root_status.is_some_and(|status| status.code() != 0);
        ExecutionReport {
            status: self.root_status,
            stopped_by: self.stopped_by.or(self.limit_reached.filter(|_| failed)),
            restored: self.restored,
            truncated: self.is_truncated(),
            written_bytes: self.output.pushed,
            peak_memory_bytes: self.peak_memory_bytes,
            cpu_time: (!is_deterministic)
                .then(|| Duration::from_nanos(self.cpu_nanos.saturating_sub(self.cpu_nanos_before))),
            processes_started: self.processes_started,
            shell_state: self.shell_state.as_ref().and_then(|state| state.output.clone()),
        }
    }
}
