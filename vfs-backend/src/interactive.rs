//! Interactive processes: one process of a sandbox serves several requests and keeps its state in between.
//!
//! The processes are polled only during a request, so between two requests none of them runs. They end when the
//! [`InteractiveProcess`] is dropped.

use std::future::poll_fn;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tidebox_core::{Error, ErrorKind, ExecuteResponse, OutputOverflow, OutputSink, Result, SandboxPath};
use tidebox_kernel::engine::EngineError;
use tidebox_kernel::{Errno, ExecutionId, ExecutionSpec, Kernel, SavedProcess, SharedKernel};

use crate::backend::VfsBackend;
use crate::execute::{CommandLimits, OutputCollector, finish_response};

/// Maximum bytes of a request, which is copied into the process without yielding.
const REQUEST_BYTES: usize = 8 << 20;

type EngineResult = std::result::Result<(), EngineError>;
type DriveFuture = Pin<Box<dyn Future<Output = EngineResult> + Send>>;

/// The program of an interactive process.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct InteractiveCommand {
    /// Absolute path of the program, which uses the calls `listen` and `reply` of `docs/abi.md`.
    pub program: String,
    /// Its arguments, the name first.
    pub arguments: Vec<String>,
    /// Environment variables, in addition to the sandbox's own.
    pub env: Vec<(String, String)>,
    /// Working directory. `None` is the sandbox's.
    pub cwd: Option<SandboxPath>,
}

impl InteractiveCommand {
    /// A program without arguments except its name.
    pub fn new(program: impl Into<String>, name: impl Into<String>) -> Self {
        Self { program: program.into(), arguments: vec![name.into()], ..Self::default() }
    }
}

/// The result of a request.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct InteractiveResponse {
    /// The process's reply; `None` if it exited instead.
    pub reply: Option<Vec<u8>>,
    /// Output during the request. The exit code is that of the process, `None` while it runs.
    pub response: ExecuteResponse,
}

/// An interactive process. `B` is the sandbox: a reference, or an `Arc` for shared ownership.
pub struct InteractiveProcess<B: Deref<Target = VfsBackend>> {
    backend: B,
    kernel: SharedKernel,
    session: ExecutionId,
    driving: Option<DriveFuture>,
    /// A request was sent and its future dropped before the reply.
    poisoned: bool,
    engine_supports_rest: bool,
}

impl<B: Deref<Target = VfsBackend>> std::fmt::Debug for InteractiveProcess<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InteractiveProcess").field("session", &self.session).finish_non_exhaustive()
    }
}

impl<B: Deref<Target = VfsBackend>> InteractiveProcess<B> {
    /// Creates the process. It starts with the first request.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidRequest`] when the program, the directory or a variable is not usable; [`ErrorKind::Closed`]
    /// when the sandbox is closed.
    pub fn spawn(backend: B, command: InteractiveCommand) -> Result<Self> {
        Self::start(backend, command, None)
    }

    /// Continues a [saved](Self::save) process, in a sandbox that has its open files at the same paths. `command` is that of the
    /// original process; its working directory is the saved one.
    ///
    /// Like [`request`](Self::request), it must be awaited inside a Tokio runtime.
    ///
    /// # Errors
    ///
    /// As [`spawn`](Self::spawn), and [`ErrorKind::InvalidRequest`] when an open file is missing, or the process was saved with
    /// another version of its program.
    pub async fn resume(backend: B, command: InteractiveCommand, saved: &Arc<SavedProcess>) -> Result<Self> {
        let mut process = Self::start(backend, command, Some(saved))?;
        process.kernel.lock().set_default_wall_time(process.session);
        let mut collector = OutputCollector::new(None);
        let session = process.session;
        let (_, ended) = process.drive_until(&mut collector, |kernel| kernel.is_resting(session).then_some(())).await?;
        match ended {
            None => Ok(process),
            Some(ended) => {
                process.finish(ended, &mut collector, None)?;
                let message = format!("cannot resume the process: {}", collector.response.output_text().trim_end());
                Err(Error::new(ErrorKind::InvalidRequest, OPERATION, message))
            }
        }
    }

