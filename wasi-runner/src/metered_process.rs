//! The future of a process: measures its processor time, the time of its polls, and pauses it while it is stopped.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
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

/// Measures the processes of one execution. The end of a poll is the start of the next one, and the scheduler compares the
/// deadline with it: reading the clock takes 2 percent of the time of a short command on some hosts.
pub(crate) struct Meter {
    kernel: SharedKernel,
    execution: ExecutionId,
    created: Instant,
    /// Nanoseconds from `created` to the last reading.
    last: AtomicU64,
}

impl Meter {
    /// Creates the meter and reads the clock.
    pub(crate) fn new(kernel: &SharedKernel, execution: ExecutionId) -> Self {
        Self { kernel: Arc::clone(kernel), execution, created: Instant::now(), last: AtomicU64::new(0) }
    }

    /// Reads the clock.
    pub(crate) fn read_clock(&self) -> Instant {
        let now = Instant::now();
        let nanos = now.duration_since(self.created).as_nanos();
        self.last.store(u64::try_from(nanos).unwrap_or(u64::MAX), Ordering::Relaxed);
        now
    }

    /// Returns the last reading of the clock.
    pub(crate) fn last_reading(&self) -> Instant {
        self.created + Duration::from_nanos(self.last.load(Ordering::Relaxed))
    }
}

/// A process. Charges the time of each poll to it.
pub(crate) struct Process {
    future: Pin<Box<dyn Future<Output = ()> + Send>>,
    meter: Arc<Meter>,
    pid: Pid,
    flags: Arc<ProcessFlags>,
    /// Measured time that is not charged yet.
    uncharged: Duration,
    /// True if the last poll was long.
    is_busy: bool,
}

impl Process {
    pub(crate) fn new(
        meter: &Arc<Meter>,
        pid: Pid,
        flags: Arc<ProcessFlags>,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        let (meter, uncharged) = (Arc::clone(meter), Duration::ZERO);
        Self { future: Box::pin(future), meter, pid, flags, uncharged, is_busy: false }
    }

    pub(crate) fn pid(&self) -> Pid {
        self.pid
    }
}

impl Future for Process {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.flags.is_stopped() && self.meter.kernel.lock().park_if_stopped(self.pid, cx.waker()) {
            return Poll::Pending;
        }
        let is_busy = self.is_busy;
        let thread_time = || is_busy.then(thread_cpu_time).flatten();
        let (thread_before, before) = (thread_time(), self.meter.last_reading());
        let poll = self.future.as_mut().poll(cx);
        let thread_elapsed = thread_before.zip(thread_time()).map(|(before, after)| after.saturating_sub(before));
        let elapsed = self.meter.read_clock().duration_since(before);
        let elapsed = thread_elapsed.unwrap_or(elapsed);
        self.is_busy = elapsed >= LONG_POLL;
        self.uncharged += elapsed;
        if self.uncharged >= CHARGE_FROM || poll.is_ready() {
            let time = std::mem::take(&mut self.uncharged);
            self.meter.kernel.lock().charge_cpu_time(self.meter.execution, self.pid, time);
        }
        poll
    }
}
