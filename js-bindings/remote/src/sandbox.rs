//! One remote sandbox for the TypeScript class: methods that return promises of plain objects.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use futures_util::future::{AbortHandle, Abortable};
use js_sys::{Array, Function, Promise, Uint8Array};
use send_wrapper::SendWrapper;
use tidebox_core::lock::Mutex;
use tidebox_core::{
    Error, ErrorKind, ExecuteRequest, ExecuteResponse, OutputChunk, OutputStream, SandboxBackend, SandboxPath,
    ShellMode, StopReason,
};
use tidebox_js_values::value::{background, bytes, duration, execute_request, get, text, variables};
use tidebox_js_values::{FileTools, ProcessTools, js, port_endpoint, promise, response};
use tidebox_remote_adapters::transport::now;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

/// A sandbox at a provider.
#[wasm_bindgen(js_name = RemoteSandbox)]
#[derive(Debug)]
pub struct Sandbox {
    backend: Arc<dyn SandboxBackend>,
    files: FileTools,
    processes: ProcessTools,
    /// Commands in progress, by the numbers that JavaScript assigned.
    running: Rc<RefCell<Vec<(u32, AbortHandle)>>>,
}

/// Exit code of a cancelled command.
const KILLED_CODE: i32 = 137;

impl Sandbox {
    /// Wraps a backend. Relative paths are resolved against `cwd`.
    pub(crate) fn new(backend: Arc<dyn SandboxBackend>, cwd: Option<SandboxPath>) -> Self {
        let files = FileTools::new(Arc::clone(&backend), cwd.clone());
        let processes = ProcessTools::new(Arc::clone(&backend), cwd);
        Self { backend, files, processes, running: Rc::default() }
    }
}

#[wasm_bindgen(js_class = RemoteSandbox)]
impl Sandbox {
    /// The sandbox's id at its provider.
    #[wasm_bindgen(getter)]
    pub fn id(&self) -> String {
        self.backend.id().as_str().to_owned()
    }

    /// Runs a command line, or an array of a program and its arguments. `call` identifies it for [`cancel`](Self::cancel). `streams` requests its output as it arrives, so
    /// that a cancelled command returns its partial output. `watch` is `undefined` or a callback that receives chunks: whether
    /// they are standard error, and the bytes.
    pub fn execute(&self, command: &JsValue, given: &JsValue, call: u32, streams: bool, on_chunk: &JsValue) -> Promise {
        let (backend, running) = (Arc::clone(&self.backend), Rc::clone(&self.running));
        let request = self.request(command, given);
        let on_chunk = on_chunk.dyn_ref::<Function>().cloned().map(SendWrapper::new);
        promise(async move {
            let request = match request {
                Ok(request) => request,
                Err(error) if matches!(error.kind(), ErrorKind::FileOperationFailed | ErrorKind::InvalidRequest) => {
                    return Ok(request_error(&error));
                }
                Err(error) => return Err(error),
            };
            let (handle, registration) = AbortHandle::new_pair();
            running.borrow_mut().push((call, handle));
            let partial = Mutex::new(ExecuteResponse::default());
            let mut sink = |event: OutputChunk| {
                partial.lock().push_chunk(&event);
                if let Some(on_chunk) = &on_chunk {
                    let chunk = Uint8Array::from(event.bytes.as_slice());
                    // The callback is part of this package and catches what the caller's throws.
                    let _ = on_chunk.call2(&JsValue::UNDEFINED, &(event.stream == OutputStream::Stderr).into(), &chunk);
                }
            };
            let started = now();
            let command =
                if streams { backend.execute_streaming(request, &mut sink) } else { backend.execute(request) };
            let ended = Abortable::new(command, registration).await;
            running.borrow_mut().retain(|(number, _)| *number != call);
            let response = ended.unwrap_or_else(|_| {
                let mut response = partial.into_inner();
                (response.exit_code, response.stopped_by) = (Some(KILLED_CODE), Some(StopReason::Cancelled));
                response.duration = started.elapsed();
                Ok(response)
            });
            Ok(response::execute_result(&response?).into())
        })
    }

    /// Cancels the command that [`execute`](Self::execute) runs under this number, also at the provider.
    pub fn cancel(&self, call: u32) {
        for (_, command) in self.running.borrow().iter().filter(|(number, _)| *number == call) {
            command.abort();
        }
    }

    /// Lists a directory.
    pub fn ls(&self, path: &str) -> Promise {
        self.files.ls(path)
    }

