//! Processes that outlive the call that started them.

use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tidebox::{
    OutputCursor, OutputPage, ProcessId, ProcessInfo, ProcessInput, ProcessSignal, ProcessState, ReadOutput,
    SandboxBackend, SandboxPath, Secret, SpawnInput, SpawnRequest, TerminalSize,
};

use crate::arguments::{Command, Content, PathArgument, duration};
use crate::errors::{checked, invalid};
use crate::execute::OutputChunk;
use crate::port::{NativePortEndpoint, port_number};
use crate::runtime;

/// The processes of a sandbox. Its methods wait, or return an awaitable if `asynchronous` is true.
#[pyclass(frozen, module = "tidebox")]
#[derive(Debug)]
pub(crate) struct NativeProcesses {
    backend: Arc<dyn SandboxBackend>,
    /// Base of relative paths.
    cwd: SandboxPath,
}

impl NativeProcesses {
    pub(crate) fn new(backend: Arc<dyn SandboxBackend>, cwd: SandboxPath) -> Self {
        Self { backend, cwd }
    }
}

#[pymethods]
#[allow(clippy::too_many_arguments, reason = "each is a keyword argument in Python")]
impl NativeProcesses {
    fn spawn<'py>(
        &self,
        py: Python<'py>,
        command: Command,
        cwd: Option<PathArgument>,
        env: Vec<(String, String)>,
        stdin: bool,
        terminal: Option<(u16, u16)>,
        timeout: Option<f64>,
        tag: Option<String>,
        asynchronous: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut request = match command {
            Command::Line(line) => SpawnRequest::new(line),
            Command::Arguments(arguments) => checked(SpawnRequest::from_arguments(arguments))?,
        };
        request.cwd = cwd.map(|path| path.resolve(&self.cwd, "cwd")).transpose()?;
        (request.env, request.tag) = (env, tag);
        request.input = if stdin { SpawnInput::Open } else { SpawnInput::Closed };
        request.terminal = terminal.map(|(rows, columns)| TerminalSize { rows, columns });
        request.timeout = timeout.map(|seconds| duration(seconds, "timeout")).transpose()?;
        let backend = Arc::clone(&self.backend);
        runtime::run(
            py,
            asynchronous,
            async move { checked(backend.spawn(request).await).map(|id| id.as_str().to_owned()) },
        )
    }

    fn list<'py>(&self, py: Python<'py>, asynchronous: bool) -> PyResult<Bound<'py, PyAny>> {
        let backend = Arc::clone(&self.backend);
        runtime::run(py, asynchronous, async move {
            Ok(checked(backend.processes().await)?.into_iter().map(ProcessStatus).collect::<Vec<_>>())
        })
    }

    fn read<'py>(
        &self,
        py: Python<'py>,
        id: String,
        after: u64,
        wait: f64,
        max_bytes: Option<usize>,
        asynchronous: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut request = ReadOutput::after(OutputCursor::new(after)).with_wait(duration(wait, "wait")?);
        if let Some(max_bytes) = max_bytes {
            request = request.with_max_bytes(max_bytes);
        }
        let backend = Arc::clone(&self.backend);
        runtime::run(py, asynchronous, async move {
            checked(backend.read_process(&ProcessId::new(id), request).await).map(ProcessOutput)
        })
    }

    /// Writes all bytes, then closes the input if `end` is true.
    fn write<'py>(
        &self,
        py: Python<'py>,
        id: String,
        content: Content,
        end: bool,
        asynchronous: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let backend = Arc::clone(&self.backend);
        runtime::run(py, asynchronous, async move {
            let id = ProcessId::new(id);
            let mut rest = content.0;
            while !rest.is_empty() {
                let written = checked(backend.write_process(&id, ProcessInput::Bytes(rest.clone())).await)?;
                rest.drain(..written.min(rest.len()));
            }
            if end {
                checked(backend.write_process(&id, ProcessInput::End).await)?;
            }
            Ok(())
        })
    }

    fn signal<'py>(
        &self,
        py: Python<'py>,
        id: String,
        signal: &str,
        asynchronous: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let names = || ProcessSignal::ALL.map(ProcessSignal::as_str).join(", ");
        let signal = ProcessSignal::parse(signal)
            .ok_or_else(|| invalid(format!("signal must be one of {}, not {signal:?}", names())))?;
        let backend = Arc::clone(&self.backend);
        runtime::run(
            py,
            asynchronous,
            async move { checked(backend.signal_process(&ProcessId::new(id), signal).await) },
        )
    }

    /// The address of a port. It exists until the result is closed or dropped.
    fn port_endpoint<'py>(&self, py: Python<'py>, port: i64, asynchronous: bool) -> PyResult<Bound<'py, PyAny>> {
        let (backend, port) = (Arc::clone(&self.backend), port_number(port)?);
        runtime::run(py, asynchronous, async move {
            let endpoint = checked(backend.port_endpoint(port).await)?;
            let text = |value: &Secret| String::from_utf8_lossy(value.expose()).into_owned();
            let headers = endpoint.headers.iter().map(|(name, value)| (name.clone(), text(value))).collect();
            Ok(NativePortEndpoint { url: endpoint.url.clone(), headers, endpoint: Mutex::new(Some(endpoint)) })
        })
    }

    fn resize<'py>(
        &self,
        py: Python<'py>,
        id: String,
        rows: u16,
        columns: u16,
        asynchronous: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (backend, size) = (Arc::clone(&self.backend), TerminalSize { rows, columns });
        runtime::run(py, asynchronous, async move { checked(backend.resize_process(&ProcessId::new(id), size).await) })
    }
}

