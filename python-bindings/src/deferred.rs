//! A local sandbox that is created on another thread, because starting the engine or copying files takes longer than an event loop
//! may wait.

use std::future::Future;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tidebox::{BoxFuture, FileFuture};
use tidebox::{
    DeleteResponse, Download, EditRequest, EditResponse, Error, ErrorKind, ExecuteRequest, ExecuteResponse,
    GlobRequest, GlobResponse, GrepRequest, GrepResponse, LsResponse, OutputPage, OutputSink, PortEndpoint, ProcessId,
    ProcessInfo, ProcessInput, ProcessSignal, ReadOutput, ReadRequest, ReadResponse, Sandbox, SandboxBackend,
    SandboxId, SandboxPath, SpawnRequest, TerminalSize, Upload, UploadResult, WriteRequest, WriteResponse,
};
use tokio::sync::watch;

use crate::runtime;

type Creation = Option<Result<Arc<Sandbox>, Arc<Error>>>;

/// The sandbox. Each operation waits for its creation.
#[derive(Debug)]
pub(crate) struct DeferredSandbox {
    id: SandboxId,
    creation: watch::Receiver<Creation>,
}

impl DeferredSandbox {
    /// Starts the creation. `id` is that of the created sandbox.
    pub(crate) fn start(
        id: SandboxId,
        create: impl FnOnce() -> tidebox::Result<Sandbox> + Send + 'static,
    ) -> PyResult<Self> {
        let (finish, creation) = watch::channel(None);
        runtime::handle()?.spawn_blocking(move || {
            let created = create().map(Arc::new).map_err(Arc::new);
            // No receiver waits if the object was dropped.
            let _ = finish.send(Some(created));
        });
        Ok(Self { id, creation })
    }

    /// Returns the sandbox if it exists.
    pub(crate) fn ready(&self) -> Option<Arc<Sandbox>> {
        self.creation.borrow().as_ref()?.as_ref().ok().map(Arc::clone)
    }

    /// Waits for the sandbox.
    pub(crate) fn created(&self) -> impl Future<Output = tidebox::Result<Arc<Sandbox>>> + Send + use<> {
        let mut creation = self.creation.clone();
        async move {
            let created = creation.wait_for(Option::is_some).await.map(|created| created.clone());
            match created {
                Ok(Some(Ok(sandbox))) => Ok(sandbox),
                Ok(Some(Err(error))) => {
                    let again = Error::new(error.kind(), error.operation().to_owned(), error.message());
                    let with =
                        |again: Error, (name, value): &(_, String)| again.with_context(Clone::clone(name), value);
                    Err(error.context().iter().fold(again, with))
                }
                Ok(None) | Err(_) => Err(Error::new(
                    ErrorKind::Engine,
                    "create a sandbox",
                    "tidebox panicked; this is a bug, please report it",
                )),
            }
        }
    }
}

/// Converts the exception of an invalid option.
pub(crate) fn option_error(error: &PyErr) -> Error {
    let converted = runtime::attach(|py| {
        let kind = if error.is_instance_of::<PyValueError>(py) { ErrorKind::InvalidRequest } else { ErrorKind::Engine };
        Error::new(kind, "create a sandbox", error.value(py).to_string())
    });
    converted.unwrap_or_else(|| Error::new(ErrorKind::Engine, "create a sandbox", "the interpreter exits"))
}

impl SandboxBackend for DeferredSandbox {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    fn execute(&self, request: ExecuteRequest) -> BoxFuture<'_, tidebox::Result<ExecuteResponse>> {
        Box::pin(async move { self.created().await?.execute(request).await })
    }

    fn execute_streaming<'a>(
        &'a self,
        request: ExecuteRequest,
        sink: OutputSink<'a>,
    ) -> BoxFuture<'a, tidebox::Result<ExecuteResponse>> {
        Box::pin(async move { self.created().await?.execute_streaming(request, sink).await })
    }

    fn spawn(&self, request: SpawnRequest) -> BoxFuture<'_, tidebox::Result<ProcessId>> {
        Box::pin(async move { self.created().await?.spawn(request).await })
    }

    fn processes(&self) -> BoxFuture<'_, tidebox::Result<Vec<ProcessInfo>>> {
        Box::pin(async move { self.created().await?.processes().await })
    }

    fn read_process<'a>(
        &'a self,
        id: &'a ProcessId,
        request: ReadOutput,
    ) -> BoxFuture<'a, tidebox::Result<OutputPage>> {
        Box::pin(async move { self.created().await?.read_process(id, request).await })
    }

    fn write_process<'a>(&'a self, id: &'a ProcessId, input: ProcessInput) -> BoxFuture<'a, tidebox::Result<usize>> {
        Box::pin(async move { self.created().await?.write_process(id, input).await })
    }

    fn signal_process<'a>(&'a self, id: &'a ProcessId, signal: ProcessSignal) -> BoxFuture<'a, tidebox::Result<()>> {
        Box::pin(async move { self.created().await?.signal_process(id, signal).await })
    }

    fn resize_process<'a>(&'a self, id: &'a ProcessId, size: TerminalSize) -> BoxFuture<'a, tidebox::Result<()>> {
        Box::pin(async move { self.created().await?.resize_process(id, size).await })
    }

    fn port_endpoint(&self, port: u16) -> BoxFuture<'_, tidebox::Result<PortEndpoint>> {
        Box::pin(async move { self.created().await?.port_endpoint(port).await })
    }

    fn ls<'a>(&'a self, path: &'a SandboxPath) -> FileFuture<'a, LsResponse> {
        Box::pin(async move { self.created().await?.ls(path).await })
    }

    fn read(&self, request: ReadRequest) -> FileFuture<'_, ReadResponse> {
        Box::pin(async move { self.created().await?.read(request).await })
    }

    fn write(&self, request: WriteRequest) -> FileFuture<'_, WriteResponse> {
        Box::pin(async move { self.created().await?.write(request).await })
    }

    fn edit(&self, request: EditRequest) -> FileFuture<'_, EditResponse> {
        Box::pin(async move { self.created().await?.edit(request).await })
    }

    fn delete<'a>(&'a self, path: &'a SandboxPath) -> FileFuture<'a, DeleteResponse> {
        Box::pin(async move { self.created().await?.delete(path).await })
    }

    fn grep(&self, request: GrepRequest) -> FileFuture<'_, GrepResponse> {
        Box::pin(async move { self.created().await?.grep(request).await })
    }

    fn glob(&self, request: GlobRequest) -> FileFuture<'_, GlobResponse> {
        Box::pin(async move { self.created().await?.glob(request).await })
    }

    fn upload_files(&self, files: Vec<Upload>) -> BoxFuture<'_, tidebox::Result<Vec<UploadResult>>> {
        Box::pin(async move { self.created().await?.upload_files(files).await })
    }

    fn download_files(&self, paths: Vec<Vec<u8>>) -> BoxFuture<'_, tidebox::Result<Vec<Download>>> {
        Box::pin(async move { self.created().await?.download_files(paths).await })
    }

    fn close(&self) -> BoxFuture<'_, tidebox::Result<()>> {
        Box::pin(async move { self.created().await?.close().await })
    }
}
