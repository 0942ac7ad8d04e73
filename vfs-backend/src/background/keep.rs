//! `execute` with [`Background::Keep`](tidebox_core::Background::Keep): the command runs in a task from its first step, and the
//! caller waits for its root process. So nothing is handed over when the root process ends and others run on.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tidebox_core::{
    Error, ErrorKind, ExecuteRequest, ExecuteResponse, OutputBuffer, OutputOverflow, OutputSink, Result, StopReason,
};
use tidebox_kernel::ExecutionReport;

use super::{BackgroundProcess, CallerQueue, Labels, drive, register, tasks};
use crate::backend::VfsBackend;
use crate::execute::{CommandLimits, OutputCollector, build_spec, finish_response, start};

const OPERATION: &str = "execute";

/// Stops the command if its caller goes away before the root process has ended.
struct CallerGuard {
    process: Arc<BackgroundProcess>,
    is_detached: bool,
}

impl Drop for CallerGuard {
    fn drop(&mut self) {
        if !self.is_detached {
            self.process.stop();
        }
    }
}

/// Runs a command; processes that are left when it ends run on.
pub(crate) async fn execute_and_keep(
    backend: &VfsBackend,
    request: ExecuteRequest,
    sink: Option<OutputSink<'_>>,
) -> Result<ExecuteResponse> {
    let kernel = backend.kernel(OPERATION)?;
    let tasks = tasks(backend, &kernel, OPERATION)?;
    let mut collector = OutputCollector::new(sink);
    let (command, timeout, overflow) = (request.command.clone(), request.timeout, request.output_overflow);
    let ticket = backend.begin_shell_session(&request)?;
    let begun = build_spec(backend, request, ticket.is_some())?.and_then(|mut spec| {
        spec.is_background = true;
        let mut kernel = kernel.lock();
        let output_bytes = kernel.limits().output_bytes;
        start(&mut kernel, spec, ticket.as_ref(), output_bytes)
    });
    let started = match begun {
        Ok(started) => started,
        Err(error) => return Ok(collector.into_failed(error)),
    };
    let limits = CommandLimits::new(kernel.lock().limits(), timeout, overflow);
    if overflow == OutputOverflow::KeepTail {
        collector.keep_tail(limits.output_bytes);
    }
    let labels = Labels { tag: None, command };
    let process = register(backend, &kernel, started.execution, labels, Some(CallerQueue::default()));
    let mut guard = CallerGuard { process: Arc::clone(&process), is_detached: false };
    if let Err(reason) = tasks.start(drive(backend, Arc::clone(&process), limits.wall_time)) {
        return Err(Error::new(ErrorKind::Engine, OPERATION, reason));
    }
    // A concurrent `close` may have missed it.
    backend.kernel(OPERATION)?;
    let detached = loop {
        let (printed, root_ended) = next_output(&process).await;
        collector.push_buffer(&printed);
        if root_ended {
            break detach(&process);
        }
    };
    guard.is_detached = true;
    let Detached { output, is_over, report } = detached;
    collector.push_buffer(&output);
    collector.finish_tail();
    let now = kernel.lock().monotonic();
    if let (Some(ticket), Some(state)) = (ticket, &report.shell_state) {
        backend.store_shell_state(&ticket, state);
    }
    finish_response(&mut collector, &report, &limits, backend.is_closed());
    collector.response.duration = Duration::from_nanos(now.saturating_sub(started.time));
    if is_over {
        backend.background.list.remove(&process);
    } else {
        keep(backend, &process, &mut collector);
    }
    Ok(collector.response)
}

/// Waits for output or the end of the root process, and returns both.
async fn next_output(process: &BackgroundProcess) -> (OutputBuffer, bool) {
    poll_fn(|cx| {
        let mut caller = process.caller.lock();
        let Some(queue) = &mut *caller else { return Poll::Ready((OutputBuffer::default(), true)) };
        if queue.output.is_empty() && !queue.root_ended {
            queue.waker = Some(cx.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready((std::mem::take(&mut queue.output), queue.root_ended))
    })
    .await
}

/// State of a command whose root process has ended.
struct Detached {
    output: OutputBuffer,
    /// No process is left, or the execution was stopped and those that are left have been killed.
    is_over: bool,
    report: ExecutionReport,
}

/// Directs further output to the log, and applies the limits of background processes.
fn detach(process: &BackgroundProcess) -> Detached {
    let queue = process.caller.lock().take().unwrap_or_default();
    if let Some(report) = queue.report {
        return Detached { output: queue.output, is_over: true, report };
    }
    let mut kernel = process.kernel.lock();
    let report = kernel.report(process.execution);
    // Reasons for which all processes are killed, not only the one that reached a limit.
    let is_stopped = matches!(
        report.stopped_by,
        Some(StopReason::Cancelled | StopReason::Timeout | StopReason::CpuTime | StopReason::Output)
    );
    if is_stopped {
        return Detached { output: queue.output, is_over: true, report };
    }
    kernel.set_output_limit(process.execution, u64::MAX);
    let time = kernel.limits().background_time;
    kernel.set_wall_time(process.execution, time);
    Detached { output: queue.output, is_over: false, report }
}

/// Names the process in the response, unless the sandbox has too many.
fn keep(backend: &VfsBackend, process: &Arc<BackgroundProcess>, collector: &mut OutputCollector<'_>) {
    let limit = process.kernel.lock().limits().background_processes;
    if backend.background.list.running().len() > limit as usize {
        process.stop();
        let message = format!(
            "the processes that the command left were stopped: the sandbox has {limit} background processes, the maximum"
        );
        collector.append_message(&message);
        return;
    }
    collector.response.process = Some(process.record.id().clone());
}
