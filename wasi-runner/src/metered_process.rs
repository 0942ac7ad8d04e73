//! The future of a process: measures its processor time, the time of its polls, and pauses it while it is stopped.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tidebox_kernel::{ExecutionId, Pid, ProcessFlags, SharedKernel};

/// Length of a poll from which the next one is measured by the thread's processor time. Reading that clock takes a
/// system call of about a microsecond; the monotonic clock takes a fraction and differs only if the thread was
/// preempted, which matters for long polls.
const LONG_POLL: Duration = Duration::from_micros(500);

/// Measured time up to which a process that only waits in between is not charged, to save locking the kernel for each poll.
const CHARGE_FROM: Duration = Duration::from_micros(20);

/// Processor time of this thread, if the system has such a clock.
pub(crate) fn thread_cpu_time() -> Option<Duration> {
    #[cfg(unix)]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Some(Duration::new(time.tv_sec.try_into().ok()?, time.tv_nsec.try_into().ok()?))
    }
    #[cfg(not(unix))]
    None
}

/// A process. Charges the time of each poll to it.
pub(crate) struct Process {
    future: Pin<Box<dyn Future<Output = ()> + Send>>,
    kernel: SharedKernel,
    execution: ExecutionId,
    pid: Pid,
    flags: Arc<ProcessFlags>,
    /// Measured time that is not charged yet.
    uncharged: Duration,
    /// True if the last poll was long.
    is_busy: bool,
}

impl Process {
    pub(crate) fn new(
        kernel: &SharedKernel,
        execution: ExecutionId,
        pid: Pid,
        flags: Arc<ProcessFlags>,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        let (kernel, uncharged) = (Arc::clone(kernel), Duration::ZERO);
        Self { future: Box::pin(future), kernel, execution, pid, flags, uncharged, is_busy: false }
    }

    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }
}

impl Future for Process {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.flags.is_stopped() && self.kernel.lock().park_if_stopped(self.pid, cx.waker()) {
            return Poll::Pending;
        }
        let is_busy = self.is_busy;
        let thread_time = || is_busy.then(thread_cpu_time).flatten();
        let (thread_before, before) = (thread_time(), Instant::now());
        let poll = self.future.as_mut().poll(cx);
        let elapsed = match thread_before.zip(thread_time()) {
            Some((before, after)) => after.saturating_sub(before),
            None => before.elapsed(),
        };
        self.is_busy = elapsed >= LONG_POLL;
        self.uncharged += elapsed;
        if self.uncharged >= CHARGE_FROM || poll.is_ready() {
            let time = std::mem::take(&mut self.uncharged);
            self.kernel.lock().charge_cpu_time(self.execution, self.pid, time);
        }
        poll
    }
}
