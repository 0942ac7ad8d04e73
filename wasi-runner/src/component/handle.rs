//! A process of the kernel, as streams and timers of its component hold it.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use tidebox_kernel::wasi::Halt;
use tidebox_kernel::{Kernel, Pid, SharedKernel};

use super::gate::{Ticket, Waits};
use crate::guest::lock;

/// Cheap to clone; every stream has one.
#[derive(Clone)]
pub(crate) struct Handle {
    pub(crate) kernel: SharedKernel,
    pub(crate) pid: Pid,
    pub(super) waits: Arc<Waits>,
}

impl Handle {
    pub(crate) fn new(kernel: SharedKernel, pid: Pid) -> Self {
        Self { kernel, pid, waits: Arc::default() }
    }

    /// Asks the kernel once.
    pub(super) fn ask<T>(&self, call: impl FnOnce(&mut Kernel, Pid) -> Result<T, Halt>) -> Result<T, Halt> {
        call(&mut lock(&self.kernel), self.pid)
    }

    /// Asks the kernel until the answer is no longer that the process has to wait.
    pub(super) async fn wait<T>(
        &self,
        mut call: impl FnMut(&mut Kernel, Pid) -> Result<T, Halt> + Send,
    ) -> Result<T, Halt> {
        let ticket = Ticket::new(&self.waits);
        let mut counted = false;
        poll_fn(|cx| {
            if !std::mem::replace(&mut counted, true) && self.turn_is_over() {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            match self.ask(&mut call) {
                Err(Halt::Block(until)) => {
                    ticket.wait(until, cx.waker());
                    Poll::Pending
                }
                answer => Poll::Ready(answer),
            }
        })
        .await
    }

    /// Counts a call that may wait. `true` when others must have a turn first, as where runs are to be repeatable.
    pub(super) fn turn_is_over(&self) -> bool {
        lock(&self.kernel).turn_is_over(self.pid)
    }
}
