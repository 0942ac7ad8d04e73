//! Processes that outlive the call that started them.
//!
//! Each is one execution of the kernel, driven by a separate task ([`Tasks`]). The backend keeps a list of them; the task and the
//! list share the [`BackgroundProcess`] with its output.

mod keep;

use std::fmt;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tidebox_core::lock::Mutex;
use tidebox_core::{
    BoxFuture, BrokenPipe, Error, ErrorKind, ExecuteRequest, OutputBuffer, OutputChunk, OutputPage, ProcessId,
    ProcessInfo, ProcessInput, ProcessList, ProcessRecord, ProcessSignal, ProcessState, ReadOutput, Result, SpawnInput,
    SpawnRequest, StopReason, TerminalSize, closed_process_input, missing_terminal,
};
use tidebox_kernel::engine::EngineError;
use tidebox_kernel::{ExecutionId, ExecutionReport, HostTerminal, HostWriter, SharedKernel, Signal};

use crate::backend::VfsBackend;
use crate::execute::{CommandLimits, OutputCollector, build_spec, finish_response, start};

pub(crate) use keep::execute_and_keep;

/// Time between SIGTERM and SIGKILL when a sandbox is closed.
const TERMINATION_TIME: Duration = Duration::from_secs(2);

/// `TERM` of a process in a terminal.
const TERMINAL_TYPE: &str = "xterm-256color";

/// Maximum number of bytes that one call writes to a process.
const MAX_WRITE_BYTES: usize = 1 << 20;

