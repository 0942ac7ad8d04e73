//! The sandbox as the TypeScript class sees it: methods that answer promises of plain objects.

use std::cell::RefCell;
use std::sync::Arc;

use js_sys::{Array, Promise, Uint8Array};
use tidebox_core::{Error, ExecuteRequest, FileResult, Limits, OutputEvent, OutputStream, SandboxBackend};
use tidebox_js_shapes::{FileTools, promise};
use tidebox_vfs_backend::{Snapshot, VfsBackend};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::answer::{self, failure, object};
use crate::cancel::{Caller, InCall};
use crate::create::Making;
use crate::options::{self, bytes, get, text};
use crate::python::Interpreters;
use crate::{engine, host};

/// One sandbox. This module holds one at a time: process numbers tell guests apart, and two kernels would give the same.
#[wasm_bindgen(js_name = SandboxKernel)]
#[derive(Debug)]
pub struct Sandbox {
    pub(crate) backend: Arc<VfsBackend>,
    files: FileTools,
    pub(crate) limits: Limits,
    pub(crate) making: Making,
    saved: RefCell<Saved>,
    pub(crate) interpreters: Interpreters,
}

/// What the owner of the Worker has of this sandbox, should the Worker have to be terminated.
#[derive(Debug)]
struct Saved {
    /// What the options alone make.
    created: Snapshot,
    last: Snapshot,
    /// Bytes of changes that were handed out since they were last joined.
    bytes: usize,
    /// Bytes of the changes when they were last joined.
    joined: usize,
}

/// Changes are joined when those since are this long, and longer than the joined ones.
const JOIN_BYTES: usize = 4 << 20;

impl Saved {
    fn new(created: Snapshot) -> Self {
        Self { last: created.clone(), created, bytes: 0, joined: 0 }
    }

    /// What has changed since the last call, or since the beginning when `joined` says so.
    fn changes(&mut self, now: Snapshot) -> Option<(bool, Vec<u8>)> {
        let changes = now.changes_since(&self.last)?;
        self.last = now;
        self.bytes += changes.len();
        if self.bytes < JOIN_BYTES.max(self.joined) {
            return Some((false, changes));
        }
        let all = self.last.changes_since(&self.created).unwrap_or_default();
        (self.bytes, self.joined) = (0, all.len());
        Some((true, all))
    }
}

#[wasm_bindgen(js_class = SandboxKernel)]
impl Sandbox {
    /// Makes a sandbox. `programs` is the list of the package; `given` are the options of `Sandbox.create`; `suspends` says
    /// whether JavaScript can suspend guests.
    ///
    /// # Errors
    /// An object of `kind` and `message` for options that cannot be.
    #[wasm_bindgen(constructor)]
    pub fn new(programs: &JsValue, given: &JsValue, suspends: bool) -> Result<Self, JsValue> {
        engine::set_suspends(suspends);
        let making = Making::new(programs, given.clone(), suspends).map_err(|error| failure(&error))?;
        let backend = making.sandbox()?;
        let created = backend.snapshot().map_err(|error| failure(&error))?;
        let limits = options::limits(&get(given, "limits"));
        let backend = Arc::new(backend);
        let files = FileTools::new(Arc::clone(&backend) as Arc<dyn SandboxBackend>, Some(backend.cwd().clone()));
        Ok(Self {
            backend,
            files,
            limits,
            making,
            saved: RefCell::new(Saved::new(created)),
            interpreters: Interpreters::default(),
        })
    }

    /// What has changed since this was last asked, for the owner of the Worker to keep: `bytes`, and `joined` when they
    /// hold everything since the sandbox was made. `undefined` when nothing has changed.
    pub fn changes(&self) -> JsValue {
        let Ok(now) = self.backend.snapshot() else { return JsValue::UNDEFINED };
        let Some((joined, bytes)) = self.saved.borrow_mut().changes(now) else { return JsValue::UNDEFINED };
        object([("joined", joined.into()), ("bytes", Uint8Array::from(bytes.as_slice()).into())])
    }

