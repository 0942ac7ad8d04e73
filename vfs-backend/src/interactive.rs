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
use tidebox_kernel::{Errno, ExecutionId, ExecutionSpec, SharedKernel};

use crate::backend::VfsBackend;
use crate::execute::{CommandLimits, OutputCollector, finish_response};

/// Maximum bytes of a request, which is copied into the process without yielding.
const REQUEST_BYTES: usize = 8 << 20;

type DriveFuture = Pin<Box<dyn Future<Output = std::result::Result<(), EngineError>> + Send>>;

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
        let kernel = backend.kernel(OPERATION)?;
        let mut environment = backend.environment().clone();
        let cwd = command.cwd.unwrap_or_else(|| backend.cwd().clone());
        environment.check_cwd(&cwd);
        environment.add(&command.env)?;
        let spec = ExecutionSpec {
            argv: command.arguments.into_iter().collect(),
            env: environment.into_variables(),
            cwd: cwd.as_bytes().to_vec(),
            program: command.program.clone().into_bytes(),
            interactive: true,
            ..ExecutionSpec::default()
        };
        let begin = kernel.lock().start_execution(spec);
        let (session, _) = begin.map_err(|errno| spawn_error(&command.program, &cwd, errno))?;
        let (engine, driven) = (backend.shared_engine(), Arc::clone(&kernel));
        // The kernel receives the timeout with each request.
        let driving = Box::pin(async move { engine.drive(&driven, session, Duration::MAX, None).await });
        let process = Self { backend, kernel, session, driving: Some(driving), poisoned: false };
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
        let over = self.has_exited();
        let Some(driving) = self.driving.as_mut().filter(|_| !over) else {
            let message = "the process has exited; start another one";
            return Err(Error::new(ErrorKind::InvalidRequest, OPERATION, message));
        };
        let (limits, started) = {
            let mut kernel = self.kernel.lock();
            let limits = CommandLimits::new(kernel.limits(), timeout, OutputOverflow::default());
            kernel.send_request(self.session, request, limits.wall_time);
            (limits, kernel.monotonic())
        };
        self.poisoned = true;
        let mut collector = OutputCollector::new(sink);
        let (session, kernel) = (self.session, &self.kernel);
        let (reply, ended) = poll_fn(|cx| {
            let driven = driving.as_mut().poll(cx);
            let (printed, reply) = {
                let mut kernel = kernel.lock();
                (kernel.take_printed(session), kernel.take_reply(session))
            };
            collector.push_buffer(&printed);
            match (driven, reply) {
                (Poll::Ready(ended), reply) => Poll::Ready((reply, Some(ended))),
                (Poll::Pending, Some(reply)) => Poll::Ready((Some(reply), None)),
                (Poll::Pending, None) => Poll::Pending,
            }
        })
        .await;
        self.poisoned = false;
        let now = {
            let kernel = self.kernel.lock();
            let report = kernel.report(session);
            collector.response.truncated = report.truncated;
            collector.response.peak_memory_bytes = report.peak_memory_bytes;
            collector.response.cpu_time = report.cpu_time;
            kernel.monotonic()
        };
        if let Some(ended) = ended {
            self.driving = None;
            self.backend.unregister_execution(session);
            let report = self.kernel.lock().finish_execution(session);
            ended.map_err(|error| {
                Error::new(ErrorKind::Engine, OPERATION, format!("the engine failed: {error}")).with_source(error)
            })?;
            finish_response(&mut collector, &report, &limits, self.backend.is_closed());
        }
        let mut response = collector.response;
        response.duration = Duration::from_nanos(now.saturating_sub(started));
        Ok(InteractiveResponse { reply, response })
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

fn spawn_error(program: &str, cwd: &SandboxPath, errno: Errno) -> Error {
    let message = format!("cannot start {program} in {}: {errno}", cwd.to_text());
    Error::new(ErrorKind::InvalidRequest, OPERATION, message)
}