    /// Saves the process between two requests: its memory, open files and working directory. It continues unchanged.
    ///
    /// Like [`request`](Self::request), it must be awaited inside a Tokio runtime. Dropping the future ends the process.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unsupported`] with the reason if it cannot be saved: it has child processes, pipes, sockets or deleted files,
    /// or the engine or its program cannot do it. [`ErrorKind::InvalidRequest`] if it [has exited](Self::has_exited).
    pub async fn save(&mut self) -> Result<SavedProcess> {
        if !self.engine_supports_rest {
            let message = "cannot save the process: this engine cannot save processes; use Wasmtime";
            return Err(Error::new(ErrorKind::Unsupported, SAVE, message));
        }
        if self.has_exited() {
            return Err(exited(SAVE));
        }
        {
            let mut kernel = self.kernel.lock();
            kernel.set_default_wall_time(self.session);
            kernel.request_save(self.session);
        }
        let mut collector = OutputCollector::new(None);
        let session = self.session;
        let (saved, ended) = self.drive_until(&mut collector, |kernel| kernel.take_saved(session)).await?;
        if let Some(ended) = ended {
            self.finish(ended, &mut collector, None)?;
            return Err(exited(SAVE));
        }
        let saved = saved.unwrap_or_else(|| Err("it did not rest".to_owned()));
        saved.map_err(|reason| Error::new(ErrorKind::Unsupported, SAVE, format!("cannot save the process: {reason}")))
    }

    fn start(backend: B, command: InteractiveCommand, saved: Option<&Arc<SavedProcess>>) -> Result<Self> {
        let kernel = backend.kernel(OPERATION)?;
        let mut environment = backend.environment().clone();
        let cwd = match saved {
            Some(saved) => SandboxPath::parse(&saved.state.cwd).map_err(|error| {
                let message = format!("cannot resume the process: its working directory is invalid: {error}");
                Error::new(ErrorKind::InvalidRequest, OPERATION, message)
            })?,
            None => command.cwd.unwrap_or_else(|| backend.cwd().clone()),
        };
        environment.check_cwd(&cwd);
        environment.add(&command.env)?;
        let spec = ExecutionSpec {
            argv: command.arguments.into_iter().collect(),
            env: environment.into_variables(),
            cwd: cwd.as_bytes().to_vec(),
            program: command.program.clone().into_bytes(),
            interactive: true,
            supports_rest: backend.shared_engine().supports_rest(),
            ..ExecutionSpec::default()
        };
        let engine_supports_rest = spec.supports_rest;
        let begin = kernel.lock().start_execution(spec);
        let (session, _) = begin.map_err(|errno| spawn_error(&command.program, &cwd, errno))?;
        if let Some(saved) = saved {
            let mut kernel = kernel.lock();
            if let Err(error) = kernel.resume_saved(session, saved) {
                kernel.finish_execution(session);
                let message = format!("cannot resume the process: {error}; restore the files that it had open");
                return Err(Error::new(ErrorKind::InvalidRequest, OPERATION, message));
            }
        }
        let (engine, driven) = (backend.shared_engine(), Arc::clone(&kernel));
        // The kernel receives the timeout with each request.
        let driving = Box::pin(async move { engine.drive(&driven, session, Duration::MAX, None).await });
        let process = Self { backend, kernel, session, driving: Some(driving), poisoned: false, engine_supports_rest };
        process.backend.register_execution(session)?;
        Ok(process)
    }

    /// The execution whose root process this is, for schedulers.
    pub fn session(&self) -> ExecutionId {
        self.session
    }

    /// Returns whether the process has exited and accepts no more requests.
    pub fn has_exited(&self) -> bool {
        self.driving.is_none() || self.poisoned
    }

