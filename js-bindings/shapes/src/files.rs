//! File tools and transfers as JavaScript calls them: methods that answer promises of plain objects.

use std::sync::Arc;

use js_sys::{Array, Promise};
use tidebox_core::{
    EditRequest, Error, FileResult, GlobRequest, GrepRequest, ReadRequest, SandboxBackend, SandboxPath, Upload,
    WriteRequest,
};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::future_to_promise;

use crate::answer::{self, failure, object, refused, told};
use crate::value::{bytes, whole};

/// A future of an answer as a promise. What is thrown is a plain object of `kind` and `message`.
pub fn promise(answer: impl Future<Output = Result<JsValue, Error>> + 'static) -> Promise {
    future_to_promise(async move { answer.await.map_err(|error| failure(&error)) })
}

type Backend = Arc<dyn SandboxBackend>;

/// The file tools of a backend.
#[derive(Clone, Debug)]
pub struct FileTools {
    backend: Backend,
    cwd: Option<SandboxPath>,
}

impl FileTools {
    /// Relative paths are below `cwd`; without one they are refused.
    pub fn new(backend: Backend, cwd: Option<SandboxPath>) -> Self {
        Self { backend, cwd }
    }

    /// A path as a caller gives it.
    ///
    /// # Errors
    /// A refusal for what can be no path, and for a relative path where nobody knows what it is relative to.
    pub fn path(&self, path: &str) -> FileResult<SandboxPath> {
        match &self.cwd {
            Some(cwd) => cwd.resolve(path),
            None => SandboxPath::parse(path),
        }
    }

    /// Lists a directory.
    pub fn ls(&self, path: &str) -> Promise {
        self.at(path, |backend, path| async move { Ok(told(backend.ls(&path).await?, |found| answer::listed(&found))) })
    }

    /// Reads lines of a file.
    pub fn read(&self, path: &str, offset: f64, limit: Option<f64>) -> Promise {
        self.at(path, move |backend, path| async move {
            let mut request = ReadRequest::new(path).with_offset(whole(offset));
            request.limit = limit.map(whole);
            Ok(told(backend.read(request).await?, |page| answer::page(&page)))
        })
    }

    /// Reads a whole file.
    pub fn read_raw(&self, path: &str) -> Promise {
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
    pub fn write(&self, path: &str, content: &JsValue) -> Promise {
        let content = bytes(content);
        self.at(path, |backend, path| async move {
            Ok(told(backend.write(WriteRequest::new(path, content)).await?, |written| {
                let created = written.created.into();
                object([("path", path_text(&written.path)), ("created", created), ("filesUpdate", JsValue::NULL)])
            }))
        })
    }

    /// Replaces a string in a file.
    pub fn edit(&self, path: &str, old: String, new: String, all: bool) -> Promise {
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
    pub fn delete(&self, path: &str) -> Promise {
        self.at(path, |backend, path| async move {
            Ok(told(backend.delete(&path).await?, |deleted| object([("path", path_text(&deleted.path))])))
        })
    }

    /// Finds lines that hold a text.
    pub fn grep(&self, pattern: String, path: &str, glob: Option<String>, most: Option<f64>) -> Promise {
        self.at(path, move |backend, path| async move {
            let mut request = GrepRequest::new(pattern, path);
            request.glob = glob.map(String::into_bytes);
            request.max_count = most.map(|most| usize::try_from(whole(most)).unwrap_or(usize::MAX));
            Ok(told(backend.grep(request).await?, |matches| answer::found(&matches)))
        })
    }

    /// Finds files by name.
    pub fn glob(&self, pattern: String, path: &str) -> Promise {
        self.at(path, move |backend, path| async move {
            Ok(told(backend.glob(GlobRequest::new(pattern, path)).await?, |files| answer::globbed(&files)))
        })
    }

    /// Puts files in: an array of pairs of path and bytes.
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
    pub fn download_files(&self, paths: &Array) -> Promise {
        let backend = Arc::clone(&self.backend);
        let paths: Vec<Vec<u8>> = paths.iter().map(|path| bytes(&path)).collect();
        promise(async move { Ok(answer::downloaded(&backend.download_files(paths).await?)) })
    }

    fn at<F>(&self, path: &str, run: impl FnOnce(Backend, SandboxPath) -> F + 'static) -> Promise
    where
        F: Future<Output = Result<JsValue, Error>> + 'static,
    {
        let (backend, path) = (Arc::clone(&self.backend), self.path(path));
        promise(async move {
            match path {
                Ok(path) => run(backend, path).await,
                Err(refusal) => Ok(refused(&refusal)),
            }
        })
    }
}

fn path_text(path: &SandboxPath) -> JsValue {
    JsValue::from_str(&path.to_text())
}
