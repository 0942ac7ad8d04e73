//! The sandbox as the TypeScript class sees it: methods that answer promises of plain objects.

use std::cell::RefCell;
use std::sync::Arc;

use js_sys::{Array, Promise, Uint8Array};
use tidebox_core::{
    EditRequest, Error, ExecuteRequest, FileResult, GlobRequest, GrepRequest, Limits, OutputEvent, OutputStream,
    ReadRequest, SandboxBackend, SandboxPath, Upload, WriteRequest,
};
use tidebox_vfs_backend::{Snapshot, VfsBackend};
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::future_to_promise;

use crate::answer::{self, failure, object, refused, told};
use crate::cancel::{Caller, InCall};
use crate::create::Making;
use crate::options::{self, bytes, get, text};
use crate::{engine, host};

/// One sandbox. This module holds one at a time: process numbers tell guests apart, and two kernels would give the same.
#[wasm_bindgen(js_name = SandboxKernel)]
#[derive(Debug)]
pub struct Sandbox {
    pub(crate) backend: Arc<VfsBackend>,
    pub(crate) limits: Limits,
    pub(crate) making: Making,
    saved: RefCell<Saved>,
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

/// A future of an answer as a promise. What is thrown is a plain object of `kind` and `message`.
pub(crate) fn promise(answer: impl Future<Output = Result<JsValue, Error>> + 'static) -> Promise {
    future_to_promise(async move { answer.await.map_err(|error| failure(&error)) })
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
        Ok(Self { backend: Arc::new(backend), limits, making, saved: RefCell::new(Saved::new(created)) })
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
    pub fn ls(&self, path: String) -> Promise {
        self.at(path, |backend, path| async move { Ok(told(backend.ls(&path).await?, |found| answer::listed(&found))) })
    }

    /// Reads lines of a file.
    pub fn read(&self, path: String, offset: f64, limit: Option<f64>) -> Promise {
        self.at(path, move |backend, path| async move {
            let mut request = ReadRequest::new(path).with_offset(options::whole(offset));
            request.limit = limit.map(options::whole);
            Ok(told(backend.read(request).await?, |page| answer::page(&page)))
        })
    }

    /// Reads a whole file.
    #[wasm_bindgen(js_name = readRaw)]
    pub fn read_raw(&self, path: String) -> Promise {
        self.at(path, |backend, path| async move {
            let page = match backend.read(ReadRequest::new(path.clone()).with_limit(1)).await? {
                Ok(page) => page,
                Err(refusal) => return Ok(refused(&refusal)),
            };
            let downloads = backend.download_files(vec![path.as_bytes().to_vec()]).await?;
            Ok(match downloads.into_iter().next().map(|download| download.result) {
                Some(Ok(content)) => answer::raw(&page, &content),
                Some(Err(refusal)) => refused(&refusal),
                None => JsValue::UNDEFINED,
            })
        })
    }

    /// Creates or replaces a file.
    pub fn write(&self, path: String, content: JsValue) -> Promise {
        let content = bytes(&content);
        self.at(path, |backend, path| async move {
            Ok(told(backend.write(WriteRequest::new(path, content)).await?, |written| {
                let created = written.created.into();
                object([("path", path_text(&written.path)), ("created", created), ("filesUpdate", JsValue::NULL)])
            }))
        })
    }

    /// Replaces a string in a file.
    pub fn edit(&self, path: String, old: String, new: String, all: bool) -> Promise {
        self.at(path, move |backend, path| async move {
            let mut request = EditRequest::new(path, old, new);
            request.replace_all = all;
            Ok(told(backend.edit(request).await?, |edited| {
                object([
                    ("path", path_text(&edited.path)),
                    ("occurrences", (edited.occurrences as f64).into()),
                    ("filesUpdate", JsValue::NULL),
                ])
            }))
        })
    }

    /// Removes a file, or a directory and what is in it.
    pub fn delete(&self, path: String) -> Promise {
        self.at(path, |backend, path| async move {
            Ok(told(backend.delete(&path).await?, |deleted| object([("path", path_text(&deleted.path))])))
        })
    }

    /// Finds lines that hold a text.
    pub fn grep(&self, pattern: String, path: String, glob: Option<String>, most: Option<f64>) -> Promise {
        self.at(path, move |backend, path| async move {
            let mut request = GrepRequest::new(pattern, path);
            request.glob = glob.map(String::into_bytes);
            request.max_count = most.map(|most| usize::try_from(options::whole(most)).unwrap_or(usize::MAX));
            Ok(told(backend.grep(request).await?, |matches| answer::found(&matches)))
        })
    }

    /// Finds files by name.
    pub fn glob(&self, pattern: String, path: String) -> Promise {
        self.at(path, move |backend, path| async move {
            Ok(told(backend.glob(GlobRequest::new(pattern, path)).await?, |files| answer::globbed(&files)))
        })
    }

    /// Puts files in: an array of pairs of path and bytes.
    #[wasm_bindgen(js_name = uploadFiles)]
    pub fn upload_files(&self, files: &Array) -> Promise {
        let backend = Arc::clone(&self.backend);
        let uploads = files.iter().map(|pair| {
            let pair = Array::from(&pair);
            Upload::new(bytes(&pair.get(0)), bytes(&pair.get(1)))
        });
        let uploads: Vec<Upload> = uploads.collect();
        promise(async move { Ok(answer::uploaded(&backend.upload_files(uploads).await?)) })
    }

    /// Takes files out: an array of paths.
    #[wasm_bindgen(js_name = downloadFiles)]
    pub fn download_files(&self, paths: &Array) -> Promise {
        let backend = Arc::clone(&self.backend);
        let paths: Vec<Vec<u8>> = paths.iter().map(|path| bytes(&path)).collect();
        promise(async move { Ok(answer::downloaded(&backend.download_files(paths).await?)) })
    }

    /// Ends what runs and frees the files.
    pub fn close(&self) -> Promise {
        let backend = Arc::clone(&self.backend);
        promise(async move {
            backend.close().await?;
            Ok(JsValue::UNDEFINED)
        })
    }

    /// A file tool at a path, which may be relative to the working directory.
    fn at<F>(&self, path: String, run: impl FnOnce(Arc<VfsBackend>, SandboxPath) -> F + 'static) -> Promise
    where
        F: Future<Output = Result<JsValue, Error>> + 'static,
    {
        let backend = Arc::clone(&self.backend);
        promise(async move {
            match backend.cwd().resolve(path) {
                Ok(path) => run(backend, path).await,
                Err(refusal) => Ok(refused(&refusal)),
            }
        })
    }
}

fn path_text(path: &SandboxPath) -> JsValue {
    JsValue::from_str(&path.to_text())
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
