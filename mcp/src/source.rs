//! Interface to the application that owns the sandboxes.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tidebox_core::{BoxFuture, ExecuteResponse, OutputSink, Result, SandboxBackend};
use tidebox_vfs_backend::VfsBackend;

/// Creates and saves the sandboxes that the server serves.
pub trait SandboxSource: Send + Sync + fmt::Debug {
    /// Creates or loads the sandbox with this name. The server calls it once per name, at the first use, because some clients
    /// start a second server only to read its capabilities.
    ///
    /// # Errors
    /// Those of the sandbox's builder or store. The client gets the message, and the next use tries again.
    fn open<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<OpenSandbox>>;

    /// Saves changes that were not made through [`OpenSandbox::backend`]: by `restore` and by Python. Does nothing for a
    /// sandbox that is not saved.
    ///
    /// # Errors
    /// Those of the store.
    fn save(&self) -> BoxFuture<'_, Result<()>>;

    /// Creates a Python interpreter that keeps its variables between calls.
    ///
    /// # Errors
    /// If the sandbox has no Python.
    fn python(&self, sandbox: Arc<VfsBackend>) -> Result<Box<dyn PythonInterpreter>>;
}

/// A sandbox, and the backend through which it is used.
#[derive(Clone, Debug)]
pub struct OpenSandbox {
    /// The backend for commands and files. It may save the sandbox after each call.
    pub backend: Arc<dyn SandboxBackend>,
    /// Sandbox of the backend, for snapshots and Python.
    pub sandbox: Arc<VfsBackend>,
}

/// A Python interpreter. Dropping it ends it.
pub trait PythonInterpreter: Send + fmt::Debug {
    /// Runs code for at most `timeout` and passes its output to `sink` as it is printed. Dropping the future ends the interpreter.
    ///
    /// # Errors
    /// If the interpreter has exited, or the engine fails.
    fn run<'a>(
        &'a mut self,
        code: &'a str,
        timeout: Duration,
        sink: OutputSink<'a>,
    ) -> BoxFuture<'a, Result<PythonRun>>;

    /// Returns whether the interpreter has exited and its variables are lost.
    fn has_exited(&self) -> bool;
}

/// Result of Python code.
#[derive(Clone, Debug, Default)]
pub struct PythonRun {
    /// `repr` of the last expression.
    pub value: Option<String>,
    /// The uncaught exception.
    pub error: Option<PythonException>,
    /// Paths of the figures that the code showed.
    pub figures: Vec<String>,
    /// Output, duration and stop reason.
    pub output: ExecuteResponse,
}

/// An uncaught Python exception.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PythonException {
    /// Name of its class.
    pub name: String,
    /// Its text, as returned by `str`.
    pub message: String,
    /// The traceback as printed by Python.
    pub traceback: String,
}
