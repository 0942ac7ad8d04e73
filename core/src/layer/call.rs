//! Calls of a backend as values, and layers as one function over them.

use std::fmt;
use std::sync::Arc;

use super::response::Response;
use crate::backend::{BoxFuture, FileFuture, OutputSink, SandboxBackend};
use crate::error::Result;
use crate::execute::{ExecuteRequest, ExecuteResponse};
use crate::file::{
    DeleteResponse, EditRequest, EditResponse, LsResponse, ReadRequest, ReadResponse, WriteRequest, WriteResponse,
};
use crate::path::SandboxPath;
use crate::port::PortEndpoint;
use crate::process::{
    OutputPage, ProcessId, ProcessInfo, ProcessInput, ProcessSignal, ReadOutput, SpawnRequest, TerminalSize,
};
use crate::provider::SandboxId;
use crate::search::{GlobRequest, GlobResponse, GrepRequest, GrepResponse};
use crate::transfer::{Download, Upload, UploadResult};

/// One call of a method of [`SandboxBackend`], with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// [`SandboxBackend::execute`].
    Execute(ExecuteRequest),
    /// [`SandboxBackend::execute_streaming`]; the sink is passed next to the call.
    ExecuteStreaming(ExecuteRequest),
    /// [`SandboxBackend::spawn`].
    Spawn(SpawnRequest),
    /// [`SandboxBackend::processes`].
    Processes,
    /// [`SandboxBackend::read_process`].
    ReadProcess(ProcessId, ReadOutput),
    /// [`SandboxBackend::write_process`].
    WriteProcess(ProcessId, ProcessInput),
    /// [`SandboxBackend::signal_process`].
    SignalProcess(ProcessId, ProcessSignal),
    /// [`SandboxBackend::resize_process`].
    ResizeProcess(ProcessId, TerminalSize),
    /// [`SandboxBackend::port_endpoint`].
    PortEndpoint(u16),
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
    /// Returns the method's name.
    pub fn method(&self) -> &'static str {
        match self {
            Self::Execute(_) => "execute",
            Self::ExecuteStreaming(_) => "execute_streaming",
            Self::Spawn(_) => "spawn",
            Self::Processes => "processes",
            Self::ReadProcess(..) => "read_process",
            Self::WriteProcess(..) => "write_process",
            Self::SignalProcess(..) => "signal_process",
            Self::ResizeProcess(..) => "resize_process",
            Self::PortEndpoint(_) => "port_endpoint",
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

    /// Executes the call. A streaming `execute` writes to `sink`; without one its output is only in the response.
    ///
    /// # Errors
    /// Those of the backend's method.
    pub async fn run(self, backend: &dyn SandboxBackend, sink: Option<OutputSink<'_>>) -> Result<Response> {
        Ok(match self {
            Self::Execute(request) => Response::Execute(backend.execute(request).await?),
            Self::ExecuteStreaming(request) => Response::Execute(match sink {
                Some(sink) => backend.execute_streaming(request, sink).await?,
                None => backend.execute_streaming(request, &mut |_| {}).await?,
            }),
            Self::Spawn(request) => Response::Spawn(backend.spawn(request).await?),
            Self::Processes => Response::Processes(backend.processes().await?),
            Self::ReadProcess(id, request) => Response::ReadProcess(backend.read_process(&id, request).await?),
            Self::WriteProcess(id, input) => Response::WriteProcess(backend.write_process(&id, input).await?),
            Self::SignalProcess(id, signal) => Response::SignalProcess(backend.signal_process(&id, signal).await?),
            Self::ResizeProcess(id, size) => Response::ResizeProcess(backend.resize_process(&id, size).await?),
            Self::PortEndpoint(port) => Response::PortEndpoint(backend.port_endpoint(port).await?),
            Self::Ls(path) => Response::Ls(backend.ls(&path).await?),
            Self::Read(request) => Response::Read(backend.read(request).await?),
            Self::Write(request) => Response::Write(backend.write(request).await?),
            Self::Edit(request) => Response::Edit(backend.edit(request).await?),
            Self::Delete(path) => Response::Delete(backend.delete(&path).await?),
            Self::Grep(request) => Response::Grep(backend.grep(request).await?),
            Self::Glob(request) => Response::Glob(backend.glob(request).await?),
            Self::UploadFiles(files) => Response::UploadFiles(backend.upload_files(files).await?),
            Self::DownloadFiles(paths) => Response::DownloadFiles(backend.download_files(paths).await?),
            Self::Close => {
                backend.close().await?;
                Response::Close
            }
        })
    }
}

