//! One execution: its processes are futures of one task, share one thread, and are scheduled cooperatively.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tidebox_core::lock::Mutex;

use tidebox_kernel::engine::EngineError;
use tidebox_kernel::{ExecutionId, HostProcess, Kernel, OutputChunk, PendingProcess, SharedKernel, StopReason};

use crate::background_share::BackgroundShare;
use crate::engine::Inner;
use crate::fair_share::FairShare;
use crate::fork::ForkedProcess;
use crate::metered_process::{Meter, Process};
use crate::process::{self, ProcessContext};
use crate::run_queue::{RunQueue, Step};

/// Steps after which the task yields to its executor.
const STEPS_PER_POLL: u32 = 256;

type OnOutput<'a> = Option<&'a mut (dyn FnMut(OutputChunk) + Send)>;

/// Drives an execution until its first process exits or the deadline passes. Remaining processes are dropped.
pub(crate) async fn drive(
    inner: &Arc<Inner>,
    kernel: &SharedKernel,
    execution: ExecutionId,
    wall_time: Duration,
    on_output: OnOutput<'_>,
) -> Result<(), EngineError> {
    if tokio::runtime::Handle::try_current().is_err() {
        return Err(EngineError::new("execute must be awaited inside a Tokio runtime with its timer enabled"));
    }
    let (is_deterministic, background_share) = {
        let kernel = kernel.lock();
        (kernel.is_deterministic(), BackgroundShare::of(&kernel, execution))
    };
    let forked = Arc::default();
    let meter = Arc::new(Meter::new(kernel, execution));
    let mut start = Some(meter.last_reading());
    let mut running = ExecutionFuture {
        context: ProcessContext {
            inner: Arc::clone(inner),
            kernel: Arc::clone(kernel),
            fork_queue: Arc::downgrade(&forked),
            is_background: background_share.is_some(),
        },
        forked,
        execution,
        queue: RunQueue::new(kernel, is_deterministic),
        is_deterministic,
        // A wall time that the clock cannot represent means unlimited.
        deadline: start.and_then(|start| start.checked_add(wall_time)),
        meter,
        alarm: None,
        share: FairShare::default(),
        background_share,
        on_output,
    };
    poll_fn(|cx| {
        let start = start.take().unwrap_or_else(|| running.meter.read_clock());
        running.poll(start, cx)
    })
    .await;
    Ok(())
}

struct ExecutionFuture<'a> {
    context: ProcessContext,
    forked: Arc<Mutex<Vec<ForkedProcess>>>,
    execution: ExecutionId,
    queue: RunQueue,
    is_deterministic: bool,
    meter: Arc<Meter>,
    deadline: Option<Instant>,
    alarm: Option<Pin<Box<tokio::time::Sleep>>>,
    share: FairShare,
    /// Set for a background execution.
    background_share: Option<BackgroundShare>,
    on_output: OnOutput<'a>,
}

impl ExecutionFuture<'_> {
    /// Runs the processes, unless other sandboxes are due. `start` is the present.
    fn poll(&mut self, start: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let (new_deadline, new_processes) = {
            let mut kernel = self.context.kernel.lock();
            (kernel.take_new_deadline(self.execution), kernel.take_pending(self.execution))
        };
        // An interactive process has a separate deadline for each request.
        if let Some(time) = new_deadline {
            (self.deadline, self.alarm) = (start.checked_add(time), None);
        }
        self.queue_processes(new_processes);
        if self.share.skips_poll() {
            return self.yield_to_others(cx);
        }
        if self.background_share.as_mut().is_some_and(|share| share.poll_ready(cx).is_pending()) {
            // A process that was killed must not wait for its share.
            return if self.context.kernel.lock().is_stopped(self.execution) { self.run(cx) } else { self.sleep(cx) };
        }
        let polled = self.run(cx);
        let used = self.meter.last_reading().saturating_duration_since(start);
        self.share.charge(&self.context.kernel, self.execution, used);
        if let Some(share) = &mut self.background_share {
            share.charge(used);
        }
        polled
    }

    /// Returns to the executor, which polls its other tasks before this one.
    fn yield_to_others(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        cx.waker().wake_by_ref();
        self.sleep(cx)
    }

    fn run(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        for _ in 0..STEPS_PER_POLL {
            let step = self.queue.run(cx);
            let mut kernel = self.context.kernel.lock();
            if has_used_cpu_time(&kernel, self.execution) {
                kernel.stop_execution(self.execution, StopReason::CpuTime);
                return Poll::Ready(());
            }
            if step == Step::Interrupted {
                // Do not deliver its output yet, so that output chunks start and end with time slices.
                drop(kernel);
                return self.sleep(cx);
            }
            if let Some(on_output) = &mut self.on_output {
                // Take the chunks first: the caller's function must not run under the kernel's lock.
                let chunks = kernel.take_output(self.execution);
                drop(kernel);
                if !chunks.is_empty() {
                    chunks.into_iter().for_each(on_output);
                    // No process is charged for the time of the caller's function.
                    self.meter.read_clock();
                }
                kernel = self.context.kernel.lock();
            }
            if kernel.has_finished(self.execution) {
                return Poll::Ready(());
            }
            if self.deadline.is_some_and(|deadline| self.meter.last_reading() >= deadline) {
                kernel.stop_execution(self.execution, StopReason::Timeout);
                return Poll::Ready(());
            }
            let new_processes = kernel.take_pending(self.execution);
            drop(kernel);
            let has_new = self.queue_processes(new_processes);
            match step {
                // No process is left that could end the execution; do not wait for the deadline.
                Step::Empty if !has_new => return Poll::Ready(()),
                Step::Idle if !has_new && !self.advance_clock() => return self.sleep(cx),
                _ => {}
            }
        }
        self.yield_to_others(cx)
    }

    /// Adds the processes that the kernel has started, and those forked since the last call. Returns whether there are any.
    fn queue_processes(&mut self, starts: Vec<PendingProcess>) -> bool {
        let forked = std::mem::take(&mut *self.forked.lock());
        let any = !starts.is_empty() || !forked.is_empty();
        for start in starts {
            let (pid, flags) = (start.pid, Arc::clone(&start.flags));
            self.queue.push(match HostProcess::new(&self.context.kernel, &start) {
                Some(process) => Process::new(&self.meter, pid, flags, process),
                None => Process::new(&self.meter, pid, flags, process::run_spawned(self.context.clone(), start)),
            });
        }
        for child in forked {
            let kernel = Arc::clone(&self.context.kernel);
            let (pid, flags) = (child.start.pid, Arc::clone(&child.start.flags));
            self.queue.push(Process::new(&self.meter, pid, flags, process::run_forked(kernel, child)));
        }
        any
    }

    /// Advances a virtual clock while all processes wait. Returns `false` if the engine must wait.
    fn advance_clock(&self) -> bool {
        self.is_deterministic && self.context.kernel.lock().advance_clock(self.execution)
    }

    /// Waits for a process or the deadline. Busy processes wake the task themselves, so the timer is created only when
    /// all processes wait.
    fn sleep(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(deadline) = self.deadline else { return Poll::Pending };
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline.into())));
        if alarm.as_mut().poll(cx).is_ready() {
            self.context.kernel.lock().stop_execution(self.execution, StopReason::Timeout);
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

/// Returns whether an execution has used up its processor time while its root process runs.
fn has_used_cpu_time(kernel: &Kernel, execution: ExecutionId) -> bool {
    kernel.remaining_cpu_time(execution).is_some_and(|time| time.is_zero()) && kernel.root_status(execution).is_none()
}
