//! The write end of a pipe that the embedder holds: standard input of a process that outlives the call which started it.

use std::fmt;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use tidebox_core::BrokenPipe;
use tidebox_core::lock::Mutex;

use crate::execution::ExecutionId;
use crate::kernel::{Kernel, SharedKernel};

/// Writes to a pipe of the sandbox. Counts as one of its writers, so that the reader sees the end of the data when this is dropped.
///
/// It must not be dropped while the kernel is locked.
pub struct HostWriter {
    /// Weak, because a writer must not keep the sandbox alive.
    kernel: Weak<Mutex<Kernel>>,
    pipe: u32,
}

impl fmt::Debug for HostWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostWriter").field("pipe", &self.pipe).finish_non_exhaustive()
    }
}

impl HostWriter {
    /// Takes the write end of the standard input of an execution that was started with
    /// [`open_input`](crate::ExecutionSpec::open_input). `None` if it was taken before.
    pub fn take_input(kernel: &SharedKernel, execution: ExecutionId) -> Option<Self> {
        let pipe = kernel.lock().executions.get_mut(&execution)?.input.take()?;
        Some(Self { kernel: Arc::downgrade(kernel), pipe })
    }

    /// Writes the bytes that fit and returns their number. Waits while the pipe is full.
    pub fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, BrokenPipe>> {
        let Some(kernel) = self.kernel.upgrade() else { return Poll::Ready(Err(BrokenPipe)) };
        let mut kernel = kernel.lock();
        let Some(pipe) = kernel.pipes.get_mut(self.pipe).filter(|pipe| pipe.readers > 0) else {
            return Poll::Ready(Err(BrokenPipe));
        };
        let written = pipe.push(bytes);
        if written == 0 && !bytes.is_empty() {
            pipe.add_host_waiter(cx.waker());
            return Poll::Pending;
        }
        kernel.wake_pipe(self.pipe);
        Poll::Ready(Ok(written))
    }
}

impl Drop for HostWriter {
    fn drop(&mut self) {
        if let Some(kernel) = self.kernel.upgrade() {
            kernel.lock().close_pipe_end(self.pipe, true);
        }
    }
}
