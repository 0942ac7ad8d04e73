//! File tools and transfers for JavaScript: methods that return promises of plain objects.

use std::sync::Arc;

use js_sys::{Array, Promise};
use tidebox_core::{
    EditRequest, Error, FileResult, GlobRequest, GrepRequest, ReadRequest, SandboxBackend, SandboxPath, Upload,
    WriteRequest,
};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::future_to_promise;

use crate::js::failure;
use crate::neutral::Value;
use crate::response::{self, file_error, file_result};
use crate::value::{bytes, to_integer};

/// Converts a future to a promise. Errors reject it with a plain object of `kind` and `message`.
pub fn promise(reply: impl Future<Output = Result<JsValue, Error>> + 'static) -> Promise {
    future_to_promise(async move { reply.await.map_err(|error| failure(&error)) })
}

type Backend = Arc<dyn SandboxBackend>;

/// The file tools of a backend.
#[derive(Clone, Debug)]
pub struct FileTools {
    backend: Backend,
    cwd: Option<SandboxPath>,
}

impl FileTools {
    /// Relative paths are resolved against `cwd`, and rejected without one.
    pub fn new(backend: Backend, cwd: Option<SandboxPath>) -> Self {
        Self { backend, cwd }
    }

    /// Parses a path from a caller.
    ///
    /// # Errors
    /// An error for an invalid path, and for a relative path without a working directory.
    pub fn path(&self, path: &str) -> FileResult<SandboxPath> {
        match &self.cwd {
            Some(cwd) => cwd.resolve(path),
            None => SandboxPath::parse(path),
        }
    }

    /// Lists a directory.
    pub fn ls(&self, path: &str) -> Promise {
        self.at(path, |backend, path| async move {
            Ok(file_result(backend.ls(&path).await?, |found| response::ls_result(&found)))
        })
    }

    /// Reads lines of a file.
    pub fn read(&self, path: &str, offset: f64, limit: Option<f64>) -> Promise {
        self.at(path, move |backend, path| async move {
            let mut request = ReadRequest::new(path).with_offset(to_integer(offset));
            request.limit = limit.map(to_integer);
            Ok(file_result(backend.read(request).await?, |page| response::read_result(&page)))
        })
    }

    /// Reads a to_integer file.
    pub fn read_raw(&self, path: &str) -> Promise {
        self.at(path, |backend, path| async move {
            let page = match backend.read(ReadRequest::new(path.clone()).with_limit(1)).await? {
                Ok(page) => page,
                Err(error) => return Ok(file_error(&error)),
            };
            let downloads = backend.download_files(vec![path.as_bytes().to_vec()]).await?;
            Ok(match downloads.into_iter().next().map(|download| download.result) {
                Some(Ok(content)) => response::read_raw_result(&page, &content),
                Some(Err(error)) => file_error(&error),
                None => Value::Undefined,
            })
        })
    }

    /// Creates or replaces a file.
    pub fn write(&self, path: &str, content: &JsValue) -> Promise {
        let content = bytes(content);
        self.at(path, |backend, path| async move {
            Ok(file_result(backend.write(WriteRequest::new(path, content)).await?, |written| {
                let created = Value::Bool(written.created);
                Value::object([("path", path_text(&written.path)), ("created", created), ("filesUpdate", Value::Null)])
            }))
        })
    }

    /// Replaces a string in a file.
    pub fn edit(&self, path: &str, old: String, new: String, all: bool) -> Promise {
        self.at(path, move |backend, path| async move {
            let mut request = EditRequest::new(path, old, new);
            request.replace_all = all;
            Ok(file_result(backend.edit(request).await?, |edited| {
                Value::object([
                    ("path", path_text(&edited.path)),
                    ("occurrences", Value::Number(edited.occurrences as f64)),
                    ("filesUpdate", Value::Null),
                ])
            }))
        })
    }

    /// Removes a file, or a directory with its contents.
    pub fn delete(&self, path: &str) -> Promise {
        self.at(path, |backend, path| async move {
            Ok(file_result(backend.delete(&path).await?, |deleted| Value::object([("path", path_text(&deleted.path))])))
        })
    }

    /// Finds lines that contain a text.
    pub fn grep(&self, pattern: String, path: &str, glob: Option<String>, max_count: Option<f64>) -> Promise {
        self.at(path, move |backend, path| async move {
            let mut request = GrepRequest::new(pattern, path);
            request.glob = glob.map(String::into_bytes);
            request.max_count = max_count.map(|max_count| usize::try_from(to_integer(max_count)).unwrap_or(usize::MAX));
            Ok(file_result(backend.grep(request).await?, |matches| response::grep_result(&matches)))
        })
    }

    /// Finds files by name.
    pub fn glob(&self, pattern: String, path: &str) -> Promise {
        self.at(path, move |backend, path| async move {
            Ok(file_result(backend.glob(GlobRequest::new(pattern, path)).await?, |files| response::glob_result(&files)))
        })
    }

    /// Uploads files: an array of pairs of path and bytes.
    pub fn upload_files(&self, files: &Array) -> Promise {
        let backend = Arc::clone(&self.backend);
        let uploads = files.iter().map(|pair| {
            let pair = Array::from(&pair);
            Upload::new(bytes(&pair.get(0)), bytes(&pair.get(1)))
        });
        let uploads: Vec<Upload> = uploads.collect();
        promise(async move { Ok(response::upload_results(&backend.upload_files(uploads).await?).into()) })
    }

    /// Downloads files: an array of paths.
    pub fn download_files(&self, paths: &Array) -> Promise {
        let backend = Arc::clone(&self.backend);
        let paths: Vec<Vec<u8>> = paths.iter().map(|path| bytes(&path)).collect();
        promise(async move { Ok(response::download_results(&backend.download_files(paths).await?).into()) })
    }

    fn at<F>(&self, path: &str, run: impl FnOnce(Backend, SandboxPath) -> F + 'static) -> Promise
    where
        F: Future<Output = Result<Value, Error>> + 'static,
    {
        let (backend, path) = (Arc::clone(&self.backend), self.path(path));
        promise(async move {
            match path {
                Ok(path) => run(backend, path).await.map(JsValue::from),
                Err(error) => Ok(file_error(&error).into()),
            }
        })
    }
}

fn path_text(path: &SandboxPath) -> Value {
    Value::Text(path.to_text().into())
}
