//! The embedder's side of a terminal: keys, the size of the window, and the hang-up.

use std::fmt;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use tidebox_core::lock::Mutex;
use tidebox_core::{BrokenPipe, TerminalSize};

use crate::execution::ExecutionId;
use crate::kernel::{Kernel, SharedKernel};

/// The terminal of an execution. Dropping it hangs up: the foreground group gets SIGHUP, reads return the end of the input, and
/// writes fail with `IO`.
///
/// It must not be dropped while the kernel is locked.
pub struct HostTerminal {
    /// Weak, because a terminal must not keep the sandbox alive.
    kernel: Weak<Mutex<Kernel>>,
    execution: ExecutionId,
}

impl fmt::Debug for HostTerminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostTerminal").field("execution", &self.execution).finish_non_exhaustive()
    }
}

impl HostTerminal {
    /// Returns the terminal of an execution that was started with [`terminal`](crate::ExecutionSpec::terminal). `None` for others.
    pub fn of_execution(kernel: &SharedKernel, execution: ExecutionId) -> Option<Self> {
        kernel.lock().terminal_of_execution(execution)?;
        Some(Self { kernel: Arc::downgrade(kernel), execution })
    }

    /// Types the keys for which there is space, and returns their number. Waits while the terminal is full. Keys that send a signal never
    /// wait.
    pub fn poll_write(&self, cx: &mut Context<'_>, keys: &[u8]) -> Poll<Result<usize, BrokenPipe>> {
        let Some(kernel) = self.kernel.upgrade() else { return Poll::Ready(Err(BrokenPipe)) };
        let mut kernel = kernel.lock();
        let Some(number) = kernel.terminal_of_execution(self.execution) else { return Poll::Ready(Err(BrokenPipe)) };
        match kernel.type_keys(number, keys) {
            Some(0) if !keys.is_empty() => {
                kernel.wait_for_terminal(number, cx.waker());
                Poll::Pending
            }
            Some(count) => Poll::Ready(Ok(count)),
            None => Poll::Ready(Err(BrokenPipe)),
        }
    }

    /// Returns the key that ends the input, usually Ctrl-D.
    pub fn end_key(&self) -> u8 {
        let Some(kernel) = self.kernel.upgrade() else { return 4 };
        let kernel = kernel.lock();
        kernel.terminal_of_execution(self.execution).map_or(4, |number| kernel.end_key(number))
    }

    /// Hangs up, as a drop does. Waiting writes fail.
    pub fn hang_up(&self) {
        let Some(kernel) = self.kernel.upgrade() else { return };
        let mut kernel = kernel.lock();
        if let Some(number) = kernel.terminal_of_execution(self.execution) {
            kernel.hang_up_terminal(number);
        }
    }

    /// Sets the size. A change sends SIGWINCH to the foreground group.
    pub fn resize(&self, size: TerminalSize) {
        let Some(kernel) = self.kernel.upgrade() else { return };
        let mut kernel = kernel.lock();
        if let Some(number) = kernel.terminal_of_execution(self.execution) {
            kernel.set_terminal_size(number, size);
        }
    }
}

impl Drop for HostTerminal {
    fn drop(&mut self) {
        self.hang_up();
    }
}
