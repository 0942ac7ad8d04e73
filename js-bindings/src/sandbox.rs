//! The sandbox for the TypeScript class: methods that return promises of plain objects.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use futures_util::future::{AbortHandle, Abortable};
use js_sys::{Array, Promise, Uint8Array};
use tidebox_core::{Error, ExecuteRequest, Limits, OutputChunk, OutputStream, SandboxBackend};
use tidebox_js_values::value::{background, execute_request};
use tidebox_js_values::{FileTools, ProcessTools, promise};
use tidebox_vfs_backend::{Packing, Snapshot, VfsBackend};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::call_context::{CallContext, WithContext};
use crate::command_result::command_result;
use crate::create::SandboxRecipe;
use crate::js::{count, failure, object};
use crate::options::{self, bytes, get, text};
use crate::process::check_background;
use crate::python::Interpreters;
use crate::{engine, js_imports, ports};

/// One of the sandboxes of this instance.
#[wasm_bindgen(js_name = SandboxKernel)]
#[derive(Debug)]
pub struct Sandbox {
    /// Its number in JavaScript.
    pub(crate) sandbox: u32,
    pub(crate) backend: Arc<VfsBackend>,
    files: FileTools,
    pub(crate) processes: ProcessTools,
    pub(crate) limits: Limits,
    pub(crate) recipe: SandboxRecipe,
    tracker: RefCell<ChangeTracker>,
    pub(crate) interpreters: Interpreters,
    pub(crate) running: RunningCalls,
}

/// File changes that the owner of the worker has received, for the case that the worker has to be terminated.
#[derive(Debug)]
struct ChangeTracker {
    /// State after creation.
    created: Snapshot,
    last: Snapshot,
    /// Bytes of changes since they were last merged.
    bytes: usize,
    /// Bytes of the changes when they were last merged.
    merged: usize,
}

/// Changes are merged when the new ones exceed this size in bytes and that of the merged ones. The owner keeps up to this much more
/// than the files of each sandbox, also for thousands of them, and the cost of merging stays proportional to the changes.
const MERGE_BYTES: usize = 64 << 10;

/// Bytes that the owner needs for each of the changes in addition, and that applying it costs.
const CHANGE_BYTES: usize = 1024;

impl ChangeTracker {
    fn new(created: Snapshot) -> Self {
        Self { last: created.clone(), created, bytes: 0, merged: 0 }
    }

    /// Returns the changes since the last call, or since creation with `true`.
    fn changes(&mut self, now: Snapshot) -> Option<(bool, Vec<u8>)> {
        let changes = now.changes_since(&self.last, Packing::Raw)?;
        self.last = now;
        self.bytes += changes.len() + CHANGE_BYTES;
        if self.bytes < MERGE_BYTES.max(self.merged) {
            return Some((false, changes));
        }
        let all = self.last.changes_since(&self.created, Packing::Raw).unwrap_or_default();
        (self.bytes, self.merged) = (0, all.len());
        Some((true, all))
    }
}

#[wasm_bindgen(js_class = SandboxKernel)]
impl Sandbox {
    /// Creates a sandbox. `number` identifies it in JavaScript, `input` are the options of `Sandbox.create`, and `suspends` is
    /// whether JavaScript can suspend guests.
    ///
    /// # Errors
    /// An object of `kind` and `message` for invalid options.
    #[wasm_bindgen(constructor)]
    pub fn new(number: u32, input: &JsValue, suspends: bool) -> Result<Self, JsValue> {
        engine::set_suspends(suspends);
        let recipe = SandboxRecipe::new(number, input.clone(), suspends).map_err(|error| failure(&error))?;
        let backend = recipe.sandbox()?;
        let created = backend.snapshot().map_err(|error| failure(&error))?;
        let limits = options::limits(&get(input, "limits"));
        let backend = Arc::new(backend);
        let (shared, cwd) = (Arc::clone(&backend) as Arc<dyn SandboxBackend>, backend.cwd().clone());
        let files = FileTools::new(Arc::clone(&shared), Some(cwd.clone()));
        let processes = ProcessTools::new(shared, Some(cwd));
        Ok(Self {
            sandbox: number,
            backend,
            files,
            processes,
            limits,
            recipe,
            tracker: RefCell::new(ChangeTracker::new(created)),
            interpreters: Interpreters::default(),
            running: RunningCalls::default(),
        })
    }

    /// Returns the changes since the last call, for the owner of the worker: `bytes`, and `merged` if they contain all changes
    /// since creation. `undefined` if nothing has changed.
    pub fn changes(&self) -> JsValue {
        let Ok(now) = self.backend.snapshot() else { return JsValue::UNDEFINED };
        let Some((merged, bytes)) = self.tracker.borrow_mut().changes(now) else { return JsValue::UNDEFINED };
        object([("merged", merged.into()), ("bytes", Uint8Array::from(bytes.as_slice()).into())])
    }

