//! A backend whose file operations are all derived.

use std::time::Duration;

use tidebox::{
    BoxFuture, DeleteResponse, Download, EditRequest, EditResponse, ExecuteRequest, ExecuteResponse, FileFuture,
    FileResult, GlobRequest, GlobResponse, GrepRequest, GrepResponse, LsResponse, OutputSink, PortEndpoint,
    ReadRequest, ReadResponse, Result, SandboxBackend, SandboxId, SandboxPath, Upload, UploadResult, WriteRequest,
    WriteResponse,
};
use tidebox_core::shell_backend::{self as derived, ShellTransport};

/// A sandbox with a shell and file transfers.
pub(crate) trait ShellHost: ShellTransport + std::fmt::Debug {
    fn execute(&self, command: String, time: Duration) -> BoxFuture<'_, Result<ExecuteResponse>>;
    fn put(&self, upload: Upload) -> BoxFuture<'_, Result<UploadResult>>;
    fn get(&self, path: Vec<u8>) -> BoxFuture<'_, Result<Download>>;
}

#[derive(Debug)]
pub(crate) struct Derived<M> {
    host: M,
    id: SandboxId,
}

impl<M> Derived<M> {
    pub(crate) fn new(host: M) -> Self {
        Self { host, id: SandboxId::parse("derived").expect("a name") }
    }
}

fn boxed<'a, T>(operation: impl Future<Output = Result<FileResult<T>>> + Send + 'a) -> FileFuture<'a, T> {
    Box::pin(operation)
}

impl<M: ShellHost> SandboxBackend for Derived<M> {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    fn execute(&self, request: ExecuteRequest) -> BoxFuture<'_, Result<ExecuteResponse>> {
        self.host.execute(request.command, request.timeout.unwrap_or(Duration::from_secs(60)))
    }

    fn execute_streaming<'a>(
        &'a self,
        request: ExecuteRequest,
        _: OutputSink<'a>,
    ) -> BoxFuture<'a, Result<ExecuteResponse>> {
        self.execute(request)
    }

    tidebox_core::without_processes!("is derived from a shell");

    fn port_endpoint(&self, _: u16) -> BoxFuture<'_, Result<PortEndpoint>> {
        Box::pin(async { Err(tidebox_core::unsupported_port("port_endpoint", "is derived from a shell")) })
    }

    fn ls<'a>(&'a self, path: &'a SandboxPath) -> FileFuture<'a, LsResponse> {
        boxed(derived::ls(&self.host, path))
    }

    fn read(&self, request: ReadRequest) -> FileFuture<'_, ReadResponse> {
        boxed(async move { derived::read(&self.host, &request).await })
    }

    fn write(&self, request: WriteRequest) -> FileFuture<'_, WriteResponse> {
        boxed(async move { derived::write(&self.host, &request).await })
    }

    fn edit(&self, request: EditRequest) -> FileFuture<'_, EditResponse> {
        boxed(async move { derived::edit(&self.host, &request).await })
    }

    fn delete<'a>(&'a self, path: &'a SandboxPath) -> FileFuture<'a, DeleteResponse> {
        boxed(derived::delete(&self.host, path))
    }

    fn grep(&self, request: GrepRequest) -> FileFuture<'_, GrepResponse> {
        boxed(async move { derived::grep(&self.host, &request).await })
    }

    fn glob(&self, request: GlobRequest) -> FileFuture<'_, GlobResponse> {
        boxed(async move { derived::glob(&self.host, &request).await })
    }

    fn upload_files(&self, files: Vec<Upload>) -> BoxFuture<'_, Result<Vec<UploadResult>>> {
        Box::pin(async move {
            let mut results = Vec::new();
            for file in files {
                results.push(self.host.put(file).await?);
            }
            Ok(results)
        })
    }

    fn download_files(&self, paths: Vec<Vec<u8>>) -> BoxFuture<'_, Result<Vec<Download>>> {
        Box::pin(async move {
            let mut results = Vec::new();
            for path in paths {
                results.push(self.host.get(path).await?);
            }
            Ok(results)
        })
    }

    fn close(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}
