//! Standard streams (descriptors 0 to 2) of a host process, as the application reads and writes them.

use std::fmt;
use std::sync::{Arc, MutexGuard, Weak};
use std::task::{Context, Poll, Wake, Waker};

use tidebox_core::lock::Mutex;
use tidebox_core::{BrokenPipe, ByteSink, ByteSource};

use crate::errno::Errno;
use crate::kernel::{Kernel, SharedKernel};
use crate::process::Pid;
use crate::syscall::{SyscallError, run_syscall};

/// Maximum bytes of one read or write, which bounds the memory of a tool.
const MAX_TRANSFER_BYTES: usize = 64 << 10;

/// Bytes after which the process yields, so that a tool that writes to a file or to the captured output, which never block,
/// cannot delay the execution's deadline.
const YIELD_BYTES: usize = 1 << 20;

/// Minimum charge of a transfer: the cost is in the call, not in the bytes.
const MIN_BYTES: usize = 1 << 10;

/// State shared between the streams and their process.
pub(super) struct StreamLink {
    /// Weak, because a tool may keep a stream longer than its call, which must not keep the sandbox alive.
    kernel: Weak<Mutex<Kernel>>,
    pid: Pid,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The call has ended; its pid may belong to another process by now.
    over: bool,
    /// Waker of the task that polls the call.
    task: Option<Waker>,
    /// Wakers of the futures that wait for each stream. Futures can be nested, so a waker may differ from the task's.
    waiting: [Option<Waker>; 3],
    /// Bytes left in this time slice.
    budget: usize,
    /// A transfer was deferred to the next time slice.
    deferred: bool,
}

impl StreamLink {
    pub(super) fn new(kernel: &SharedKernel, pid: Pid) -> Self {
        Self { kernel: Arc::downgrade(kernel), pid, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Prepares a poll of the call by `task`.
    pub(super) fn begin_turn(&self, task: &Waker) {
        let mut state = self.state();
        match &mut state.task {
            Some(old) => old.clone_from(task),
            none => *none = Some(task.clone()),
        }
        // A polled future registers again. A dropped one must not appear to wait forever.
        for waiting in &mut state.waiting {
            if waiting.as_ref().is_some_and(|waker| waker.will_wake(task)) {
                *waiting = None;
            }
        }
        (state.budget, state.deferred) = (YIELD_BYTES, false);
    }

    /// Returns whether a pending call waits for something outside the sandbox. A call that also waits for one of its streams
    /// counts as waiting for that stream.
    pub(super) fn waits_externally(&self) -> bool {
        let state = self.state();
        state.deferred || state.waiting.iter().all(Option::is_none)
    }

    /// Disconnects the streams.
    pub(super) fn disconnect(&self) {
        self.state().over = true;
        // Wake all waiting futures; their streams have ended.
        self.wake_all();
    }

    fn wake_all(&self) {
        let (task, waiting) = {
            let mut state = self.state();
            (state.task.clone(), std::mem::take(&mut state.waiting))
        };
        for waker in waiting.into_iter().flatten().chain(task) {
            waker.wake();
        }
    }

    /// Transfers bytes on descriptor `fd`. `None` if the call has ended.
    fn transfer(
        &self,
        cx: &mut Context<'_>,
        fd: u32,
        run: impl FnOnce(&mut Kernel, Pid) -> Result<usize, SyscallError>,
    ) -> Poll<Option<Result<usize, Errno>>> {
        let Some(kernel) = self.kernel.upgrade() else { return Poll::Ready(None) };
        // Dropped after the locks are released, because dropping a waker may run arbitrary code.
        let mut _replaced = None;
        let mut kernel = kernel.lock();
        let mut state = self.state();
        if state.over {
            return Poll::Ready(None);
        }
        if state.budget == 0 {
            state.deferred = true;
            cx.waker().wake_by_ref();
            if let Some(task) = state.task.as_ref().filter(|task| !task.will_wake(cx.waker())) {
                task.wake_by_ref();
            }
            return Poll::Pending;
        }
        // A transfer may wake this very process, which locks the state.
        drop(state);
        let moved = run(&mut kernel, self.pid);
        let mut state = self.state();
        match moved {
            Ok(n) => {
                state.budget = state.budget.saturating_sub(n.max(MIN_BYTES));
                Poll::Ready(Some(Ok(n)))
            }
            Err(SyscallError::Errno(errno)) => Poll::Ready(Some(Err(errno))),
            Err(SyscallError::Kill(_)) => Poll::Ready(None),
            // Registered under the kernel's lock, so that no wake-up is missed.
            Err(SyscallError::Block(_)) => {
                if let Some(waiting) = state.waiting.get_mut(fd as usize) {
                    _replaced = waiting.replace(cx.waker().clone());
                }
                Poll::Pending
            }
        }
    }

    /// Reports a stream error on standard error, once per stream: the tool only sees that the stream has ended.
    fn report_stream_error(&self, complained: &mut bool, stream: &str, errno: Errno) {
        let Some(kernel) = self.kernel.upgrade().filter(|_| !std::mem::replace(complained, true)) else { return };
        let mut kernel = kernel.lock();
        if !self.state().over {
            let name = kernel.program_name(self.pid);
            kernel.write_stderr(self.pid, &format!("{name}: {stream}: {errno}\n"));
        }
    }
}

/// Access to the kernel for a process, while it is alive.
#[derive(Clone)]
pub struct ProcessHandle(Arc<StreamLink>);

impl fmt::Debug for ProcessHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CallingProcess").field(&self.0.pid).finish()
    }
}

