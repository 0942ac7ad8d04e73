//! One execution: its processes are futures of one task, share one thread, and are scheduled cooperatively.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, MutexGuard};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tidebox_core::lock::Mutex;

use tidebox_kernel::engine::EngineError;
use tidebox_kernel::{ExecutionId, HostProcess, Kernel, OutputChunk, SharedKernel, StopReason};

use crate::background_share::BackgroundShare;
use crate::engine::Inner;
use crate::fair_share::FairShare;
use crate::fork::ForkedProcess;
use crate::metered_process::Process;
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
    let forked = Arc::default();
    let mut running = ExecutionFuture {
        context: ProcessContext {
            inner: Arc::clone(inner),
            kernel: Arc::clone(kernel),
            fork_queue: Arc::downgrade(&forked),
        },
        forked,
        execution,
        queue: RunQueue::new(kernel),
        // A wall time that the clock cannot represent means unlimited.
        deadline: Instant::now().checked_add(wall_time),
        alarm: None,
        share: FairShare::default(),
        background_share: BackgroundShare::of(&kernel.lock(), execution),
        on_output,
    };
    poll_fn(|cx| running.poll(cx)).await;
    Ok(())
}

struct ExecutionFuture<'a> {
    context: ProcessContext,
    forked: Arc<Mutex<Vec<ForkedProcess>>>,
    execution: ExecutionId,
    queue: RunQueue,
    deadline: Option<Instant>,
    alarm: Option<Pin<Box<tokio::time::Sleep>>>,
    share: FairShare,
    /// Set for a background execution.
    background_share: Option<BackgroundShare>,
    on_output: OnOutput<'a>,
}

impl ExecutionFuture<'_> {
    /// Runs the processes, unless other sandboxes are due.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // An interactive process has a separate deadline for each request.
        if let Some(time) = self.context.kernel.lock().take_new_deadline(self.execution) {
            (self.deadline, self.alarm) = (Instant::now().checked_add(time), None);
        }
        if self.share.skips_poll() {
            return self.yield_to_others(cx);
        }
        if self.background_share.as_mut().is_some_and(|share| share.poll_ready(cx).is_pending()) {
            // A process that was killed must not wait for its share.
            return if self.context.kernel.lock().is_stopped(self.execution) { self.run(cx) } else { self.sleep(cx) };
        }
        let start = Instant::now();
        let polled = self.run(cx);
        let used = start.elapsed();
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
            self.accept_new_processes();
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
                chunks.into_iter().for_each(on_output);
                kernel = self.context.kernel.lock();
            }
            if kernel.has_finished(self.execution) {
                return Poll::Ready(());
            }
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                kernel.stop_execution(self.execution, StopReason::Timeout);
                return Poll::Ready(());
            }
            let starts = kernel.has_pending(self.execution) || !self.lock_fork_queue().is_empty();
            drop(kernel);
            match step {
                // No process is left that could end the execution; do not wait for the deadline.
                Step::Empty if !starts => return Poll::Ready(()),
                Step::Idle if !starts && !self.context.kernel.lock().advance_clock(self.execution) => {
                    return self.sleep(cx);
                }
                _ => {}
            }
        }
        self.yield_to_others(cx)
    }

    /// Adds processes spawned or forked since the last step.
    fn accept_new_processes(&mut self) {
        let starts = self.context.kernel.lock().take_pending(self.execution);
        for start in starts {
            let (pid, flags) = (start.pid, Arc::clone(&start.flags));
            let (kernel, execution) = (&self.context.kernel, self.execution);
            self.queue.push(match HostProcess::new(kernel, &start) {
                Some(process) => Process::new(kernel, execution, pid, flags, process),
                None => Process::new(kernel, execution, pid, flags, process::run_spawned(self.context.clone(), start)),
            });
        }
        let forked = std::mem::take(&mut *self.lock_fork_queue());
        for child in forked {
            let kernel = Arc::clone(&self.context.kernel);
            let (pid, flags) = (child.start.pid, Arc::clone(&child.start.flags));
            let future = process::run_forked(kernel, child);
            self.queue.push(Process::new(&self.context.kernel, self.execution, pid, flags, future));
        }
    }

    fn lock_fork_queue(&self) -> MutexGuard<'_, Vec<ForkedProcess>> {
        self.forked.lock()
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
