//! A Python interpreter in a sandbox that keeps its variables.

use std::sync::Arc;

use pyo3::prelude::*;
use tidebox::{PythonExt, PythonSession, Sandbox};
use tokio::sync::Mutex;

use crate::arguments::duration;
use crate::deferred::DeferredSandbox;
use crate::errors::{checked, invalid};
use crate::execute::ExecuteResult;
use crate::runtime;

/// An interpreter. Calls run one after the other.
#[pyclass(frozen, module = "tidebox")]
pub(crate) struct NativePythonSession(Arc<Mutex<Session>>);

enum Session {
    Started(PythonSession<Arc<Sandbox>>),
    /// The sandbox is being created; the first call starts the session.
    Deferred(Arc<DeferredSandbox>),
}

impl Session {
    async fn started(&mut self) -> PyResult<&mut PythonSession<Arc<Sandbox>>> {
        if let Self::Deferred(sandbox) = self {
            let sandbox = checked(sandbox.created().await)?;
            *self = Self::Started(checked(sandbox.python_session())?);
        }
        match self {
            Self::Started(session) => Ok(session),
            Self::Deferred(_) => Err(invalid("the session did not start")),
        }
    }
}

impl NativePythonSession {
    pub(crate) fn new(session: PythonSession<Arc<Sandbox>>) -> Self {
        Self(Arc::new(Mutex::new(Session::Started(session))))
    }

    pub(crate) fn deferred(sandbox: Arc<DeferredSandbox>) -> Self {
        Self(Arc::new(Mutex::new(Session::Deferred(sandbox))))
    }
}

#[pymethods]
impl NativePythonSession {
    fn run<'py>(
        &self,
        py: Python<'py>,
        code: String,
        timeout: Option<f64>,
        asynchronous: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let timeout = timeout.map(|seconds| duration(seconds, "timeout")).transpose()?;
        let session = Arc::clone(&self.0);
        runtime::run(py, asynchronous, async move {
            let mut session = session.lock().await;
            let session = session.started().await?;
            let response = checked(session.run_with(&code, timeout, None).await)?;
            let error = response.error.map(|error| (error.name, error.message, error.traceback));
            Ok(PythonResult {
                value: response.value,
                error,
                figures: response.figures,
                response: ExecuteResult(response.output),
                has_exited: session.has_exited(),
            })
        })
    }

    fn save<'py>(&self, py: Python<'py>, asynchronous: bool) -> PyResult<Bound<'py, PyAny>> {
        let session = Arc::clone(&self.0);
        runtime::run(py, asynchronous, async move {
            let mut session = session.lock().await;
            let saved = checked(session.started().await?.save().await)?;
            Ok(saved.to_bytes())
        })
    }
}

/// Result of code in an interpreter.
#[pyclass(frozen, module = "tidebox")]
#[derive(Debug)]
pub(crate) struct PythonResult {
    /// `repr` of the last expression; None after a statement.
    #[pyo3(get)]
    value: Option<String>,
    error: Option<(String, String, String)>,
    /// Paths of figures that the code showed or left open.
    #[pyo3(get)]
    figures: Vec<String>,
    response: ExecuteResult,
    /// True if the interpreter has exited, after a timeout or `exit()`. Its variables are lost.
    #[pyo3(get)]
    has_exited: bool,
}

#[pymethods]
impl PythonResult {
    /// Both streams in the order of arrival.
    #[getter]
    fn output(&self) -> String {
        self.response.0.output_text().into_owned()
    }

    /// Standard output of the code.
    #[getter]
    fn stdout(&self) -> String {
        self.response.0.stdout_text().into_owned()
    }

    /// Standard error of the code, tracebacks included.
    #[getter]
    fn stderr(&self) -> String {
        self.response.0.stderr_text().into_owned()
    }

    /// Name of the class of the uncaught exception, or None.
    #[getter]
    fn error(&self) -> Option<&str> {
        self.error.as_ref().map(|(name, _, _)| name.as_str())
    }

    /// Text of the uncaught exception, or None.
    #[getter]
    fn error_message(&self) -> Option<&str> {
        self.error.as_ref().map(|(_, message, _)| message.as_str())
    }

    /// Traceback of the uncaught exception, or None.
    #[getter]
    fn traceback(&self) -> Option<&str> {
        self.error.as_ref().map(|(_, _, traceback)| traceback.as_str())
    }

    /// The reason why the code was stopped, such as "timeout", or None.
    #[getter]
    fn stopped_by(&self) -> Option<&'static str> {
        self.response.0.stopped_by.map(tidebox::StopReason::as_str)
    }

    /// Seconds by the sandbox's clock.
    #[getter]
    fn duration(&self) -> f64 {
        self.response.0.duration.as_secs_f64()
    }

    fn __repr__(&self) -> String {
        match (&self.error, &self.value) {
            (Some((name, message, _)), _) => format!("PythonResult(error='{name}: {}')", message.escape_debug()),
            (None, Some(value)) => format!("PythonResult(value='{}')", value.escape_debug()),
            (None, None) => "PythonResult()".to_owned(),
        }
    }
}
