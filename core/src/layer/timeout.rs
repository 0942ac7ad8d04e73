//! Timeouts of commands.

use std::sync::Arc;
use std::time::Duration;

use super::call::{Call, Layer, from_layer};
use super::response::Response;
use crate::backend::{BoxFuture, OutputSink, SandboxBackend};
use crate::error::Result;
use crate::execute::ExecuteRequest;
use crate::provider::SandboxId;

/// Sets the timeout `default` for commands without one, and limits every timeout to `max`.
///
/// A model may request any timeout; this sets the maximum that the caller waits. The sandbox itself stops the command, so the
/// result is the usual one: exit code 124 and [`StopReason::Timeout`](crate::StopReason::Timeout).
pub fn timeout(backend: Arc<dyn SandboxBackend>, default: Option<Duration>, max: Duration) -> Arc<dyn SandboxBackend> {
    from_layer(Timeout { backend, default, max })
}

#[derive(Debug)]
struct Timeout {
    backend: Arc<dyn SandboxBackend>,
    default: Option<Duration>,
    max: Duration,
}

impl Timeout {
    /// Without a default, a command without a timeout has the backend's, which may exceed `max` and is unknown here: so it gets
    /// `max`.
    fn clamp(&self, mut request: ExecuteRequest) -> ExecuteRequest {
        let requested = request.timeout.or(self.default);
        request.timeout = Some(requested.map_or(self.max, |requested| requested.min(self.max)));
        request
    }
}

impl Layer for Timeout {
    fn id(&self) -> &SandboxId {
        self.backend.id()
    }

    fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Response>> {
        let call = match call {
            Call::Execute(request) => Call::Execute(self.clamp(request)),
            Call::ExecuteStreaming(request) => Call::ExecuteStreaming(self.clamp(request)),
            other => other,
        };
        Box::pin(call.run(&*self.backend, sink))
    }
}
