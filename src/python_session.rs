//! Interpreters that keep their variables between calls.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use tidebox_core::{Error, ErrorKind, ExecuteResponse, OutputSink, Result};
use tidebox_vfs_backend::{Conversation, Opening, VfsBackend as Sandbox};

/// Where the interpreter is, and the name by which it knows what it is started for.
const PROGRAM: &str = "/bin/python3";
const NAME: &str = "python3-session";

/// Python sessions of a sandbox.
pub trait PythonExt {
    /// How the session holds the sandbox: a reference, or an `Arc` for one that is to be kept beside it.
    type Sandbox: Deref<Target = Sandbox>;

    /// Begins an interpreter that keeps its variables, open files and imported modules from one [`run`](PythonSession::run) to the next, as
    /// notebooks do. It starts with the first one. A sandbox may have several.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] when the sandbox has no Python: the pack `python` has to be added before the runtime is made.
    /// [`ErrorKind::Closed`] when the sandbox was closed.
    fn python_session(self) -> Result<PythonSession<Self::Sandbox>>;
}

impl<'a> PythonExt for &'a Sandbox {
    type Sandbox = &'a Sandbox;

    fn python_session(self) -> Result<PythonSession<&'a Sandbox>> {
        PythonSession::begin(self)
    }
}

impl PythonExt for Arc<Sandbox> {
    type Sandbox = Self;

    fn python_session(self) -> Result<PythonSession<Self>> {
        PythonSession::begin(self)
    }
}

/// An interpreter that runs one piece of code after the other. Dropping it ends it and what it has started; files stay.
///
/// ```no_run
/// use tidebox::PythonExt;
///
/// # async fn example() -> tidebox::Result<()> {
/// let sandbox = tidebox::sandbox()?.build()?;
/// let mut session = sandbox.python_session()?;
/// session.run("import pandas as pd; frame = pd.DataFrame({'a': [1, 2]})").await?;
/// let response = session.run("int(frame.a.sum())").await?;
/// assert_eq!(response.value.as_deref(), Some("3"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct PythonSession<B: Deref<Target = Sandbox>> {
    conversation: Conversation<B>,
}

/// How a piece of code went.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PythonResponse {
    /// What its last expression is worth, as `repr` shows it. `None` when the code ends with a statement, with a semicolon or with `None`.
    pub value: Option<String>,
    /// The exception that nobody caught. Its traceback is on standard error, too.
    pub error: Option<PythonError>,
    /// Paths of pictures: the figures of matplotlib that the code showed or left open.
    pub pictures: Vec<String>,
    /// What was printed, and how long it took. The exit code and the reason are there when the interpreter has ended.
    pub output: ExecuteResponse,
}

/// An exception of Python.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct PythonError {
    /// Its class.
    pub name: String,
    /// What `str` makes of it.
    pub message: String,
    /// The whole text that Python prints of it.
    pub traceback: String,
}

/// What the interpreter answers.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Reply {
    value: Option<String>,
    error: Option<PythonError>,
    pictures: Vec<String>,
}

impl<B: Deref<Target = Sandbox>> PythonSession<B> {
    fn begin(sandbox: B) -> Result<Self> {
        let conversation = Conversation::begin(sandbox, Opening::new(PROGRAM, NAME)).map_err(|error| {
            if error.kind() != ErrorKind::InvalidRequest {
                return error;
            }
            let message = format!("{}; sandboxes have Python after `tidebox pack add python`", error.message());
            Error::new(ErrorKind::InvalidRequest, OPERATION, message)
        })?;
        Ok(Self { conversation })
    }

    /// Runs a piece of code, for as long as a command may run.
    ///
    /// # Errors
    /// As [`run_with`](Self::run_with).
    pub async fn run(&mut self, code: &str) -> Result<PythonResponse> {
        self.run_with(code, None, None).await
    }

    /// Runs a piece of code for at most `timeout` ([`Limits::wall_time`](tidebox_core::Limits::wall_time) when that is `None`), and hands its output to `sink` as it is
    /// printed. When the time is up, when memory that it cannot do without is refused and when it calls `exit` the interpreter ends, and with it all
    /// variables; files stay. [`is_over`](Self::is_over) tells. A call that is dropped ends the interpreter, too.
    ///
    /// Like [`execute`](tidebox_core::SandboxBackend::execute), it must be awaited inside a Tokio runtime.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] when the interpreter has ended before, or for more than 8 MiB of code; [`ErrorKind::Engine`] when the engine fails.
    pub async fn run_with(
        &mut self,
        code: &str,
        timeout: Option<Duration>,
        sink: Option<OutputSink<'_>>,
    ) -> Result<PythonResponse> {
        if self.is_over() {
            let message = "the interpreter has ended, and its variables are gone; begin another session";
            return Err(Error::new(ErrorKind::InvalidRequest, OPERATION, message));
        }
        let answer = self.conversation.ask(code.as_bytes().to_vec(), timeout, sink).await?;
        let reply: Reply = match &answer.reply {
            None => Reply::default(),
            Some(bytes) => serde_json::from_slice(bytes).map_err(|error| {
                let message = format!("the interpreter answers what is no answer: {error}");
                Error::new(ErrorKind::Protocol, OPERATION, message)
            })?,
        };
        let Reply { value, error, pictures } = reply;
        Ok(PythonResponse { value, error, pictures, output: answer.response })
    }

    /// Whether the interpreter has ended.
    pub fn is_over(&self) -> bool {
        self.conversation.is_over()
    }
}

const OPERATION: &str = "run python";
