//! Python interpreters that keep their variables between calls.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use tidebox_core::{Error, ErrorKind, ExecuteResponse, Limits, OutputSink, Result};
use tidebox_kernel::SavedProcess;
use tidebox_vfs_backend::{
    InteractiveCommand, InteractiveProcess, VfsBackend as Sandbox, process_from_bytes, process_to_bytes,
};

/// Path of the interpreter, and its argument 0 that selects the session mode.
const PROGRAM: &str = "/bin/python3";
const NAME: &str = "python3-session";

/// Python sessions of a sandbox.
pub trait PythonExt {
    /// Reference to the sandbox: `&Sandbox`, or `Arc<Sandbox>` for an owned one.
    type Sandbox: Deref<Target = Sandbox>;

    /// Creates an interpreter that keeps its variables, open files and imported modules between calls of
    /// [`run`](PythonSession::run), as in a notebook. It starts with the first call. A sandbox may have several.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] if the sandbox has no Python: the pack `python` has to be installed before the runtime is
    /// created. [`ErrorKind::Closed`] for a closed sandbox.
    fn python_session(self) -> Result<PythonSession<Self::Sandbox>>;

    /// Continues a [saved](PythonSession::save) session in this sandbox: variables, imported modules and open files are those of
    /// the saved one. The files must be there too: take a [`snapshot`](Sandbox::snapshot) with each saved session, or
    /// [`fork`](Sandbox::fork) the sandbox. The random numbers of `random` and `numpy.random` differ from those of the original.
    ///
    /// Like [`PythonSession::run`], it must be awaited inside a Tokio runtime.
    ///
    /// # Errors
    /// As [`python_session`](Self::python_session), and [`ErrorKind::InvalidRequest`] if an open file is missing, or the session was
    /// saved with another version of the pack.
    fn resume_python_session(
        self,
        saved: &SavedPythonSession,
    ) -> impl Future<Output = Result<PythonSession<Self::Sandbox>>> + Send;
}

impl<'a> PythonExt for &'a Sandbox {
    type Sandbox = &'a Sandbox;

    fn python_session(self) -> Result<PythonSession<&'a Sandbox>> {
        PythonSession::begin(self)
    }

    async fn resume_python_session(self, saved: &SavedPythonSession) -> Result<PythonSession<Self::Sandbox>> {
        PythonSession::resume(self, saved).await
    }
}

impl PythonExt for Arc<Sandbox> {
    type Sandbox = Self;

    fn python_session(self) -> Result<PythonSession<Self>> {
        PythonSession::begin(self)
    }

    async fn resume_python_session(self, saved: &SavedPythonSession) -> Result<PythonSession<Self::Sandbox>> {
        PythonSession::resume(self, saved).await
    }
}

/// An interpreter that runs code, one call after the other. Dropping it ends it and the processes that it started; files stay.
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
    process: InteractiveProcess<B>,
}

/// A saved session: the memory of the interpreter, and its open files by path. Cloning shares the memory.
///
/// It contains the values of all variables, secrets included.
#[derive(Clone, Debug)]
pub struct SavedPythonSession {
    process: Arc<SavedProcess>,
}

impl SavedPythonSession {
    /// Encodes the session, about half a megabyte without large variables, which [`from_bytes`](Self::from_bytes) reads on any host that
    /// has the same version of the pack.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        process_to_bytes(&self.process)
    }

    /// Reads the output of [`to_bytes`](Self::to_bytes). The bytes are untrusted: a forged session can do what any Python code in
    /// the sandbox can do.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] for bytes that are corrupt or no saved session, and for more memory than
    /// [`Limits::process_memory_bytes`] allows.
    pub fn from_bytes(bytes: &[u8], limits: &Limits) -> Result<Self> {
        Ok(Self { process: Arc::new(process_from_bytes(bytes, limits)?) })
    }
}