/// A process in a list.
#[pyclass(frozen, module = "tidebox")]
#[derive(Debug)]
pub(crate) struct ProcessStatus(ProcessInfo);

#[pymethods]
impl ProcessStatus {
    /// The id, which `ps` shows too.
    #[getter]
    fn id(&self) -> &str {
        self.0.id.as_str()
    }

    /// The tag of `spawn`, or None.
    #[getter]
    fn tag(&self) -> Option<&str> {
        self.0.tag.as_deref()
    }

    /// The command line.
    #[getter]
    fn command(&self) -> &str {
        &self.0.command
    }

    /// Start in seconds since 1970 by the sandbox's clock.
    #[getter]
    fn started(&self) -> f64 {
        self.0.started.as_secs_f64()
    }

    /// True while it runs.
    #[getter]
    fn running(&self) -> bool {
        !self.0.state.has_ended()
    }

    /// The exit code; 128 + n after signal n. None while it runs.
    #[getter]
    fn exit_code(&self) -> Option<i32> {
        exit_code(&self.0.state)
    }

    /// Bytes that it has written to standard output and standard error.
    #[getter]
    fn written_bytes(&self) -> u64 {
        self.0.written_bytes
    }

    fn __repr__(&self) -> String {
        let Self(info) = self;
        format!(
            "ProcessStatus(id='{}', command='{}', running={})",
            info.id,
            info.command.escape_debug(),
            self.running()
        )
    }
}

fn exit_code(state: &ProcessState) -> Option<i32> {
    match state {
        ProcessState::Running => None,
        ProcessState::Ended { exit_code, .. } => *exit_code,
    }
}

/// A page of output.
#[pyclass(frozen, module = "tidebox")]
#[derive(Debug)]
pub(crate) struct ProcessOutput(OutputPage);

#[pymethods]
impl ProcessOutput {
    /// Both streams in the order of arrival, as text. Bytes that are not UTF-8 become U+FFFD.
    #[getter]
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.bytes()).into_owned()
    }

    /// Both streams in the order of arrival.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.bytes())
    }

    /// The chunks with their streams.
    #[getter]
    fn chunks(&self) -> Vec<OutputChunk> {
        self.0.chunks.iter().cloned().map(OutputChunk::new).collect()
    }

    /// The position after the last byte, for the next read.
    #[getter]
    fn next(&self) -> u64 {
        self.0.next.bytes()
    }

    /// Bytes after the requested position that are no longer kept.
    #[getter]
    fn dropped(&self) -> u64 {
        self.0.dropped
    }

    /// True if the process runs, or has more output.
    #[getter]
    fn running(&self) -> bool {
        !self.0.state.has_ended()
    }

    /// The exit code; 128 + n after signal n. None while it runs.
    #[getter]
    fn exit_code(&self) -> Option<i32> {
        exit_code(&self.0.state)
    }

    /// The reason why the process was stopped, such as "timeout", or None.
    #[getter]
    fn stopped_by(&self) -> Option<&'static str> {
        match self.0.state {
            ProcessState::Ended { stopped_by, .. } => stopped_by.map(tidebox::StopReason::as_str),
            ProcessState::Running => None,
        }
    }

    fn __repr__(&self) -> String {
        let bytes: usize = self.0.chunks.iter().map(|chunk| chunk.bytes.len()).sum();
        format!("ProcessOutput(bytes={bytes}, next={}, running={})", self.next(), self.running())
    }
}
