//! Handle of a kernel process for the streams and timers of its component.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use tidebox_kernel::{Kernel, Pid, SharedKernel, SyscallError};

use super::wait_set::{WaitRegistration, WaitSet};

/// Cheap to clone; every stream has one.
#[derive(Clone)]
pub(crate) struct ProcessHandle {
    pub(crate) kernel: SharedKernel,
    pub(crate) pid: Pid,
    pub(super) waits: Arc<WaitSet>,
}

impl ProcessHandle {
    pub(crate) fn new(kernel: SharedKernel, pid: Pid) -> Self {
        Self { kernel, pid, waits: Arc::default() }
    }

    /// Makes one kernel call.
    pub(super) fn call<T>(
        &self,
        call: impl FnOnce(&mut Kernel, Pid) -> Result<T, SyscallError>,
    ) -> Result<T, SyscallError> {
        call(&mut self.kernel.lock(), self.pid)
    }

    /// Repeats a kernel call until it no longer blocks.
    pub(super) async fn wait<T>(
        &self,
        mut call: impl FnMut(&mut Kernel, Pid) -> Result<T, SyscallError> + Send,
    ) -> Result<T, SyscallError> {
        let registration = WaitRegistration::new(&self.waits);
        let mut counted = false;
        poll_fn(|cx| {
            if !std::mem::replace(&mut counted, true) && self.must_yield() {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            match self.call(&mut call) {
                Err(SyscallError::Block(until)) => {
                    registration.wait(until, cx.waker());
                    Poll::Pending
                }
                result => Poll::Ready(result),
            }
        })
        .await
    }

    /// Counts a call that may block. Returns `true` if the process must yield first, which only deterministic mode
    /// requires.
    pub(super) fn must_yield(&self) -> bool {
        self.kernel.lock().slice_expired(self.pid)
    }
}
