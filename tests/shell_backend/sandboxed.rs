//! A Tidebox sandbox that exposes only the shell and the file transfers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tidebox::{
    BoxFuture, Dialect, Download, ExecuteRequest, ExecuteResponse, FileFuture, Result, Sandbox, SandboxBackend,
    SandboxPath, Upload, UploadResult,
};
use tidebox_core::shell_backend::{ChunkSink, ShellTransport};

use crate::derived::ShellHost;

#[derive(Debug)]
pub(crate) struct Sandboxed {
    sandbox: Sandbox,
    dialect: Dialect,
    passes_bytes: bool,
    temporary: AtomicU64,
}

impl Sandboxed {
    pub(crate) fn new(dialect: Dialect, passes_bytes: bool) -> Self {
        let sandbox = tidebox::sandbox().expect("the engine starts").build().expect("the sandbox is built");
        Self { sandbox, dialect, passes_bytes, temporary: AtomicU64::new(0) }
    }
}

impl ShellTransport for Sandboxed {
    fn dialect(&self) -> Dialect {
        self.dialect
    }

    fn is_binary_safe(&self) -> bool {
        self.passes_bytes
    }

    fn run_script(&self, script: String, time: Duration) -> BoxFuture<'_, Result<ExecuteResponse>> {
        Box::pin(async move {
            let mut response = self.execute(script, time).await?;
            if !self.passes_bytes {
                // As in a JSON response.
                response.stdout = response.stdout_text().into_owned().into_bytes();
            }
            Ok(response)
        })
    }

    fn fetch<'a>(&'a self, path: &'a SandboxPath, sink: ChunkSink<'a>) -> FileFuture<'a, ()> {
        Box::pin(async move {
            let download = self.get(path.as_bytes().to_vec()).await?;
            Ok(download.result.map(|content| {
                for chunk in content.chunks(10_000) {
                    if !sink(chunk) {
                        break;
                    }
                }
            }))
        })
    }

    fn store<'a>(&'a self, path: &'a SandboxPath, content: &'a [u8]) -> FileFuture<'a, ()> {
        Box::pin(async move { Ok(self.put(Upload::new(path.as_bytes(), content)).await?.result) })
    }

    fn temporary_path(&self) -> SandboxPath {
        let number = self.temporary.fetch_add(1, Ordering::Relaxed);
        SandboxPath::parse(format!("/tmp/derived-{number}")).expect("the path is absolute")
    }
}

impl ShellHost for Sandboxed {
    fn execute(&self, command: String, time: Duration) -> BoxFuture<'_, Result<ExecuteResponse>> {
        self.sandbox.execute(ExecuteRequest::new(command).with_timeout(time))
    }

    fn put(&self, upload: Upload) -> BoxFuture<'_, Result<UploadResult>> {
        Box::pin(async move { Ok(self.sandbox.upload_files(vec![upload]).await?.remove(0)) })
    }

    fn get(&self, path: Vec<u8>) -> BoxFuture<'_, Result<Download>> {
        Box::pin(async move { Ok(self.sandbox.download_files(vec![path]).await?.remove(0)) })
    }
}
