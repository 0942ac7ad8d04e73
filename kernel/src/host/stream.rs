//! Descriptors 0 to 2 of such a process, as the application reads and writes them.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Wake, Waker};

use tidebox_core::{ByteSink, ByteSource, Disconnected};

use super::lock;
use crate::errno::Errno;
use crate::kernel::{Kernel, SharedKernel};
use crate::process::Pid;
use crate::wasi::{Halt, attempt};

/// Most bytes that one read or write moves: what a tool holds in memory without having asked for it.
const PIECE_BYTES: usize = 64 << 10;

/// Bytes after which other processes have a turn, so that a tool that writes to a file or to the captured output, which
/// never make it wait, cannot keep the session from seeing its deadline.
const TURN_BYTES: usize = 1 << 20;

/// What a transfer counts at least: the work is in the call, not in the bytes.
const LEAST_BYTES: usize = 1 << 10;

/// What the streams of a process share with it.
pub(super) struct Link {
    /// Weak, because a tool may keep a stream for longer than its call, and the sandbox must not live for that.
    kernel: Weak<Mutex<Kernel>>,
    pid: Pid,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The call is over: the number may be another process's by now.
    over: bool,
    /// Whoever polls the call.
    task: Option<Waker>,
    /// Whoever waits for the stream of this number. It need not be the task itself, because futures can be nested.
    waiting: [Option<Waker>; 3],
    /// Bytes that may still be moved in this turn.
    left: usize,
    /// Somebody was put off until the next turn.
    put_off: bool,
}

impl Link {
    pub(super) fn new(kernel: &SharedKernel, pid: Pid) -> Self {
        Self { kernel: Arc::downgrade(kernel), pid, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The call is about to be polled by `task`.
    pub(super) fn begin_turn(&self, task: &Waker) {
        let mut state = self.state();
        match &mut state.task {
            Some(old) => old.clone_from(task),
            none => *none = Some(task.clone()),
        }
        // What is polled anew says again that it waits. A future that was dropped instead would seem to wait for good.
        for waiting in &mut state.waiting {
            if waiting.as_ref().is_some_and(|waker| waker.will_wake(task)) {
                *waiting = None;
            }
        }
        (state.left, state.put_off) = (TURN_BYTES, false);
    }

    /// Whether a call that waits, waits for something that is not in the sandbox. A call that waits for one of its streams
    /// too is taken to wait for that one.
    pub(super) fn waits_outside(&self) -> bool {
        let state = self.state();
        state.put_off || state.waiting.iter().all(Option::is_none)
    }

    /// Ends all use of the streams.
    pub(super) fn cut(&self) {
        self.state().over = true;
        // Who still waits learns that there is nothing to wait for.
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

    /// Moves bytes over descriptor `fd`. `None` when the call is over.
    fn transfer(
        &self,
        cx: &mut Context<'_>,
        fd: u32,
        run: impl FnOnce(&mut Kernel, Pid) -> Result<usize, Halt>,
    ) -> Poll<Option<Result<usize, Errno>>> {
        let Some(kernel) = self.kernel.upgrade() else { return Poll::Ready(None) };
        // Given back after the locks: what a waker does when it is dropped is its owner's business.
        let mut _replaced = None;
        let mut kernel = lock(&kernel);
        let mut state = self.state();
        if state.over {
            return Poll::Ready(None);
        }
        if state.left == 0 {
            state.put_off = true;
            cx.waker().wake_by_ref();
            if let Some(task) = state.task.as_ref().filter(|task| !task.will_wake(cx.waker())) {
                task.wake_by_ref();
            }
            return Poll::Pending;
        }
        // A transfer may wake this very process, which takes the state's lock.
        drop(state);
        let moved = run(&mut kernel, self.pid);
        let mut state = self.state();
        match moved {
            Ok(n) => {
                state.left = state.left.saturating_sub(n.max(LEAST_BYTES));
                Poll::Ready(Some(Ok(n)))
            }
            Err(Halt::Errno(errno)) => Poll::Ready(Some(Err(errno))),
            Err(Halt::Kill(_)) => Poll::Ready(None),
            // Left under the kernel's lock, so that nothing can happen unseen in between.
            Err(Halt::Block(_)) => {
                if let Some(waiting) = state.waiting.get_mut(fd as usize) {
                    _replaced = waiting.replace(cx.waker().clone());
                }
                Poll::Pending
            }
        }
    }

    /// Says on standard error what a stream cannot say, once for each: the tool only learns that the stream is at its end.
    fn complain(&self, complained: &mut bool, stream: &str, errno: Errno) {
        let Some(kernel) = self.kernel.upgrade().filter(|_| !std::mem::replace(complained, true)) else { return };
        let mut kernel = lock(&kernel);
        if !self.state().over {
            let name = kernel.program_name(self.pid);
            kernel.message(self.pid, &format!("{name}: {stream}: {errno}\n"));
        }
    }
}

/// The kernel of the process that calls, for as long as it lives.
#[derive(Clone)]
pub struct CallingProcess(Arc<Link>);

impl fmt::Debug for CallingProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CallingProcess").field(&self.0.pid).finish()
    }
}

impl CallingProcess {
    pub(super) fn new(link: &Arc<Link>) -> Self {
        Self(Arc::clone(link))
    }

