//! Processes that outlive their call, for JavaScript: methods that return promises of plain objects.

use std::sync::Arc;

use js_sys::Promise;
use tidebox_core::{
    Error, ErrorKind, FileError, OutputCursor, ProcessId, ProcessInput, ProcessSignal, ReadOutput, SandboxBackend,
    SandboxPath, SpawnInput, SpawnRequest, TerminalSize,
};
use wasm_bindgen::JsValue;

use crate::files::promise;
use crate::neutral::Value;
use crate::response::{output_page, process_info};
use crate::value::{self, bytes, duration, get, list, text, variables};

/// The processes of a backend.
#[derive(Clone, Debug)]
pub struct ProcessTools {
    backend: Arc<dyn SandboxBackend>,
    cwd: Option<SandboxPath>,
}

impl ProcessTools {
    /// Relative working directories are resolved against `cwd`, and rejected without one.
    pub fn new(backend: Arc<dyn SandboxBackend>, cwd: Option<SandboxPath>) -> Self {
        Self { backend, cwd }
    }

    /// Starts a process and returns its properties.
    pub fn spawn(&self, command: &JsValue, given: &JsValue) -> Promise {
        let (backend, request) = (Arc::clone(&self.backend), self.request(command, given));
        promise(async move {
            let id = backend.spawn(request?).await?;
            let listed = backend.processes().await?;
            // The list has every process until many others have ended.
            let found = listed.iter().rfind(|info| info.id == id);
            let unknown = || Value::object([("id", Value::from(id.as_str()))]);
            Ok(found.map_or_else(unknown, process_info).into())
        })
    }

    fn request(&self, command: &JsValue, given: &JsValue) -> Result<SpawnRequest, Error> {
        let mut request = match command.as_string() {
            Some(line) => SpawnRequest::new(line),
            None => SpawnRequest::from_arguments(list(command).iter().filter_map(JsValue::as_string))?,
        };
        let resolve = |path: String| match &self.cwd {
            Some(cwd) => cwd.resolve(path),
            None => SandboxPath::parse(path),
        };
        let invalid =
            |error: FileError| Error::new(ErrorKind::InvalidRequest, "spawn", format!("cwd: {}", error.message));
        request.cwd = text(given, "cwd").map(resolve).transpose().map_err(invalid)?;
        request.env = variables(&get(given, "env"));
        request.timeout = duration(given, "timeoutMs");
        request.tag = text(given, "tag");
        if get(given, "stdin").is_truthy() {
            request.input = SpawnInput::Open;
        }
        let terminal = get(given, "terminal");
        if !terminal.is_undefined() {
            request.terminal = Some(terminal_size(&terminal));
        }
        Ok(request)
    }

    /// Lists the processes.
    pub fn list(&self) -> Promise {
        let backend = Arc::clone(&self.backend);
        promise(async move { Ok(Value::list(backend.processes().await?.iter().map(process_info)).into()) })
    }

    /// Reads output.
    pub fn read(&self, id: String, given: &JsValue) -> Promise {
        let mut request = ReadOutput::after(OutputCursor::new(value::count(given, "after").unwrap_or(0)));
        request.wait = duration(given, "waitMs").unwrap_or_default();
        if let Some(most) = value::count(given, "maxBytes") {
            request.max_bytes = usize::try_from(most).unwrap_or(usize::MAX);
        }
        self.with(id, |backend, id| async move { Ok(output_page(&backend.read_process(&id, request).await?).into()) })
    }

    /// Writes to standard input and returns the number of bytes that were written; `undefined` closes it.
    pub fn write(&self, id: String, input: &JsValue) -> Promise {
        let input = if input.is_undefined() { ProcessInput::End } else { ProcessInput::Bytes(bytes(input)) };
        self.with(id, |backend, id| async move {
            let written = backend.write_process(&id, input).await?;
            Ok(JsValue::from_f64(written as f64))
        })
    }

    /// Sends a signal.
    pub fn signal(&self, id: String, signal: &str) -> Promise {
        let signal = ProcessSignal::parse(signal).ok_or_else(|| {
            let names = ProcessSignal::ALL.map(ProcessSignal::as_str).join(", ");
            let message = format!("unknown signal '{signal}'; expected one of: {names}");
            Error::new(ErrorKind::InvalidRequest, "signal_process", message)
        });
        self.with(id, |backend, id| async move {
            backend.signal_process(&id, signal?).await?;
            Ok(JsValue::UNDEFINED)
        })
    }

    /// Changes the size of the terminal of a process: an object with `rows` and `columns`.
    pub fn resize(&self, id: String, size: &JsValue) -> Promise {
        let size = terminal_size(size);
        self.with(id, |backend, id| async move {
            backend.resize_process(&id, size).await?;
            Ok(JsValue::UNDEFINED)
        })
    }

    fn with<F>(&self, id: String, work: impl FnOnce(Arc<dyn SandboxBackend>, ProcessId) -> F) -> Promise
    where
        F: Future<Output = Result<JsValue, Error>> + 'static,
    {
        promise(work(Arc::clone(&self.backend), ProcessId::new(id)))
    }
}

/// Converts a size. Numbers that are missing or too large become ones that the backend rejects.
fn terminal_size(value: &JsValue) -> TerminalSize {
    let number = |name| value::count(value, name).and_then(|count| u16::try_from(count).ok()).unwrap_or(0);
    TerminalSize { rows: number("rows"), columns: number("columns") }
}