/// Result of a call.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PythonResponse {
    /// `repr` of the last expression. `None` if the code ends with a statement, a semicolon or `None`.
    pub value: Option<String>,
    /// The uncaught exception. Its traceback is also written to standard error.
    pub error: Option<PythonError>,
    /// Paths of images: the matplotlib figures that the code showed or left open.
    pub figures: Vec<String>,
    /// Output and duration. The exit code and the stop reason are set if the interpreter has exited.
    pub output: ExecuteResponse,
}

/// A Python exception.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct PythonError {
    /// Name of its class.
    pub name: String,
    /// Its text, as returned by `str`.
    pub message: String,
    /// The traceback as printed by Python.
    pub traceback: String,
}

/// Response of the interpreter.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Reply {
    value: Option<String>,
    error: Option<PythonError>,
    #[serde(rename = "pictures")]
    figures: Vec<String>,
}

impl<B: Deref<Target = Sandbox>> PythonSession<B> {
    fn begin(sandbox: B) -> Result<Self> {
        let process = InteractiveProcess::spawn(sandbox, InteractiveCommand::new(PROGRAM, NAME)).map_err(|error| {
            if error.kind() != ErrorKind::InvalidRequest {
                return error;
            }
            let message = format!("{}; install Python with `tidebox pack add python`", error.message());
            Error::new(ErrorKind::InvalidRequest, OPERATION, message)
        })?;
        Ok(Self { process })
    }

    async fn resume(sandbox: B, saved: &SavedPythonSession) -> Result<Self> {
        let command = InteractiveCommand::new(PROGRAM, NAME);
        let process = InteractiveProcess::resume(sandbox, command, &saved.process).await?;
        Ok(Self { process })
    }

    /// Saves the session between two calls, without the files of the sandbox. The session continues unchanged; drop it to free
    /// its memory.
    ///
    /// Like [`run`](Self::run), it must be awaited inside a Tokio runtime. Dropping the future ends the interpreter.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] with the reason if the session has running child processes, pipes, sockets or open files that
    /// were deleted. [`ErrorKind::InvalidRequest`] if the interpreter has exited.
    pub async fn save(&mut self) -> Result<SavedPythonSession> {
        Ok(SavedPythonSession { process: Arc::new(self.process.save().await?) })
    }

    /// Runs code with the default timeout of commands.
    ///
    /// # Errors
    /// Like [`run_with`](Self::run_with).
    pub async fn run(&mut self, code: &str) -> Result<PythonResponse> {
        self.run_with(code, None, None).await
    }

    /// Runs code for at most `timeout` (default [`Limits::wall_time`](tidebox_core::Limits::wall_time)) and passes its output to
    /// `sink` as it is printed. The interpreter exits after a timeout, if it cannot continue without more memory, and if the code
    /// calls `exit`. Its variables are lost then; files stay. [`has_exited`](Self::has_exited) reports it. Dropping a call ends
    /// the interpreter, too.
    ///
    /// Like [`execute`](tidebox_core::SandboxBackend::execute), it must be awaited inside a Tokio runtime.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] if the interpreter has exited before, or for more than 8 MiB of code; [`ErrorKind::Engine`]
    /// if the engine fails.
    pub async fn run_with(
        &mut self,
        code: &str,
        timeout: Option<Duration>,
        sink: Option<OutputSink<'_>>,
    ) -> Result<PythonResponse> {
        if self.has_exited() {
            let message = "the interpreter has exited and its variables are lost; start another session";
            return Err(Error::new(ErrorKind::InvalidRequest, OPERATION, message));
        }
        let response = self.process.request(code.as_bytes().to_vec(), timeout, sink).await?;
        let reply: Reply = match &response.reply {
            None => Reply::default(),
            Some(bytes) => serde_json::from_slice(bytes).map_err(|error| {
                let message = format!("cannot parse the response of the interpreter: {error}");
                Error::new(ErrorKind::Protocol, OPERATION, message)
            })?,
        };
        let Reply { value, error, figures } = reply;
        Ok(PythonResponse { value, error, figures, output: response.response })
    }

    /// Returns whether the interpreter has exited.
    pub fn has_exited(&self) -> bool {
        self.process.has_exited()
    }
}

const OPERATION: &str = "run python";