    /// Does something with the kernel as a system call of the process would. `None` when the process has ended or is to
    /// die: whatever still acts for it must change nothing any more.
    pub fn with_kernel<T>(&self, act: impl FnOnce(&mut Kernel) -> T) -> Option<T> {
        let kernel = self.0.kernel.upgrade()?;
        let mut kernel = lock(&kernel);
        if self.0.state().over {
            return None;
        }
        attempt(&mut kernel, self.0.pid, |kernel| Ok(act(kernel))).ok()
    }
}

/// The kernel wakes the process: whatever of it waits looks again.
impl Wake for Link {
    fn wake(self: Arc<Self>) {
        self.wake_all();
    }
}

/// Standard input.
pub(super) struct Input {
    link: Arc<Link>,
    buffer: Vec<u8>,
    complained: bool,
}

impl Input {
    pub(super) fn new(link: Arc<Link>) -> Self {
        Self { link, buffer: Vec::new(), complained: false }
    }
}

impl ByteSource for Input {
    fn poll_read(&mut self, cx: &mut Context<'_>, most: usize) -> Poll<Vec<u8>> {
        let most = most.min(PIECE_BYTES);
        if self.buffer.len() < most {
            self.buffer.resize(most, 0);
        }
        let buffer = self.buffer.get_mut(..most).unwrap_or_default();
        match self.link.transfer(cx, 0, |kernel, pid| kernel.read(pid, 0, buffer)) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(Ok(n))) => Poll::Ready(self.buffer.get(..n).unwrap_or_default().to_vec()),
            Poll::Ready(Some(Err(errno))) => {
                self.link.complain(&mut self.complained, "standard input", errno);
                Poll::Ready(Vec::new())
            }
            Poll::Ready(None) => Poll::Ready(Vec::new()),
        }
    }
}

/// Standard output or standard error.
pub(super) struct Output {
    link: Arc<Link>,
    fd: u32,
    complained: bool,
}

impl Output {
    pub(super) fn new(link: Arc<Link>, fd: u32) -> Self {
        Self { link, fd, complained: false }
    }
}

impl ByteSink for Output {
    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, Disconnected>> {
        let piece = bytes.get(..PIECE_BYTES).unwrap_or(bytes);
        let fd = self.fd;
        match self.link.transfer(cx, fd, |kernel, pid| kernel.write(pid, fd, piece)) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(Ok(n))) => Poll::Ready(Ok(n)),
            Poll::Ready(Some(Err(errno))) => {
                // A pipe that nobody reads is what the error says by itself.
                if errno != Errno::Pipe && fd == 1 {
                    self.link.complain(&mut self.complained, "standard output", errno);
                }
                Poll::Ready(Err(Disconnected))
            }
            Poll::Ready(None) => Poll::Ready(Err(Disconnected)),
        }
    }
}
