//! A session is one `execute`: its standard input, its captured output, its processes and how it ended.

use std::fmt;
use std::sync::Arc;

use crate::conversation::Conversation;
use crate::printed::Printed;
use crate::process::{Pid, Start, Status};
use crate::signal::Signal;

/// Names a session of one kernel. Never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(pub u64);

/// What a session starts with.
#[derive(Clone, Default)]
pub struct SessionSpec {
    /// Arguments of the root process, the program's name first.
    pub argv: Vec<Vec<u8>>,
    /// Environment, each `NAME=value`.
    pub env: Vec<Vec<u8>>,
    /// Absolute path of the working directory.
    pub cwd: Vec<u8>,
    /// Absolute path of the program's file.
    pub program: Vec<u8>,
    /// All that standard input will deliver. Empty means at end of file.
    pub stdin: Vec<u8>,
    /// Bytes of stdout and stderr together that are kept; the rest is dropped and [`Report::truncated`] set.
    pub output_bytes: u64,
    /// What the root process reads as its session's state; it may then leave another, see [`Report::shell_state`].
    /// `None`: the session keeps no state.
    pub shell_state: Option<Arc<[u8]>>,
    /// Whether the caller talks with the root process ([`Kernel::ask`](crate::Kernel::ask)).
    pub conversation: bool,
}

/// What it is to run, and how much it is given: variables and input may hold secrets.
impl fmt::Debug for SessionSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionSpec")
            .field("program", &String::from_utf8_lossy(&self.program))
            .field("arguments", &self.argv.len())
            .field("variables", &self.env.len())
            .field("stdin_bytes", &self.stdin.len())
            .field("output_bytes", &self.output_bytes)
            .finish_non_exhaustive()
    }
}

/// Which of the two captured streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// Captured output, in arrival order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Where the bytes were written.
    pub stream: Stream,
    /// The bytes; never empty. Not necessarily UTF-8, and a character may be cut between two chunks.
    pub bytes: Vec<u8>,
}

/// Why the host ended a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stop {
    /// The wall-time limit passed.
    Time,
    /// The memory limit of the sandbox was reached where the guest could not go on.
    Memory,
    /// The caller's policy on output was reached.
    Output,
    /// The caller asked for it.
    Caller,
    /// The files went back to a snapshot under the processes' feet.
    Restore,
}

/// How a session ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// How the root process ended; `None` when it was still running and got killed now.
    pub status: Option<Status>,
    /// Why the host ended it, if it did. The first reason counts.
    pub stopped_by: Option<Stop>,
    /// Whether output beyond the limit was dropped.
    pub truncated: bool,
    /// Most linear memory that the session's processes had together at one time, in bytes.
    pub peak_memory_bytes: u64,
    /// Processes that the session started, the root process included.
    pub processes_started: u64,
    /// The state that the root process left last. `None` when it left none.
    pub shell_state: Option<Arc<[u8]>>,
}

/// The state of a session that keeps one.
#[derive(Debug)]
pub(crate) struct ShellState {
    /// What the embedder handed in.
    pub(crate) taken: Arc<[u8]>,
    /// What the root process left.
    pub(crate) left: Option<Arc<[u8]>>,
}

#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) root: Pid,
    pub(crate) root_status: Option<Status>,
    pub(crate) stopped_by: Option<Stop>,
    pub(crate) starts: Vec<Start>,
    pub(crate) memory_bytes: u64,
    pub(crate) peak_memory_bytes: u64,
    pub(crate) processes_started: u64,
    pub(crate) shell_state: Option<ShellState>,
    /// One of its processes ended for want of memory.
    pub(crate) out_of_memory: bool,
    /// Nanoseconds that may still be skipped while all of it waits. `None` is without end.
    pub(crate) patience: Option<u64>,
    pub(crate) conversation: Option<Conversation>,
    output: Output,
}

/// The queue between programs that print and the caller.
#[derive(Debug, Default)]
struct Output {
    printed: Printed,
    room: u64,
    truncated: bool,
}

impl Session {
    pub(crate) fn new(root: Pid, output_bytes: u64, shell_state: Option<Arc<[u8]>>) -> Self {
        Self {
            root,
            root_status: None,
            out_of_memory: false,
            patience: None,
            conversation: None,
            stopped_by: None,
            starts: Vec::new(),
            memory_bytes: 0,
            peak_memory_bytes: 0,
            processes_started: 0,
            shell_state: shell_state.map(|taken| ShellState { taken, left: None }),
            output: Output { room: output_bytes, ..Output::default() },
        }
    }

    /// Takes what fits and drops the rest. Never blocks, because a program must not hang on a caller that does not
    /// read.
    pub(crate) fn print(&mut self, stream: Stream, bytes: &[u8]) {
        let room = usize::try_from(self.output.room).unwrap_or(usize::MAX);
        let kept = bytes.get(..room).unwrap_or(bytes);
        self.output.truncated |= kept.len() < bytes.len();
        if kept.is_empty() {
            return;
        }
        self.output.room -= kept.len() as u64;
        self.output.printed.push(stream, kept);
    }

    /// Lets it print as much as a new one may. What was printed and not yet taken stays.
    pub(crate) fn renew_output(&mut self, bytes: u64) {
        (self.output.room, self.output.truncated) = (bytes, false);
    }

    pub(crate) fn take_printed(&mut self) -> Printed {
        std::mem::take(&mut self.output.printed)
    }

    pub(crate) fn report(&self) -> Report {
        let killed = Status::Killed(Signal::Kill).code();
        let of_memory = self.out_of_memory && self.root_status.is_some_and(|status| status.code() == killed);
        Report {
            status: self.root_status,
            stopped_by: self.stopped_by.or(of_memory.then_some(Stop::Memory)),
            truncated: self.output.truncated,
            peak_memory_bytes: self.peak_memory_bytes,
            processes_started: self.processes_started,
            shell_state: self.shell_state.as_ref().and_then(|state| state.left.clone()),
        }
    }
}
