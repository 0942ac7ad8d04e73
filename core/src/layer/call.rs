//! Calls of a backend as values, and layers as one function over them.

use std::fmt;
use std::sync::Arc;

use super::answer::Answer;
use crate::backend::{BoxFuture, Outcome, OutputSink, SandboxBackend};
use crate::error::Result;
use crate::execute::{ExecuteRequest, ExecuteResponse};
use crate::file::{
    DeleteResponse, EditRequest, EditResponse, LsResponse, ReadRequest, ReadResponse, WriteRequest, WriteResponse,
};
use crate::path::SandboxPath;
use crate::provider::SandboxId;
use crate::search::{GlobRequest, GlobResponse, GrepRequest, GrepResponse};
use crate::transfer::{Download, Upload, UploadResult};

/// One call of a method of [`SandboxBackend`], with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// [`SandboxBackend::execute`].
    Execute(ExecuteRequest),
    /// [`SandboxBackend::execute_streaming`]; the sink travels beside the call.
    ExecuteStreaming(ExecuteRequest),
    /// [`SandboxBackend::ls`].
    Ls(SandboxPath),
    /// [`SandboxBackend::read`].
    Read(ReadRequest),
    /// [`SandboxBackend::write`].
    Write(WriteRequest),
    /// [`SandboxBackend::edit`].
    Edit(EditRequest),
    /// [`SandboxBackend::delete`].
    Delete(SandboxPath),
    /// [`SandboxBackend::grep`].
    Grep(GrepRequest),
    /// [`SandboxBackend::glob`].
    Glob(GlobRequest),
    /// [`SandboxBackend::upload_files`].
    UploadFiles(Vec<Upload>),
    /// [`SandboxBackend::download_files`].
    DownloadFiles(Vec<Vec<u8>>),
    /// [`SandboxBackend::close`].
    Close,
}

impl Call {
    /// The method's name.
    pub fn method(&self) -> &'static str {
        match self {
            Self::Execute(_) => "execute",
            Self::ExecuteStreaming(_) => "execute_streaming",
            Self::Ls(_) => "ls",
            Self::Read(_) => "read",
            Self::Write(_) => "write",
            Self::Edit(_) => "edit",
            Self::Delete(_) => "delete",
            Self::Grep(_) => "grep",
            Self::Glob(_) => "glob",
            Self::UploadFiles(_) => "upload_files",
            Self::DownloadFiles(_) => "download_files",
            Self::Close => "close",
        }
    }

    /// Makes the call. `sink` is where a streaming `execute` writes to; without one its output is only in the answer.
    ///
    /// # Errors
    /// What the backend's method answers.
    pub async fn run(self, backend: &dyn SandboxBackend, sink: Option<OutputSink<'_>>) -> Result<Answer> {
        Ok(match self {
            Self::Execute(request) => Answer::Execute(backend.execute(request).await?),
            Self::ExecuteStreaming(request) => Answer::Execute(match sink {
                Some(sink) => backend.execute_streaming(request, sink).await?,
                None => backend.execute_streaming(request, &mut |_| {}).await?,
            }),
            Self::Ls(path) => Answer::Ls(backend.ls(&path).await?),
            Self::Read(request) => Answer::Read(backend.read(request).await?),
            Self::Write(request) => Answer::Write(backend.write(request).await?),
            Self::Edit(request) => Answer::Edit(backend.edit(request).await?),
            Self::Delete(path) => Answer::Delete(backend.delete(&path).await?),
            Self::Grep(request) => Answer::Grep(backend.grep(request).await?),
            Self::Glob(request) => Answer::Glob(backend.glob(request).await?),
            Self::UploadFiles(files) => Answer::UploadFiles(backend.upload_files(files).await?),
            Self::DownloadFiles(paths) => Answer::DownloadFiles(backend.download_files(paths).await?),
            Self::Close => {
                backend.close().await?;
                Answer::Close
            }
        })
    }
}