    /// Sends a request and waits for the reply, or for the exit of the process. It may take `timeout`
    /// ([`Limits::wall_time`](tidebox_core::Limits::wall_time) when that is `None`); on timeout the process and its
    /// descendants are killed. Dropping the future kills them too.
    ///
    /// Like [`execute`](tidebox_core::SandboxBackend::execute), it must be awaited inside a Tokio runtime.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidRequest`] for more than 8 MiB, or if the process [has exited](Self::has_exited);
    /// [`ErrorKind::Engine`] when the engine fails.
    pub async fn request(
        &mut self,
        request: Vec<u8>,
        timeout: Option<Duration>,
        sink: Option<OutputSink<'_>>,
    ) -> Result<InteractiveResponse> {
        if request.len() > REQUEST_BYTES {
            let message = format!("the request has {} bytes and may have {REQUEST_BYTES}", request.len());
            return Err(Error::new(ErrorKind::InvalidRequest, OPERATION, message));
        }
        if self.has_exited() {
            return Err(exited(OPERATION));
        }
        let (limits, started) = {
            let mut kernel = self.kernel.lock();
            let limits = CommandLimits::new(kernel.limits(), timeout, OutputOverflow::default());
            kernel.send_request(self.session, request, limits.wall_time);
            (limits, kernel.monotonic())
        };
        let mut collector = OutputCollector::new(sink);
        let session = self.session;
        let (reply, ended) = self.drive_until(&mut collector, |kernel| kernel.take_reply(session)).await?;
        let now = {
            let kernel = self.kernel.lock();
            let report = kernel.report(session);
            collector.response.truncated = report.truncated;
            collector.response.peak_memory_bytes = report.peak_memory_bytes;
            collector.response.cpu_time = report.cpu_time;
            kernel.monotonic()
        };
        if let Some(ended) = ended {
            self.finish(ended, &mut collector, Some(&limits))?;
        }
        let mut response = collector.response;
        response.duration = Duration::from_nanos(now.saturating_sub(started));
        Ok(InteractiveResponse { reply, response })
    }

    /// Polls the processes until `take` returns a value or the root process has exited.
    async fn drive_until<T>(
        &mut self,
        collector: &mut OutputCollector<'_>,
        mut take: impl FnMut(&mut Kernel) -> Option<T>,
    ) -> Result<(Option<T>, Option<EngineResult>)> {
        let Some(driving) = self.driving.as_mut() else { return Err(exited(OPERATION)) };
        self.poisoned = true;
        let (session, kernel) = (self.session, &self.kernel);
        let outcome = poll_fn(|cx| {
            let driven = driving.as_mut().poll(cx);
            let (printed, taken) = {
                let mut kernel = kernel.lock();
                (kernel.take_printed(session), take(&mut kernel))
            };
            collector.push_buffer(&printed);
            match (driven, taken) {
                (Poll::Ready(ended), taken) => Poll::Ready((taken, Some(ended))),
                (Poll::Pending, Some(taken)) => Poll::Ready((Some(taken), None)),
                (Poll::Pending, None) => Poll::Pending,
            }
        })
        .await;
        self.poisoned = false;
        Ok(outcome)
    }

    /// Releases the processes after the root process has exited, and completes the response.
    fn finish(
        &mut self,
        ended: EngineResult,
        collector: &mut OutputCollector<'_>,
        limits: Option<&CommandLimits>,
    ) -> Result<()> {
        self.driving = None;
        self.backend.unregister_execution(self.session);
        let report = self.kernel.lock().finish_execution(self.session);
        ended.map_err(|error| {
            Error::new(ErrorKind::Engine, OPERATION, format!("the engine failed: {error}")).with_source(error)
        })?;
        if let Some(limits) = limits {
            finish_response(collector, &report, limits, self.backend.is_closed());
        }
        Ok(())
    }
}

impl<B: Deref<Target = VfsBackend>> Drop for InteractiveProcess<B> {
    fn drop(&mut self) {
        // Drop the process futures before the kernel's state of the processes.
        if self.driving.take().is_some() {
            self.backend.unregister_execution(self.session);
            self.kernel.lock().finish_execution(self.session);
        }
    }
}

const OPERATION: &str = "request";
const SAVE: &str = "save process";

fn exited(operation: &'static str) -> Error {
    Error::new(ErrorKind::InvalidRequest, operation, "the process has exited; start another one")
}

fn spawn_error(program: &str, cwd: &SandboxPath, errno: Errno) -> Error {
    let message = format!("cannot start {program} in {}: {errno}", cwd.to_text());
    Error::new(ErrorKind::InvalidRequest, OPERATION, message)
}