/// A policy around a backend, as one function.
///
/// ```
/// use std::sync::Arc;
/// use tidebox_core::layer::{Call, Layer, Response, from_layer};
/// use tidebox_core::{BoxFuture, Error, ErrorKind, OutputSink, Result, SandboxBackend, SandboxId};
///
/// /// Rejects changes by the file tools.
/// #[derive(Debug)]
/// struct ReadOnlyTools(Arc<dyn SandboxBackend>);
///
/// impl Layer for ReadOnlyTools {
///     fn id(&self) -> &SandboxId {
///         self.0.id()
///     }
///
///     fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Response>> {
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
///     from_layer(ReadOnlyTools(backend))
/// }
/// ```
pub trait Layer: Send + Sync + fmt::Debug {
    /// Returns the id of the sandbox, usually that of the wrapped backend.
    fn id(&self) -> &SandboxId;

    /// Handles a call, usually by [`Call::run`] on the wrapped backend. The response must be of the call's method. `sink` is set
    /// only for [`Call::ExecuteStreaming`].
    fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Response>>;
}

/// Turns a layer into a backend.
pub fn from_layer(layer: impl Layer + 'static) -> Arc<dyn SandboxBackend> {
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

    fn spawn(&self, request: SpawnRequest) -> BoxFuture<'_, Result<ProcessId>> {
        Box::pin(async move { self.0.call(Call::Spawn(request), None).await?.spawn() })
    }

    fn processes(&self) -> BoxFuture<'_, Result<Vec<ProcessInfo>>> {
        Box::pin(async move { self.0.call(Call::Processes, None).await?.processes() })
    }

    fn read_process<'a>(&'a self, id: &'a ProcessId, request: ReadOutput) -> BoxFuture<'a, Result<OutputPage>> {
        Box::pin(async move { self.0.call(Call::ReadProcess(id.clone(), request), None).await?.read_process() })
    }

    fn write_process<'a>(&'a self, id: &'a ProcessId, input: ProcessInput) -> BoxFuture<'a, Result<usize>> {
        Box::pin(async move { self.0.call(Call::WriteProcess(id.clone(), input), None).await?.write_process() })
    }

    fn signal_process<'a>(&'a self, id: &'a ProcessId, signal: ProcessSignal) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.0.call(Call::SignalProcess(id.clone(), signal), None).await?.signal_process() })
    }

    fn resize_process<'a>(&'a self, id: &'a ProcessId, size: TerminalSize) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.0.call(Call::ResizeProcess(id.clone(), size), None).await?.resize_process() })
    }

    fn port_endpoint(&self, port: u16) -> BoxFuture<'_, Result<PortEndpoint>> {
        Box::pin(async move { self.0.call(Call::PortEndpoint(port), None).await?.port_endpoint() })
    }

    fn ls<'a>(&'a self, path: &'a SandboxPath) -> FileFuture<'a, LsResponse> {
        Box::pin(async move { self.0.call(Call::Ls(path.clone()), None).await?.ls() })
    }

    fn read(&self, request: ReadRequest) -> FileFuture<'_, ReadResponse> {
        Box::pin(async move { self.0.call(Call::Read(request), None).await?.read() })
    }

    fn write(&self, request: WriteRequest) -> FileFuture<'_, WriteResponse> {
        Box::pin(async move { self.0.call(Call::Write(request), None).await?.write() })
    }

    fn edit(&self, request: EditRequest) -> FileFuture<'_, EditResponse> {
        Box::pin(async move { self.0.call(Call::Edit(request), None).await?.edit() })
    }

    fn delete<'a>(&'a self, path: &'a SandboxPath) -> FileFuture<'a, DeleteResponse> {
        Box::pin(async move { self.0.call(Call::Delete(path.clone()), None).await?.delete() })
    }

    fn grep(&self, request: GrepRequest) -> FileFuture<'_, GrepResponse> {
        Box::pin(async move { self.0.call(Call::Grep(request), None).await?.grep() })
    }

    fn glob(&self, request: GlobRequest) -> FileFuture<'_, GlobResponse> {
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
