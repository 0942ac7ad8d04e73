//! What a provider hands out: the sandbox, watched.

use std::sync::Arc;

use tidebox_core::layer::{Answer, Call, Layer};
use tidebox_core::{BoxFuture, OutputSink, Result, SandboxBackend, SandboxId};

use super::live::Live;
use super::shelf::Shelf;

/// Counts its calls as uses, refuses when the sandbox's time is over, and saves what changed.
#[derive(Debug)]
pub(super) struct Handle {
    pub(super) shelf: Arc<Shelf>,
    pub(super) live: Arc<Live>,
}

/// A call in progress. It ends on every way out, also when the caller drops the future.
struct Use<'a>(&'a Handle);

impl Drop for Use<'_> {
    fn drop(&mut self) {
        self.0.live.end(self.0.shelf.now());
    }
}

impl Layer for Handle {
    fn id(&self) -> &SandboxId {
        self.live.sandbox.id()
    }

    fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let method = call.method();
            if matches!(call, Call::Close) {
                self.shelf.close(&self.live).await?;
                return Ok(Answer::Close);
            }
            self.shelf.expire(&self.live).await?;
            if let Some(error) = self.live.ended(method) {
                return Err(error);
            }
            self.live.begin(self.shelf.now());
            let _use = Use(self);
            let changes =
                !matches!(call, Call::Ls(_) | Call::Read(_) | Call::Grep(_) | Call::Glob(_) | Call::DownloadFiles(_));
            let answer = call.run(&*self.live.sandbox, sink).await;
            let due = self.shelf.is_due(&self.live, changes);
            let saved = if due { self.shelf.save(&self.live).await } else { Ok(()) };
            // A failure of the call itself is told first.
            let answer = answer?;
            saved.map(|()| answer)
        })
    }
}