    /// Reads lines of a file.
    pub fn read(&self, path: &str, offset: f64, limit: Option<f64>) -> Promise {
        self.files.read(path, offset, limit)
    }

    /// Reads a whole file.
    #[wasm_bindgen(js_name = readRaw)]
    pub fn read_raw(&self, path: &str) -> Promise {
        self.files.read_raw(path)
    }

    /// Creates or replaces a file.
    pub fn write(&self, path: &str, content: &JsValue) -> Promise {
        self.files.write(path, content)
    }

    /// Replaces a string in a file.
    pub fn edit(&self, path: &str, old: String, new: String, all: bool) -> Promise {
        self.files.edit(path, old, new, all)
    }

    /// Removes a file, or a directory with its contents.
    pub fn delete(&self, path: &str) -> Promise {
        self.files.delete(path)
    }

    /// Finds lines that contain a text.
    pub fn grep(&self, pattern: String, path: &str, glob: Option<String>, most: Option<f64>) -> Promise {
        self.files.grep(pattern, path, glob, most)
    }

    /// Finds files by name.
    pub fn glob(&self, pattern: String, path: &str) -> Promise {
        self.files.glob(pattern, path)
    }

    /// Uploads files: an array of pairs of path and bytes.
    #[wasm_bindgen(js_name = uploadFiles)]
    pub fn upload_files(&self, files: &Array) -> Promise {
        self.files.upload_files(files)
    }

    /// Downloads files: an array of paths.
    #[wasm_bindgen(js_name = downloadFiles)]
    pub fn download_files(&self, paths: &Array) -> Promise {
        self.files.download_files(paths)
    }

    /// Starts a process: a command line, or an array of a program and its arguments. Returns its properties.
    pub fn spawn(&self, command: &JsValue, given: &JsValue) -> Promise {
        self.processes.spawn(command, given)
    }

    /// Lists the processes that this client started.
    pub fn processes(&self) -> Promise {
        self.processes.list()
    }

    /// Reads output of a process.
    #[wasm_bindgen(js_name = readProcess)]
    pub fn read_process(&self, id: String, given: &JsValue) -> Promise {
        self.processes.read(id, given)
    }

    /// Writes to the standard input of a process and returns the number of bytes; `undefined` closes it.
    #[wasm_bindgen(js_name = writeProcess)]
    pub fn write_process(&self, id: String, input: &JsValue) -> Promise {
        self.processes.write(id, input)
    }

    /// Changes the size of the terminal of a process.
    #[wasm_bindgen(js_name = resizeProcess)]
    pub fn resize_process(&self, id: String, size: &JsValue) -> Promise {
        self.processes.resize(id, size)
    }

    /// Sends a signal to a process and its children.
    #[wasm_bindgen(js_name = signalProcess)]
    pub fn signal_process(&self, id: String, signal: &str) -> Promise {
        self.processes.signal(id, signal)
    }

    /// Returns the provider's address of a port: an object with `url` and `headers`, a list of pairs.
    #[wasm_bindgen(js_name = portEndpoint)]
    pub fn port_endpoint(&self, port: u16) -> Promise {
        port_endpoint(&self.backend, port)
    }

    /// Stops running commands and keeps the sandbox.
    pub fn close(&self) -> Promise {
        let backend = Arc::clone(&self.backend);
        promise(async move {
            backend.close().await?;
            Ok(JsValue::UNDEFINED)
        })
    }

    fn request(&self, command: &JsValue, given: &JsValue) -> Result<ExecuteRequest, Error> {
        let mut request = execute_request(command)?;
        request.timeout = duration(given, "timeoutMs");
        request.cwd = text(given, "cwd").map(|cwd| self.files.path(&cwd)).transpose().map_err(Error::from)?;
        request.env = variables(&get(given, "env"));
        request.stdin = bytes(&get(given, "stdin"));
        request.shell_mode = text(given, "shellMode").map(|mode| match mode.as_str() {
            "persistent" => ShellMode::Persistent,
            _ => ShellMode::Fresh,
        });
        if let Some(action) = text(given, "outputOverflow").and_then(|name| name.parse().ok()) {
            request.output_overflow = action;
        }
        request.background = background(given);
        Ok(request)
    }
}

/// Result of a command with an invalid working directory or list of arguments, as of the local sandbox.
fn request_error(error: &Error) -> JsValue {
    let output = JsValue::from_str(&format!("tidebox: {}\n", error.message()));
    js::object([("output", output), ("exitCode", 126.into()), ("truncated", JsValue::FALSE)])
}