/// A policy round a backend, as one function.
///
/// ```
/// use std::sync::Arc;
/// use tidebox_core::layer::{Answer, Call, Layer, layered};
/// use tidebox_core::{BoxFuture, Error, ErrorKind, OutputSink, Result, SandboxBackend, SandboxId};
///
/// /// Lets nobody change a file by the file tools.
/// #[derive(Debug)]
/// struct ReadOnlyTools(Arc<dyn SandboxBackend>);
///
/// impl Layer for ReadOnlyTools {
///     fn id(&self) -> &SandboxId {
///         self.0.id()
///     }
///
///     fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Answer>> {
///         Box::pin(async move {
///             match call {
///                 Call::Write(_) | Call::Edit(_) | Call::Delete(_) | Call::UploadFiles(_) => {
///                     let message = "files are read-only here; use a command";
///                     Err(Error::new(ErrorKind::Unsupported, call.method(), message))
///                 }
///                 call => call.run(&*self.0, sink).await,
///             }
///         })
///     }
/// }
///
/// fn read_only(backend: Arc<dyn SandboxBackend>) -> Arc<dyn SandboxBackend> {
///     layered(ReadOnlyTools(backend))
/// }
/// ```
pub trait Layer: Send + Sync + fmt::Debug {
    /// The name of the sandbox, usually that of the backend below.
    fn id(&self) -> &SandboxId;

    /// Answers a call, usually by [`Call::run`] on the backend below. The answer must be the call's kind of answer.
    /// `sink` is there for [`Call::ExecuteStreaming`] and for nothing else.
    fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Answer>>;
}

/// A layer as a backend.
pub fn layered(layer: impl Layer + 'static) -> Arc<dyn SandboxBackend> {
    Arc::new(Layered(layer))
}

#[derive(Debug)]
struct Layered<L>(L);

impl<L: Layer> SandboxBackend for Layered<L> {
    fn id(&self) -> &SandboxId {
        self.0.id()
    }

    fn execute(&self, request: ExecuteRequest) -> BoxFuture<'_, Result<ExecuteResponse>> {
        Box::pin(async move { self.0.call(Call::Execute(request), None).await?.execute() })
    }

    fn execute_streaming<'a>(
        &'a self,
        request: ExecuteRequest,
        sink: OutputSink<'a>,
    ) -> BoxFuture<'a, Result<ExecuteResponse>> {
        Box::pin(async move { self.0.call(Call::ExecuteStreaming(request), Some(sink)).await?.execute() })
    }

    fn ls<'a>(&'a self, path: &'a SandboxPath) -> Outcome<'a, LsResponse> {
        Box::pin(async move { self.0.call(Call::Ls(path.clone()), None).await?.ls() })
    }

    fn read(&self, request: ReadRequest) -> Outcome<'_, ReadResponse> {
        Box::pin(async move { self.0.call(Call::Read(request), None).await?.read() })
    }

    fn write(&self, request: WriteRequest) -> Outcome<'_, WriteResponse> {
        Box::pin(async move { self.0.call(Call::Write(request), None).await?.write() })
    }

    fn edit(&self, request: EditRequest) -> Outcome<'_, EditResponse> {
        Box::pin(async move { self.0.call(Call::Edit(request), None).await?.edit() })
    }

    fn delete<'a>(&'a self, path: &'a SandboxPath) -> Outcome<'a, DeleteResponse> {
        Box::pin(async move { self.0.call(Call::Delete(path.clone()), None).await?.delete() })
    }

    fn grep(&self, request: GrepRequest) -> Outcome<'_, GrepResponse> {
        Box::pin(async move { self.0.call(Call::Grep(request), None).await?.grep() })
    }

    fn glob(&self, request: GlobRequest) -> Outcome<'_, GlobResponse> {
        Box::pin(async move { self.0.call(Call::Glob(request), None).await?.glob() })
    }

    fn upload_files(&self, files: Vec<Upload>) -> BoxFuture<'_, Result<Vec<UploadResult>>> {
        Box::pin(async move { self.0.call(Call::UploadFiles(files), None).await?.upload_files() })
    }

    fn download_files(&self, paths: Vec<Vec<u8>>) -> BoxFuture<'_, Result<Vec<Download>>> {
        Box::pin(async move { self.0.call(Call::DownloadFiles(paths), None).await?.download_files() })
    }

    fn close(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move { self.0.call(Call::Close, None).await?.close() })
    }
}
