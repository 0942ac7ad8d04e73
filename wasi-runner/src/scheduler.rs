//! One execution: its processes are futures of one task, share one thread, and are scheduled cooperatively.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, MutexGuard};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tidebox_core::lock::Mutex;

use tidebox_kernel::engine::EngineError;
use tidebox_kernel::{ExecutionId, HostProcess, OutputChunk, SharedKernel, StopReason};

use crate::engine::Inner;
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
    let _tick_guard = inner.ticker.acquire();
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
    on_output: OnOutput<'a>,
}

impl ExecutionFuture<'_> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // An interactive process has a separate deadline for each request.
        if let Some(time) = self.context.kernel.lock().take_new_deadline(self.execution) {
            (self.deadline, self.alarm) = (Instant::now().checked_add(time), None);
        }
        for _ in 0..STEPS_PER_POLL {
            self.accept_new_processes();
            let step = self.queue.run(cx);
            if self.has_used_cpu_time() {
                return Poll::Ready(());
            }
            if step == Step::Interrupted {
                // Do not deliver its output yet, so that output chunks start and end with time slices.
                return self.sleep(cx);
            }
            self.deliver_output();
            let mut kernel = self.context.kernel.lock();
            if kernel.root_status(self.execution).is_some() {
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
        // Yield to the caller's other tasks.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Stops an execution that has used up its processor time, unless its root process has exited.
    fn has_used_cpu_time(&self) -> bool {
        let mut kernel = self.context.kernel.lock();
        let is_used = kernel.remaining_cpu_time(self.execution).is_some_and(|time| time.is_zero());
        if !is_used || kernel.root_status(self.execution).is_some() {
            return false;
        }
        kernel.stop_execution(self.execution, StopReason::CpuTime);
        true
    }

    /// Adds processes spawned or forked since the last step.
    fn accept_new_processes(&mut self) {
        let starts = self.context.kernel.lock().take_pending(self.execution);
        for start in starts {
            let pid = start.pid;
            let (kernel, execution) = (&self.context.kernel, self.execution);
            self.queue.push(match HostProcess::new(kernel, &start) {
                Some(process) => Process::new(kernel, execution, pid, process),
                None => Process::new(kernel, execution, pid, process::run_spawned(self.context.clone(), start)),
            });
        }
        let forked = std::mem::take(&mut *self.lock_fork_queue());
        for child in forked {
            let (kernel, pid) = (Arc::clone(&self.context.kernel), child.start.pid);
            let future = process::run_forked(kernel, child);
            self.queue.push(Process::new(&self.context.kernel, self.execution, pid, future));
        }
    }

    fn lock_fork_queue(&self) -> MutexGuard<'_, Vec<ForkedProcess>> {
        self.forked.lock()
    }

    fn deliver_output(&mut self) {
        let Some(on_output) = &mut self.on_output else { return };
        // Take the chunks first: the caller's function must not run under the kernel's lock.
        let chunks = self.context.kernel.lock().take_output(self.execution);
        for chunk in chunks {
            on_output(chunk);
        }
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
