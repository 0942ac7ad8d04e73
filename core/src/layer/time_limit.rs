//! Wall time of commands.

use std::sync::Arc;
use std::time::Duration;

use super::answer::Answer;
use super::call::{Call, Layer, layered};
use crate::backend::{BoxFuture, OutputSink, SandboxBackend};
use crate::error::Result;
use crate::execute::ExecuteRequest;
use crate::provider::SandboxId;

/// Gives commands that name no timeout `default`, and lets none have more than `most`.
///
/// A model may ask for any timeout; this is where the caller says how long it waits at most. The sandbox itself ends the
/// command, so the answer is the usual one: exit code 124 and [`StopReason::Timeout`](crate::StopReason::Timeout).
pub fn time_limit(
    backend: Arc<dyn SandboxBackend>,
    default: Option<Duration>,
    most: Duration,
) -> Arc<dyn SandboxBackend> {
    layered(TimeLimit { backend, default, most })
}

#[derive(Debug)]
struct TimeLimit {
    backend: Arc<dyn SandboxBackend>,
    default: Option<Duration>,
    most: Duration,
}

impl TimeLimit {
    /// Without a default, a command that names nothing gets what the backend gives, unless that is above `most`, which
    /// only the backend knows: so it gets `most`.
    fn bound(&self, mut request: ExecuteRequest) -> ExecuteRequest {
        let asked = request.timeout.or(self.default);
        request.timeout = Some(asked.map_or(self.most, |asked| asked.min(self.most)));
        request
    }
}

impl Layer for TimeLimit {
    fn id(&self) -> &SandboxId {
        self.backend.id()
    }

    fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Answer>> {
        let call = match call {
            Call::Execute(request) => Call::Execute(self.bound(request)),
            Call::ExecuteStreaming(request) => Call::ExecuteStreaming(self.bound(request)),
            other => other,
        };
        Box::pin(call.run(&*self.backend, sink))
    }
}
