//! Recording of backends and providers.

use std::sync::{Arc, MutexGuard};

use super::call::{Call, Layer, from_layer};
use super::cassette::{Cassette, Interaction, RecordedCall, RecordedResponse};
use super::redaction::Redaction;
use super::response::Response;
use crate::backend::{BoxFuture, OutputSink, SandboxBackend};
use crate::error::Result;
use crate::execute::OutputChunk;
use crate::lock::Mutex;
use crate::provider::{ListPage, ListRequest, SandboxId, SandboxProvider, Selector};

/// Records all calls of the backends and providers that it wraps to one cassette.
///
/// Concurrent calls are recorded in the order in which they started. A call that its caller dropped has no response and is
/// omitted. Clones share the cassette.
#[derive(Clone, Debug)]
pub struct Recorder {
    state: Arc<RecorderState>,
}

#[derive(Debug)]
struct RecorderState {
    redaction: Redaction,
    failures: bool,
    /// One slot per started call, `None` until the call has ended.
    slots: Mutex<Vec<Option<Interaction>>>,
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new(Redaction::new())
    }
}

impl Recorder {
    /// Creates a recorder with an empty cassette.
    pub fn new(redaction: Redaction) -> Self {
        Self { state: Arc::new(RecorderState { redaction, failures: true, slots: Mutex::default() }) }
    }

    /// Omits calls that failed in the backend (no network, a closed sandbox), so that a replay does not repeat the failure. File
    /// errors and failed commands are responses and always recorded.
    #[must_use]
    pub fn skip_failures(self) -> Self {
        Self {
            state: Arc::new(RecorderState {
                redaction: self.state.redaction.clone(),
                failures: false,
                slots: Mutex::default(),
            }),
        }
    }

    /// Wraps a backend so that it is recorded.
    pub fn backend(&self, backend: Arc<dyn SandboxBackend>) -> Arc<dyn SandboxBackend> {
        let id = backend.id().clone();
        self.backend_named(backend, id)
    }

    /// Wraps a backend so that it is recorded under its id on the cassette.
    pub(super) fn backend_named(&self, backend: Arc<dyn SandboxBackend>, id: SandboxId) -> Arc<dyn SandboxBackend> {
        from_layer(RecordLayer { backend, id, state: Arc::clone(&self.state) })
    }

    /// Wraps a provider so that it and every sandbox it returns are recorded.
    pub fn provider(&self, provider: Arc<dyn SandboxProvider>) -> Arc<dyn SandboxProvider> {
        Arc::new(RecordProvider { provider, recorder: self.clone() })
    }

    /// Returns the completed interactions, without calls in progress.
    pub fn cassette(&self) -> Cassette {
        Cassette::of(self.state.slots().iter().flatten().cloned().collect())
    }
}

impl RecorderState {
    fn slots(&self) -> MutexGuard<'_, Vec<Option<Interaction>>> {
        self.slots.lock()
    }

    fn begin(&self) -> usize {
        let mut slots = self.slots();
        slots.push(None);
        slots.len() - 1
    }

    fn end(&self, index: usize, sandbox: Option<&SandboxId>, call: RecordedCall, reply: RecordedResponse) {
        if reply.is_failure() && !self.failures {
            return;
        }
        let sandbox = sandbox.map(|id| self.redaction.text(id.as_str().to_owned()));
        if let Some(index) = self.slots().get_mut(index) {
            *index = Some(Interaction { sandbox, call, answer: reply });
        }
    }
}

#[derive(Debug)]
struct RecordLayer {
    backend: Arc<dyn SandboxBackend>,
    id: SandboxId,
    state: Arc<RecorderState>,
}

impl Layer for RecordLayer {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Response>> {
        Box::pin(async move {
            let index = self.state.begin();
            let recorded_call = RecordedCall::new(&call, &self.state.redaction);
            let mut events = Vec::new();
            let result = match sink {
                Some(sink) => {
                    let mut both = |chunk: OutputChunk| {
                        events.push(chunk.clone());
                        sink(chunk);
                    };
                    call.run(&*self.backend, Some(&mut both)).await
                }
                None => call.run(&*self.backend, None).await,
            };
            let recorded_response = RecordedResponse::new(&result, &events, &self.state.redaction);
            self.state.end(index, Some(&self.id), recorded_call, recorded_response);
            result
        })
    }
}

#[derive(Debug)]
struct RecordProvider {
    provider: Arc<dyn SandboxProvider>,
    recorder: Recorder,
}

impl RecordProvider {
    /// Records one call of the provider.
    async fn record<T>(
        &self,
        recorded_call: impl FnOnce(&Redaction) -> RecordedCall,
        call: impl Future<Output = Result<T>>,
        recorded_response: impl FnOnce(&T, &Redaction) -> RecordedResponse,
    ) -> Result<T> {
        let state = &self.recorder.state;
        let index = state.begin();
        let recorded_call = recorded_call(&state.redaction);
        let result = call.await;
        let reply = match &result {
            Ok(reply) => recorded_response(reply, &state.redaction),
            Err(error) => RecordedResponse::failed(error, &state.redaction),
        };
        state.end(index, None, recorded_call, reply);
        result
    }
}

impl SandboxProvider for RecordProvider {
    fn get_or_create(&self, selector: Selector) -> BoxFuture<'_, Result<Arc<dyn SandboxBackend>>> {
        Box::pin(async move {
            let call = self.provider.get_or_create(selector.clone());
            let recorded_call = |redaction: &Redaction| RecordedCall::get_or_create(&selector, redaction);
            let sandbox = self
                .record(recorded_call, call, |sandbox, redaction| {
                    RecordedResponse::get_or_create(sandbox.id(), redaction)
                })
                .await?;
            Ok(self.recorder.backend(sandbox))
        })
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListPage>> {
        Box::pin(async move {
            let call = self.provider.list(request.clone());
            self.record(|redaction| RecordedCall::list(&request, redaction), call, RecordedResponse::list).await
        })
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let recorded_call = |redaction: &Redaction| RecordedCall::delete_sandbox(id, redaction);
            self.record(recorded_call, self.provider.delete(id), |(), _| RecordedResponse::DeleteSandbox {}).await
        })
    }
}
