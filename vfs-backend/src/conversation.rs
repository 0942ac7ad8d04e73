//! Talking with one process of a sandbox: it answers one request after the other and keeps what it holds in between.
//!
//! The processes are polled only while a request is answered, so between two requests none of them runs. They end with the
//! value that stands for the conversation.

use std::future::poll_fn;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use tidebox_core::{Error, ErrorKind, ExecuteResponse, OutputSink, Result, SandboxPath};
use tidebox_kernel::engine::EngineError;
use tidebox_kernel::{Errno, SessionId, SessionSpec, SharedKernel};

use crate::backend::{VfsBackend, lock};
use crate::execute::{Delivery, conclude};

/// Bytes of a request, which are copied into the process in one go.
const REQUEST_BYTES: usize = 8 << 20;

type Driving = Pin<Box<dyn Future<Output = std::result::Result<(), EngineError>> + Send>>;

/// What is begun for a conversation.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Opening {
    /// Absolute path of the program, which speaks the calls `listen` and `reply` of `docs/abi.md`.
    pub program: String,
    /// Its arguments, the name first.
    pub arguments: Vec<String>,
    /// Environment variables, over the sandbox's own.
    pub env: Vec<(String, String)>,
    /// Working directory. `None` is the sandbox's.
    pub cwd: Option<SandboxPath>,
}

impl Opening {
    /// A program without arguments but its name.
    pub fn new(program: impl Into<String>, name: impl Into<String>) -> Self {
        Self { program: program.into(), arguments: vec![name.into()], ..Self::default() }
    }
}

/// How a request went.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Answer {
    /// What the process answered; `None` when it ended instead.
    pub reply: Option<Vec<u8>>,
    /// What was printed meanwhile. The exit code is that of the process, `None` while it lives.
    pub response: ExecuteResponse,
}

/// A process that is talked with. `B` is the sandbox: a reference, or an `Arc` for one that is to live on its own.
pub struct Conversation<B: Deref<Target = VfsBackend>> {
    backend: B,
    kernel: SharedKernel,
    session: SessionId,
    driving: Option<Driving>,
    /// A request was sent whose answer nobody waited for.
    abandoned: bool,
}

impl<B: Deref<Target = VfsBackend>> std::fmt::Debug for Conversation<B> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Conversation").field("session", &self.session).finish_non_exhaustive()
    }
}

impl<B: Deref<Target = VfsBackend>> Conversation<B> {
    /// Begins one. Nothing runs yet: the process starts with the first request.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] when the program, the directory or a variable is not usable; [`ErrorKind::Closed`] when
    /// the sandbox was closed.
    pub fn begin(backend: B, opening: Opening) -> Result<Self> {
        let kernel = backend.kernel(OPERATION)?;
        let mut environment = backend.environment().clone();
        let cwd = opening.cwd.unwrap_or_else(|| backend.cwd().clone());
        environment.enter(&cwd);
        environment.add(&opening.env)?;
        let spec = SessionSpec {
            argv: opening.arguments.into_iter().map(String::into_bytes).collect(),
            env: environment.into_variables(),
            cwd: cwd.as_bytes().to_vec(),
            program: opening.program.clone().into_bytes(),
            conversation: true,
            ..SessionSpec::default()
        };
        let begun = lock(&kernel).begin(spec);
        let (session, _) = begun.map_err(|errno| not_begun(&opening.program, &cwd, errno))?;
        let (engine, driven) = (backend.shared_engine(), Arc::clone(&kernel));
        // The time of each request is told to the kernel when it is asked.
        let driving = Box::pin(async move { engine.drive(&driven, session, Duration::MAX, None).await });
        let conversation = Self { backend, kernel, session, driving: Some(driving), abandoned: false };
        conversation.backend.remember(session)?;
        Ok(conversation)
    }

    /// The session whose root process it is, for who gives turns to processes.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// Whether the process has ended, so that nothing can be asked any more.
    pub fn is_over(&self) -> bool {
        self.driving.is_none() || self.abandoned
    }

    /// Sends a request and waits for the answer, or for the end of the process. It may take `timeout`
    /// ([`Limits::wall_time`](tidebox_core::Limits::wall_time) when that is `None`); when the time is up the process and all that it has started
    /// end. A call that is dropped ends them, too.
    ///
    /// Like [`execute`](tidebox_core::SandboxBackend::execute), it must be awaited inside a Tokio runtime.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] for more than 8 MiB, or when the conversation [is over](Self::is_over); [`ErrorKind::Engine`] when the engine
    /// fails.
    pub async fn ask(
        &mut self,
        request: Vec<u8>,
        timeout: Option<Duration>,
        sink: Option<OutputSink<'_>>,
    ) -> Result<Answer> {
        if request.len() > REQUEST_BYTES {
            let message = format!("the request has {} bytes and may have {REQUEST_BYTES}", request.len());
            return Err(Error::new(ErrorKind::InvalidRequest, OPERATION, message));
        }
        let over = self.is_over();
        let Some(driving) = self.driving.as_mut().filter(|_| !over) else {
            let message = "the process has ended; begin another conversation";
            return Err(Error::new(ErrorKind::InvalidRequest, OPERATION, message));
        };
        let (wall_time, started) = {
            let mut kernel = lock(&self.kernel);
            let wall_time = timeout.unwrap_or(kernel.limits().wall_time);
            kernel.ask(self.session, request, wall_time);
            (wall_time, kernel.monotonic())
        };
        self.abandoned = true;
        let mut delivery = Delivery { response: ExecuteResponse::default(), sink };
        let (session, kernel) = (self.session, &self.kernel);
        let (reply, ended) = poll_fn(|cx| {
            let driven = driving.as_mut().poll(cx);
            let (printed, reply) = {
                let mut kernel = lock(kernel);
                (kernel.take_printed(session), kernel.take_reply(session))
            };
            delivery.printed(&printed);
            match (driven, reply) {
                (Poll::Ready(ended), reply) => Poll::Ready((reply, Some(ended))),
                (Poll::Pending, Some(reply)) => Poll::Ready((Some(reply), None)),
                (Poll::Pending, None) => Poll::Pending,
            }
        })
        .await;
        self.abandoned = false;
        let now = {
            let kernel = lock(&self.kernel);
            delivery.response.truncated = kernel.is_truncated(session);
            delivery.response.peak_memory_bytes = kernel.peak_memory(session);
            kernel.monotonic()
        };
        if let Some(ended) = ended {
            self.driving = None;
            self.backend.forget(session);
            let report = lock(&self.kernel).end(session);
            ended.map_err(|error| {
                Error::new(ErrorKind::Engine, OPERATION, format!("the engine failed: {error}")).with_source(error)
            })?;
            conclude(&mut delivery, &report, wall_time, self.backend.is_closed());
        }
        let mut response = delivery.response;
        response.duration = Duration::from_nanos(now.saturating_sub(started));
        Ok(Answer { reply, response })
    }
}

impl<B: Deref<Target = VfsBackend>> Drop for Conversation<B> {
    fn drop(&mut self) {
        // First what the processes are made of, then what the kernel knows of them.
        if self.driving.take().is_some() {
            self.backend.forget(self.session);
            lock(&self.kernel).end(self.session);
        }
    }
}

const OPERATION: &str = "converse";

fn not_begun(program: &str, cwd: &SandboxPath, errno: Errno) -> Error {
    let message = format!("cannot start {program} in {}: {errno}", cwd.to_text());
    Error::new(ErrorKind::InvalidRequest, OPERATION, message)
}
