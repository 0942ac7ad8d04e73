//! A bound on what one command returns.

use std::sync::Arc;

use super::answer::Answer;
use super::call::{Call, Layer, layered};
use crate::backend::{BoxFuture, OutputSink, SandboxBackend};
use crate::error::Result;
use crate::execute::{ExecuteRequest, ExecuteResponse, OutputEvent};
use crate::provider::SandboxId;

/// Keeps the first `most` bytes of what a command writes to both streams together, in arrival order. The command goes on,
/// and the response says `truncated`.
///
/// For backends without such a limit of their own. To know the order of arrival it always asks the backend for a stream.
pub fn output_cap(backend: Arc<dyn SandboxBackend>, most: u64) -> Arc<dyn SandboxBackend> {
    layered(OutputCap { backend, most: usize::try_from(most).unwrap_or(usize::MAX) })
}

#[derive(Debug)]
struct OutputCap {
    backend: Arc<dyn SandboxBackend>,
    most: usize,
}

impl OutputCap {
    async fn execute(&self, request: ExecuteRequest, mut sink: Option<OutputSink<'_>>) -> Result<ExecuteResponse> {
        let mut kept = ExecuteResponse::default();
        let mut cut = false;
        let mut keep = |mut event: OutputEvent| {
            let room = self.most.saturating_sub(kept.output.len());
            cut |= event.bytes.len() > room;
            event.bytes.truncate(room);
            if event.bytes.is_empty() {
                return;
            }
            kept.push(&event);
            if let Some(sink) = &mut sink {
                sink(event);
            }
        };
        let mut response = self.backend.execute_streaming(request, &mut keep).await?;
        if cut {
            response.stdout = kept.stdout;
            response.stderr = kept.stderr;
            response.output = kept.output;
            response.truncated = true;
        }
        Ok(response)
    }
}

impl Layer for OutputCap {
    fn id(&self) -> &SandboxId {
        self.backend.id()
    }

    fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            match call {
                Call::Execute(request) | Call::ExecuteStreaming(request) => {
                    Ok(Answer::Execute(self.execute(request, sink).await?))
                }
                other => other.run(&*self.backend, sink).await,
            }
        })
    }
}