/// Runs futures independently of the call that starts them, and waits. Implemented by the embedder, which has an async runtime.
pub trait Tasks: Send + Sync + fmt::Debug {
    /// Runs `task` to its end.
    ///
    /// # Errors
    /// The reason if it cannot, such as a missing async runtime.
    fn start(&self, task: BoxFuture<'static, ()>) -> std::result::Result<(), String>;

    /// Waits.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// Output for the caller of a command that is still in progress.
#[derive(Debug, Default)]
struct CallerQueue {
    output: OutputBuffer,
    /// The root process has ended, and all its output is in the queue.
    root_ended: bool,
    /// The report, if the execution has ended.
    report: Option<ExecutionReport>,
    waker: Option<Waker>,
}

/// A process and its output, shared by the list, the task that drives it, and calls that wait for it.
#[derive(Debug)]
struct BackgroundProcess {
    record: ProcessRecord,
    kernel: SharedKernel,
    execution: ExecutionId,
    /// True if it was started in a terminal.
    has_terminal: bool,
    /// The caller that waits for the root process; it gets the output instead of the log.
    caller: Mutex<Option<CallerQueue>>,
    /// `None` if its standard input is closed. Arc, because it must not be dropped under a lock that a waiting write needs.
    input: Mutex<Option<Arc<ProcessInputEnd>>>,
}

/// The caller's end of standard input.
#[derive(Debug)]
enum ProcessInputEnd {
    Pipe(HostWriter),
    Terminal(HostTerminal),
}

impl ProcessInputEnd {
    fn take(kernel: &SharedKernel, execution: ExecutionId) -> Option<Self> {
        match HostTerminal::of_execution(kernel, execution) {
            Some(terminal) => Some(Self::Terminal(terminal)),
            None => HostWriter::take_input(kernel, execution).map(Self::Pipe),
        }
    }

    fn poll_write(&self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<std::result::Result<usize, BrokenPipe>> {
        match self {
            Self::Pipe(writer) => writer.poll_write(cx, bytes),
            Self::Terminal(terminal) => terminal.poll_write(cx, bytes),
        }
    }
}

impl AsRef<ProcessRecord> for BackgroundProcess {
    fn as_ref(&self) -> &ProcessRecord {
        &self.record
    }
}

impl BackgroundProcess {
    /// Returns the key that ends the input of its terminal. `None` without a terminal.
    fn end_key(&self) -> Option<u8> {
        let input = self.input.lock().clone();
        match input.as_deref() {
            Some(ProcessInputEnd::Terminal(terminal)) => Some(terminal.end_key()),
            _ => None,
        }
    }

    fn push(&self, chunk: &OutputChunk) {
        let mut caller = self.caller.lock();
        match &mut *caller {
            Some(queue) => {
                queue.output.push(chunk.stream, &chunk.bytes);
                queue.waker.take().into_iter().for_each(Waker::wake);
            }
            None => self.record.push(chunk),
        }
    }

    /// Tells the caller, if there is one, that the root process has ended. Returns whether there is one.
    fn tell_caller(&self, report: Option<&ExecutionReport>) -> bool {
        let mut caller = self.caller.lock();
        let Some(queue) = &mut *caller else { return false };
        queue.root_ended = true;
        queue.report = report.cloned();
        queue.waker.take().into_iter().for_each(Waker::wake);
        true
    }

    /// Records the end. The first one counts.
    fn end(&self, exit_code: Option<i32>, stopped_by: Option<StopReason>) {
        let input = self.input.lock().take();
        drop(input);
        self.record.end(ProcessState::Ended { exit_code, stopped_by });
    }

    /// Hangs up its terminal, if it has one: interactive shells ignore SIGTERM.
    fn hang_up(&self) {
        let input = self.input.lock().clone();
        if let Some(ProcessInputEnd::Terminal(terminal)) = input.as_deref() {
            terminal.hang_up();
        }
    }

    fn stop(&self) {
        self.kernel.lock().stop_execution(self.execution, StopReason::Cancelled);
    }
}

/// The processes of a sandbox in the order of their start. Dropping it stops them.
#[derive(Debug, Default)]
pub(crate) struct BackgroundProcesses {
    list: ProcessList<BackgroundProcess>,
}

impl BackgroundProcesses {
    /// Kills all.
    pub(crate) fn stop(&self) {
        self.list.running().iter().for_each(|process| process.stop());
    }

    /// Asks all to end; kills those that do not.
    pub(crate) async fn terminate(&self, tasks: Option<&Arc<dyn Tasks>>) {
        let running = self.list.running();
        let Some(tasks) = tasks.filter(|_| !running.is_empty()) else { return };
        for process in &running {
            process.kernel.lock().signal_execution(process.execution, Signal::Term);
            process.hang_up();
        }
        let mut timeout = tasks.sleep(TERMINATION_TIME);
        poll_fn(|cx| {
            let left = running.iter().filter(|process| process.record.poll_ended(cx).is_pending()).count();
            if left == 0 { Poll::Ready(()) } else { timeout.as_mut().poll(cx) }
        })
        .await;
        self.stop();
    }
}

impl Drop for BackgroundProcesses {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Starts a process.
pub(crate) fn spawn(backend: &VfsBackend, request: SpawnRequest) -> Result<ProcessId> {
    const OPERATION: &str = "spawn";
    let kernel = backend.kernel(OPERATION)?;
    let tasks = tasks(backend, &kernel, OPERATION)?;
    if let Some(process) = backend.background.list.tagged(request.tag.as_deref()) {
        return Ok(process.record.id().clone());
    }
    let limits = kernel.lock().limits().clone();
    if backend.background.list.running().len() >= limits.background_processes as usize {
        return Err(too_many(OPERATION, limits.background_processes));
    }
    let SpawnRequest { command, arguments, cwd, env, input, terminal, timeout, tag, .. } = request;
    let terminal = terminal.map(|size| size.check(OPERATION)).transpose()?;
    let mut execute = ExecuteRequest::new(command.clone());
    (execute.arguments, execute.cwd, execute.env) = (arguments, cwd, env);
    if terminal.is_some() && !execute.env.iter().any(|(name, _)| name == "TERM") {
        execute.env.push(("TERM".to_owned(), TERMINAL_TYPE.to_owned()));
    }
    let mut spec = build_spec(backend, execute, false)?.map_err(|error| error.into_error(OPERATION))?;
    (spec.is_background, spec.open_input, spec.terminal) = (true, input == SpawnInput::Open, terminal);
    let started = {
        let mut kernel = kernel.lock();
        start(&mut kernel, spec, None, u64::MAX).map_err(|error| error.into_error(OPERATION))?
    };
    let process = register(backend, &kernel, started.execution, Labels { tag, command }, None);
    let wall_time = timeout.unwrap_or(limits.background_time).min(limits.background_time);
    let task = drive(backend, Arc::clone(&process), wall_time);
    if let Err(reason) = tasks.start(task) {
        kernel.lock().finish_execution(process.execution);
        process.end(None, Some(StopReason::Cancelled));
        return Err(Error::new(ErrorKind::Engine, OPERATION, reason));
    }
    // A concurrent `close` may have missed it.
    backend.kernel(OPERATION).inspect_err(|_| process.stop())?;
    Ok(process.record.id().clone())
}

/// Returns the port that runs tasks, or the reason why processes cannot outlive a call.
fn tasks(backend: &VfsBackend, kernel: &SharedKernel, operation: &'static str) -> Result<Arc<dyn Tasks>> {
    if kernel.lock().is_deterministic() {
        let message = "a deterministic sandbox has no processes that outlive a call, because their order would depend on \
                       the host; create the sandbox without `deterministic`";
        return Err(Error::new(ErrorKind::Unsupported, operation, message));
    }
    backend.tasks.clone().ok_or_else(|| {
        let message = "this sandbox was built without an executor, which processes that outlive a call need; pass one \
                       with SandboxBuilder::tasks";
        Error::new(ErrorKind::Unsupported, operation, message)
    })
}

fn too_many(operation: &'static str, limit: u32) -> Error {
    let message = format!(
        "the sandbox has {limit} background processes, the maximum; stop one with signal_process, or raise the limit \
         background_processes"
    );
    Error::new(ErrorKind::QuotaExceeded, operation, message)
}

/// Names of a process that a caller chooses.
struct Labels {
    tag: Option<String>,
    command: String,
}

/// Creates the process of an execution and adds it to the list.
fn register(
    backend: &VfsBackend,
    kernel: &SharedKernel,
    execution: ExecutionId,
    Labels { tag, command }: Labels,
    caller: Option<CallerQueue>,
) -> Arc<BackgroundProcess> {
    let (pid, now, kept) = {
        let kernel = kernel.lock();
        (kernel.root_pid(execution), kernel.now(), kernel.limits().background_output_bytes)
    };
    let input = ProcessInputEnd::take(kernel, execution);
    let process = Arc::new(BackgroundProcess {
        has_terminal: matches!(input, Some(ProcessInputEnd::Terminal(_))),
        record: ProcessRecord::new(ProcessId::new(pid.to_string()), tag, command, Duration::from_nanos(now), kept),
        kernel: Arc::clone(kernel),
        execution,
        caller: Mutex::new(caller),
        input: Mutex::new(input.map(Arc::new)),
    });
    backend.background.list.add(Arc::clone(&process));
    process
}

/// Ends an execution on every exit path, including when the executor drops the task.
struct TaskGuard {
    process: Arc<BackgroundProcess>,
    limits: CommandLimits,
}

impl TaskGuard {
    fn end(self, driven: std::result::Result<(), EngineError>) {
        if let Err(error) = driven {
            let bytes = format!("tidebox: the engine failed: {error}\n").into_bytes();
            self.process.push(&OutputChunk { stream: tidebox_core::OutputStream::Stderr, bytes });
        }
    }
}

impl Drop for TaskGuard {
    fn drop(&mut self) {
        let process = &self.process;
        let (printed, report) = {
            let mut kernel = process.kernel.lock();
            let printed = kernel.take_output(process.execution);
            (printed, kernel.finish_execution(process.execution))
        };
        printed.iter().for_each(|chunk| process.push(chunk));
        // A task that was dropped before its execution ended has no status.
        let cancelled = (report.status.is_none() && report.stopped_by.is_none()).then_some(StopReason::Cancelled);
        let report = ExecutionReport { stopped_by: report.stopped_by.or(cancelled), ..report };
        // A caller explains the end in its response.
        let has_caller = process.tell_caller(Some(&report));
        let mut sink = |chunk: OutputChunk| {
            if !has_caller {
                process.push(&chunk);
            }
        };
        let mut collector = OutputCollector::new(Some(&mut sink));
        finish_response(&mut collector, &report, &self.limits, true);
        let (exit_code, stopped_by) = (collector.response.exit_code, collector.response.stopped_by);
        process.end(exit_code, stopped_by);
    }
}

/// The task of a process: runs it to its end and collects its output.
fn drive(backend: &VfsBackend, process: Arc<BackgroundProcess>, wall_time: Duration) -> BoxFuture<'static, ()> {
    let engine = backend.shared_engine();
    let limits = CommandLimits::new(process.kernel.lock().limits(), Some(wall_time), Default::default());
    let guard = TaskGuard { process: Arc::clone(&process), limits };
    Box::pin(async move {
        let guard = guard;
        let mut on_output = |chunk: OutputChunk| process.push(&chunk);
        let mut driving = engine.drive(&process.kernel, process.execution, wall_time, Some(&mut on_output));
        let driven = poll_fn(|cx| {
            let polled = driving.as_mut().poll(cx);
            // All output of the root process has been pushed by now.
            if polled.is_pending() && process.kernel.lock().root_status(process.execution).is_some() {
                process.tell_caller(None);
            }
            polled
        })
        .await;
        drop(driving);
        guard.end(driven);
    })
}

/// Lists the processes.
pub(crate) fn processes(backend: &VfsBackend) -> Result<Vec<ProcessInfo>> {
    backend.kernel("processes")?;
    Ok(backend.background.list.all().iter().map(|process| process.record.info()).collect())
}

/// Reads output after a cursor.
pub(crate) async fn read(backend: &VfsBackend, id: &ProcessId, request: ReadOutput) -> Result<OutputPage> {
    const OPERATION: &str = "read_process";
    backend.kernel(OPERATION)?;
    let process = backend.background.list.find(OPERATION, id)?;
    let timeout = backend.tasks.as_ref().filter(|_| !request.wait.is_zero()).map(|tasks| tasks.sleep(request.wait));
    Ok(process.record.read(&request, timeout).await)
}

/// Writes to standard input, or closes it.
pub(crate) async fn write(backend: &VfsBackend, id: &ProcessId, input: ProcessInput) -> Result<usize> {
    const OPERATION: &str = "write_process";
    backend.kernel(OPERATION)?;
    let process = backend.background.list.find(OPERATION, id)?;
    let end_key = process.end_key();
    let (bytes, is_end) = match (input, end_key) {
        (ProcessInput::End, Some(key)) => (vec![key], true),
        (ProcessInput::End, None) => {
            let closed = process.input.lock().take();
            drop(closed);
            return Ok(0);
        }
        (ProcessInput::Bytes(bytes), _) => (bytes, false),
    };
    let writer = process.input.lock().clone();
    let closed = || closed_process_input(OPERATION, id);
    let writer = writer.ok_or_else(closed)?;
    let bytes = bytes.get(..MAX_WRITE_BYTES).unwrap_or(&bytes);
    let written = poll_fn(|cx| writer.poll_write(cx, bytes)).await.map_err(|_| closed())?;
    Ok(if is_end { 0 } else { written })
}

/// Sends a signal to the processes of an execution.
pub(crate) fn signal(backend: &VfsBackend, id: &ProcessId, signal: ProcessSignal) -> Result<()> {
    const OPERATION: &str = "signal_process";
    backend.kernel(OPERATION)?;
    let process = backend.background.list.find(OPERATION, id)?;
    let signal = match signal {
        ProcessSignal::Hup => Signal::Hup,
        ProcessSignal::Int => Signal::Int,
        ProcessSignal::Quit => Signal::Quit,
        ProcessSignal::Kill => Signal::Kill,
        ProcessSignal::Usr1 => Signal::Usr1,
        ProcessSignal::Usr2 => Signal::Usr2,
        ProcessSignal::Term => Signal::Term,
        ProcessSignal::Cont => Signal::Cont,
        ProcessSignal::Stop => Signal::Stop,
    };
    process.kernel.lock().signal_execution(process.execution, signal);
    Ok(())
}

/// Changes the size of a terminal.
pub(crate) fn resize(backend: &VfsBackend, id: &ProcessId, size: TerminalSize) -> Result<()> {
    const OPERATION: &str = "resize_process";
    backend.kernel(OPERATION)?;
    let process = backend.background.list.find(OPERATION, id)?;
    let size = size.check(OPERATION)?;
    if !process.has_terminal {
        return Err(missing_terminal(OPERATION, id));
    }
    let input = process.input.lock().clone();
    if let Some(ProcessInputEnd::Terminal(terminal)) = input.as_deref() {
        terminal.resize(size);
    }
    Ok(())
}