    /// Puts changes back in, in the order in which they were handed out.
    ///
    /// # Errors
    /// An object of `kind` and `message` for bytes that are none.
    pub fn apply(&self, changes: &[u8]) -> Result<(), JsValue> {
        let mut saved = self.saved.borrow_mut();
        let restored = saved.last.with_changes(changes, &self.limits).map_err(|error| failure(&error))?;
        self.backend.restore(&restored).map_err(|error| failure(&error))?;
        saved.bytes += changes.len();
        saved.last = self.backend.snapshot().map_err(|error| failure(&error))?;
        Ok(())
    }

    /// From here on changes are told from what the sandbox is now: its owner has begun to count anew.
    pub(crate) fn begin_anew(&self) -> Result<(), Error> {
        *self.saved.borrow_mut() = Saved::new(self.backend.snapshot()?);
        Ok(())
    }

    /// The sandbox's id; never empty.
    #[wasm_bindgen(getter)]
    pub fn id(&self) -> String {
        self.backend.id().as_str().to_owned()
    }

    /// Runs a command line. `call` names the command when it is to be cancelled, and for the pieces of its output when
    /// `watched`.
    pub fn execute(&self, command: String, given: &JsValue, call: u32, watched: bool) -> Promise {
        let backend = Arc::clone(&self.backend);
        let request = request(&backend, command, given);
        promise(async move {
            let request = match request {
                Ok(request) => request,
                Err(refusal) => {
                    let output = JsValue::from_str(&format!("tidebox: {}\n", refusal.message));
                    let truncated = JsValue::FALSE;
                    return Ok(object([("output", output), ("exitCode", 126.into()), ("truncated", truncated)]));
                }
            };
            let mut watch = |event: OutputEvent| {
                if !engine::is_delivered() {
                    host::deliver(call, event.stream == OutputStream::Stderr, &event.bytes);
                }
            };
            let running =
                if watched { backend.execute_streaming(request, &mut watch) } else { backend.execute(request) };
            Ok(answer::executed(&InCall::new(Caller { call, watches: watched }, running).await?))
        })
    }

    /// Stops the command that [`execute`](Self::execute) was given this number for, when it still runs. It answers as one
    /// that its caller has given up.
    pub fn cancel(&self, call: u32) {
        engine::stop_call(call);
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

    /// Removes a file, or a directory and what is in it.
    pub fn delete(&self, path: &str) -> Promise {
        self.files.delete(path)
    }

    /// Finds lines that hold a text.
    pub fn grep(&self, pattern: String, path: &str, glob: Option<String>, most: Option<f64>) -> Promise {
        self.files.grep(pattern, path, glob, most)
    }

    /// Finds files by name.
    pub fn glob(&self, pattern: String, path: &str) -> Promise {
        self.files.glob(pattern, path)
    }

    /// Puts files in: an array of pairs of path and bytes.
    #[wasm_bindgen(js_name = uploadFiles)]
    pub fn upload_files(&self, files: &Array) -> Promise {
        self.files.upload_files(files)
    }

    /// Takes files out: an array of paths.
    #[wasm_bindgen(js_name = downloadFiles)]
    pub fn download_files(&self, paths: &Array) -> Promise {
        self.files.download_files(paths)
    }

    /// Ends what runs and frees the files.
    pub fn close(&self) -> Promise {
        let backend = Arc::clone(&self.backend);
        promise(async move {
            backend.close().await?;
            Ok(JsValue::UNDEFINED)
        })
    }
}

fn request(backend: &VfsBackend, command: String, given: &JsValue) -> FileResult<ExecuteRequest> {
    let mut request = ExecuteRequest::new(command);
    request.timeout = options::duration(given, "timeoutMs");
    request.cwd = text(given, "cwd").map(|cwd| backend.cwd().resolve(cwd)).transpose()?;
    request.env = options::variables(&get(given, "env"));
    request.stdin = bytes(&get(given, "stdin"));
    request.shell_mode = text(given, "shellMode").map(|mode| options::shell_mode(&mode));
    Ok(request)
}