    /// Applies changes, in their original order.
    ///
    /// # Errors
    /// An object of `kind` and `message` for invalid bytes.
    pub fn apply(&self, changes: &[u8]) -> Result<(), JsValue> {
        let mut tracker = self.tracker.borrow_mut();
        let restored = tracker.last.apply_changes(changes, &self.limits).map_err(|error| failure(&error))?;
        self.backend.restore(&restored).map_err(|error| failure(&error))?;
        tracker.bytes += changes.len();
        tracker.last = self.backend.snapshot().map_err(|error| failure(&error))?;
        Ok(())
    }

    /// Starts counting changes from the current state, as the owner does after a restore.
    pub(crate) fn reset_changes(&self) -> Result<(), Error> {
        *self.tracker.borrow_mut() = ChangeTracker::new(self.backend.snapshot()?);
        Ok(())
    }

    /// Returns the resources in use; see `js/usage.ts`, which adds the processor time.
    pub fn usage(&self) -> JsValue {
        let used = self.backend.resource_usage();
        object([
            ("fileBytes", count(used.files.file_bytes)),
            ("inodes", count(used.files.inodes)),
            ("memoryBytes", count(used.memory_bytes)),
            ("pipeBytes", count(used.pipe_bytes)),
            ("processes", count(used.processes)),
            ("openFiles", count(used.open_files)),
        ])
    }

    /// The sandbox's id; never empty.
    #[wasm_bindgen(getter)]
    pub fn id(&self) -> String {
        self.backend.id().as_str().to_owned()
    }

    /// Runs a command line, or an array of a program and its arguments. `call` identifies the command for cancellation, and for its output if `watched`.
    pub fn execute(&self, command: &JsValue, input: &JsValue, call: u32, watched: bool) -> Promise {
        let backend = Arc::clone(&self.backend);
        let request = request(&backend, command, input);
        let (sandbox, calls) = (self.sandbox, self.running.clone());
        promise(async move {
            let request = match request {
                Ok(request) => request,
                Err(rejection) => {
                    let output = JsValue::from_str(&format!("tidebox: {}\n", rejection.message()));
                    let truncated = JsValue::FALSE;
                    return Ok(object([("output", output), ("exitCode", 126.into()), ("truncated", truncated)]));
                }
            };
            check_background(request.background)?;
            let mut on_output = |event: OutputChunk| {
                if !engine::is_delivered() {
                    js_imports::deliver(sandbox, call, event.stream == OutputStream::Stderr, &event.bytes);
                }
            };
            let running =
                if watched { backend.execute_streaming(request, &mut on_output) } else { backend.execute(request) };
            let running = WithContext::new(CallContext { call, streams_output: watched }, running);
            Ok(command_result(&calls.run(call, running).await?))
        })
    }

    /// Cancels the command that [`execute`](Self::execute) runs under this number, if it still runs.
    pub fn cancel(&self, call: u32) {
        engine::stop_call(self.sandbox, call);
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

    /// Ends running commands and processes without waiting for them; their calls reject. JavaScript then frees the sandbox.
    pub fn abort(&self) {
        self.abort_calls();
        self.recipe.abort_tasks();
        ports::abort_all(self.sandbox);
    }

    pub(crate) fn abort_calls(&self) {
        self.running.abort();
        let interpreters = std::mem::take(&mut *self.interpreters.borrow_mut());
        drop(interpreters);
    }
}

/// Commands in progress.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunningCalls(Rc<RefCell<BTreeMap<u32, AbortHandle>>>);

impl RunningCalls {
    /// Completes `work`, unless the sandbox is aborted before.
    pub(crate) async fn run<T>(&self, call: u32, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let (handle, registration) = AbortHandle::new_pair();
        self.0.borrow_mut().insert(call, handle);
        let done = Abortable::new(work, registration).await;
        self.0.borrow_mut().remove(&call);
        done.unwrap_or_else(|_| Err(Error::closed("execute")))
    }

    fn abort(&self) {
        let calls = self.0.take();
        calls.values().for_each(AbortHandle::abort);
    }
}

fn request(backend: &VfsBackend, command: &JsValue, input: &JsValue) -> Result<ExecuteRequest, Error> {
    let mut request = execute_request(command)?;
    request.timeout = options::duration(input, "timeoutMs");
    request.cwd = text(input, "cwd").map(|cwd| backend.cwd().resolve(cwd)).transpose()?;
    request.env = options::variables(&get(input, "env"));
    request.stdin = bytes(&get(input, "stdin"));
    request.shell_mode = text(input, "shellMode").map(|mode| options::shell_mode(&mode));
    if let Some(action) = text(input, "outputOverflow").and_then(|name| name.parse().ok()) {
        request.output_overflow = action;
    }
    request.background = background(input);
    Ok(request)
}