impl ProcessHandle {
    pub(super) fn new(link: &Arc<StreamLink>) -> Self {
        Self(Arc::clone(link))
    }

    /// Calls `act` with the kernel, like a system call of the process. `None` if the process has ended or is about to be killed;
    /// its code must not change anything any more.
    pub fn with_kernel<T>(&self, act: impl FnOnce(&mut Kernel) -> T) -> Option<T> {
        let kernel = self.0.kernel.upgrade()?;
        let mut kernel = kernel.lock();
        if self.0.state().over {
            return None;
        }
        run_syscall(&mut kernel, self.0.pid, |kernel| Ok(act(kernel))).ok()
    }
}

/// The kernel wakes the process: all its pending futures are polled again.
impl Wake for StreamLink {
    fn wake(self: Arc<Self>) {
        self.wake_all();
    }
}

/// Standard input.
pub(super) struct Input {
    link: Arc<StreamLink>,
    buffer: Vec<u8>,
    complained: bool,
}

impl Input {
    pub(super) fn new(link: Arc<StreamLink>) -> Self {
        Self { link, buffer: Vec::new(), complained: false }
    }
}

impl ByteSource for Input {
    fn poll_read(&mut self, cx: &mut Context<'_>, max_bytes: usize) -> Poll<Vec<u8>> {
        let max_bytes = max_bytes.min(MAX_TRANSFER_BYTES);
        if self.buffer.len() < max_bytes {
            self.buffer.resize(max_bytes, 0);
        }
        let buffer = self.buffer.get_mut(..max_bytes).unwrap_or_default();
        match self.link.transfer(cx, 0, |kernel, pid| kernel.read(pid, 0, buffer)) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(Ok(n))) => Poll::Ready(self.buffer.get(..n).unwrap_or_default().to_vec()),
            Poll::Ready(Some(Err(errno))) => {
                self.link.report_stream_error(&mut self.complained, "standard input", errno);
                Poll::Ready(Vec::new())
            }
            Poll::Ready(None) => Poll::Ready(Vec::new()),
        }
    }
}

/// Standard output or standard error.
pub(super) struct Output {
    link: Arc<StreamLink>,
    fd: u32,
    complained: bool,
}

impl Output {
    pub(super) fn new(link: Arc<StreamLink>, fd: u32) -> Self {
        Self { link, fd, complained: false }
    }
}

impl ByteSink for Output {
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, BrokenPipe>> {
        let chunk = bytes.get(..MAX_TRANSFER_BYTES).unwrap_or(bytes);
        let fd = self.fd;
        match self.link.transfer(cx, fd, |kernel, pid| kernel.write(pid, fd, chunk)) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(Ok(n))) => Poll::Ready(Ok(n)),
            Poll::Ready(Some(Err(errno))) => {
                // The error value itself reports a closed pipe.
                if errno != Errno::Pipe && fd == 1 {
                    self.link.report_stream_error(&mut self.complained, "standard output", errno);
                }
                Poll::Ready(Err(BrokenPipe))
            }
            Poll::Ready(None) => Poll::Ready(Err(BrokenPipe)),
        }
    }
}
