//! A limit on the output of one command.

use std::sync::Arc;

use super::call::{Call, Layer, from_layer};
use super::response::Response;
use crate::backend::{BoxFuture, OutputSink, SandboxBackend};
use crate::error::Result;
use crate::execute::{ExecuteRequest, ExecuteResponse, OutputChunk};
use crate::provider::SandboxId;

/// Keeps the first `max_bytes` bytes of a command's output, of both streams together in order of arrival. The command continues,
/// and the response is marked as `truncated`.
///
/// For backends without such a limit. It always requests a stream from the backend to get the order of arrival.
pub fn output_limit(backend: Arc<dyn SandboxBackend>, max_bytes: u64) -> Arc<dyn SandboxBackend> {
    from_layer(OutputLimit { backend, max_bytes: usize::try_from(max_bytes).unwrap_or(usize::MAX) })
}

#[derive(Debug)]
struct OutputLimit {
    backend: Arc<dyn SandboxBackend>,
    max_bytes: usize,
}

impl OutputLimit {
    async fn execute(&self, request: ExecuteRequest, mut sink: Option<OutputSink<'_>>) -> Result<ExecuteResponse> {
        let mut kept = ExecuteResponse::default();
        let mut truncated = false;
        let mut keep = |mut chunk: OutputChunk| {
            let available = self.max_bytes.saturating_sub(kept.output.len());
            truncated |= chunk.bytes.len() > available;
            chunk.bytes.truncate(available);
            if chunk.bytes.is_empty() {
                return;
            }
            kept.push_chunk(&chunk);
            if let Some(sink) = &mut sink {
                sink(chunk);
            }
        };
        let mut response = self.backend.execute_streaming(request, &mut keep).await?;
        if truncated {
            response.stdout = kept.stdout;
            response.stderr = kept.stderr;
            response.output = kept.output;
            response.truncated = true;
        }
        Ok(response)
    }
}

impl Layer for OutputLimit {
    fn id(&self) -> &SandboxId {
        self.backend.id()
    }

    fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Response>> {
        Box::pin(async move {
            match call {
                Call::Execute(request) | Call::ExecuteStreaming(request) => {
                    Ok(Response::Execute(self.execute(request, sink).await?))
                }
                other => other.run(&*self.backend, sink).await,
            }
        })
    }
}
