//! Results of commands.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use tidebox::{ExecuteResponse, OutputStream};

/// Result of a command.
#[pyclass(frozen, module = "tidebox")]
#[derive(Debug)]
pub(crate) struct ExecuteResult(pub(crate) ExecuteResponse);

#[pymethods]
impl ExecuteResult {
    /// Standard output and standard error in the order of arrival, as text. Bytes that are not UTF-8 become U+FFFD.
    #[getter]
    fn output<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::new(py, &self.0.output_text())
    }

    /// Standard output as text.
    #[getter]
    fn stdout<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::new(py, &self.0.stdout_text())
    }

    /// Standard error as text, with messages of Tidebox about limits.
    #[getter]
    fn stderr<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::new(py, &self.0.stderr_text())
    }

    /// Both streams in the order of arrival.
    #[getter]
    fn output_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.output)
    }

    /// Standard output.
    #[getter]
    fn stdout_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.stdout)
    }

    /// Standard error.
    #[getter]
    fn stderr_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.stderr)
    }

    /// The exit code; 128 + n after signal n. None only if a provider does not report it.
    #[getter]
    fn exit_code(&self) -> Option<i32> {
        self.0.exit_code
    }

    /// True if output was dropped at `Limits.output_bytes`.
    #[getter]
    fn truncated(&self) -> bool {
        self.0.truncated
    }

    /// The reason why the command was stopped, or the first limit that it reached before it failed, such as "timeout" or
    /// "memory"; else None.
    #[getter]
    fn stopped_by(&self) -> Option<&'static str> {
        self.0.stopped_by.map(tidebox::StopReason::as_str)
    }

    /// The id of the process that runs on after the command, with `background=True`; else None.
    #[getter]
    fn process(&self) -> Option<&str> {
        self.0.process.as_ref().map(tidebox::ProcessId::as_str)
    }

    /// Seconds by the sandbox's clock.
    #[getter]
    fn duration(&self) -> f64 {
        self.0.duration.as_secs_f64()
    }

    /// Seconds of processor time of all its processes; None if unknown, and in a deterministic sandbox.
    #[getter]
    fn cpu_time(&self) -> Option<f64> {
        self.0.cpu_time.map(|time| time.as_secs_f64())
    }

    /// Peak memory of all its processes together in bytes; 0 if unknown.
    #[getter]
    fn peak_memory_bytes(&self) -> u64 {
        self.0.peak_memory_bytes
    }

    /// True if the exit code is 0.
    #[getter]
    fn ok(&self) -> bool {
        self.0.exit_code == Some(0)
    }

    fn __repr__(&self) -> String {
        let code = self.0.exit_code.map_or_else(|| "None".to_owned(), |code| code.to_string());
        let stopped = self.0.stopped_by.map(|reason| format!(", stopped_by='{reason}'")).unwrap_or_default();
        let truncated = if self.0.truncated { ", truncated=True" } else { "" };
        format!("ExecuteResult(exit_code={code}, output={}{truncated}{stopped})", excerpt(&self.0.output_text()))
    }
}

/// Returns the start of a text as Python writes it.
fn excerpt(text: &str) -> String {
    const SHOWN: usize = 200;
    let start: String = text.chars().take(SHOWN).collect();
    let dots = if start.len() < text.len() { "..." } else { "" };
    format!("'{}{dots}'", start.escape_debug())
}

/// A chunk of output. It may end within a line; as text it never ends within a character.
#[pyclass(frozen, module = "tidebox")]
#[derive(Debug)]
pub(crate) struct OutputChunk {
    /// "stdout" or "stderr".
    #[pyo3(get)]
    stream: &'static str,
    bytes: Vec<u8>,
}

impl OutputChunk {
    pub(crate) fn new(chunk: tidebox::OutputChunk) -> Self {
        let stream = match chunk.stream {
            OutputStream::Stdout => "stdout",
            OutputStream::Stderr => "stderr",
        };
        Self { stream, bytes: chunk.bytes }
    }
}

#[pymethods]
impl OutputChunk {
    /// The bytes.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }

    fn __repr__(&self) -> String {
        format!("OutputChunk(stream='{}', data=b{})", self.stream, excerpt(&String::from_utf8_lossy(&self.bytes)))
    }
}
