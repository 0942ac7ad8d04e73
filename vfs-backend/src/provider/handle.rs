//! Handle that a provider returns for a sandbox.

use std::sync::Arc;

use tidebox_core::layer::{Call, Layer, Response};
use tidebox_core::{BoxFuture, OutputSink, Result, SandboxBackend, SandboxId};

use super::live::LiveSandbox;
use super::registry::SandboxRegistry;

/// Counts its calls as uses, fails if the sandbox has expired, and saves changes.
#[derive(Debug)]
pub(super) struct SandboxHandle {
    pub(super) registry: Arc<SandboxRegistry>,
    pub(super) live: Arc<LiveSandbox>,
}

/// A call in progress. It ends on every exit path, including when the caller drops the future.
struct UseGuard<'a>(&'a SandboxHandle);

impl Drop for UseGuard<'_> {
    fn drop(&mut self) {
        self.0.live.end(self.0.registry.now());
    }
}

impl Layer for SandboxHandle {
    fn id(&self) -> &SandboxId {
        self.live.sandbox.id()
    }

    fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Response>> {
        Box::pin(async move {
            let method = call.method();
            if matches!(call, Call::Close) {
                self.registry.close(&self.live).await?;
                return Ok(Response::Close);
            }
            self.registry.expire(&self.live).await?;
            if let Some(error) = self.live.closed_error(method) {
                return Err(error);
            }
            self.live.begin_use(self.registry.now());
            let _use = UseGuard(self);
            let changes =
                !matches!(call, Call::Ls(_) | Call::Read(_) | Call::Grep(_) | Call::Glob(_) | Call::DownloadFiles(_));
            let result = call.run(&*self.live.sandbox, sink).await;
            let due = self.registry.needs_save(&self.live, changes);
            let saved = if due { self.registry.save(&self.live).await } else { Ok(()) };
            // An error of the call itself takes precedence.
            let result = result?;
            saved.map(|()| result)
        })
    }
}
