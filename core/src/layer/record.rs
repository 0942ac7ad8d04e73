//! Recording what a backend or a provider answers.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::answer::Answer;
use super::call::{Call, Layer, layered};
use super::cassette::{Answered, Asked, Cassette, Interaction};
use super::redaction::Redaction;
use crate::backend::{BoxFuture, OutputSink, SandboxBackend};
use crate::error::Result;
use crate::execute::OutputEvent;
use crate::provider::{ListPage, ListRequest, SandboxId, SandboxProvider, Selector};

/// Records everything that goes through the backends and providers it wraps, onto one cassette.
///
/// Calls that run at the same time are recorded in the order in which they began. A call that its caller dropped has no
/// answer and is left out. Clones share the cassette.
#[derive(Clone, Debug)]
pub struct Recorder {
    tape: Arc<Tape>,
}

#[derive(Debug)]
struct Tape {
    redaction: Redaction,
    failures: bool,
    /// One place for each call that has begun; empty until it is answered.
    places: Mutex<Vec<Option<Interaction>>>,
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new(Redaction::new())
    }
}

impl Recorder {
    /// A recorder with an empty cassette.
    pub fn new(redaction: Redaction) -> Self {
        Self { tape: Arc::new(Tape { redaction, failures: true, places: Mutex::default() }) }
    }

    /// Leaves out calls that failed on our side (no network, a closed sandbox), so that a replay does not fail likewise.
    /// What a sandbox refuses, and commands that fail, are answers and are recorded in any case.
    #[must_use]
    pub fn without_failures(self) -> Self {
        Self {
            tape: Arc::new(Tape { redaction: self.tape.redaction.clone(), failures: false, places: Mutex::default() }),
        }
    }

    /// The backend, recorded.
    pub fn backend(&self, backend: Arc<dyn SandboxBackend>) -> Arc<dyn SandboxBackend> {
        let id = backend.id().clone();
        self.backend_named(backend, id)
    }

    /// The backend, recorded under the name that it has on the cassette.
    pub(super) fn backend_named(&self, backend: Arc<dyn SandboxBackend>, id: SandboxId) -> Arc<dyn SandboxBackend> {
        layered(Record { backend, id, tape: Arc::clone(&self.tape) })
    }

    /// The provider, recorded with every sandbox that it hands out.
    pub fn provider(&self, provider: Arc<dyn SandboxProvider>) -> Arc<dyn SandboxProvider> {
        Arc::new(RecordProvider { provider, recorder: self.clone() })
    }

    /// What has been recorded so far. Calls in progress are not on it yet.
    pub fn cassette(&self) -> Cassette {
        Cassette::of(self.tape.places().iter().flatten().cloned().collect())
    }
}

impl Tape {
    fn places(&self) -> MutexGuard<'_, Vec<Option<Interaction>>> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) -> usize {
        let mut places = self.places();
        places.push(None);
        places.len() - 1
    }

    fn end(&self, place: usize, sandbox: Option<&SandboxId>, call: Asked, answer: Answered) {
        if answer.is_failure() && !self.failures {
            return;
        }
        let sandbox = sandbox.map(|id| self.redaction.text(id.as_str().to_owned()));
        if let Some(place) = self.places().get_mut(place) {
            *place = Some(Interaction { sandbox, call, answer });
        }
    }
}

#[derive(Debug)]
struct Record {
    backend: Arc<dyn SandboxBackend>,
    id: SandboxId,
    tape: Arc<Tape>,
}

impl Layer for Record {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let place = self.tape.begin();
            let asked = Asked::new(&call, &self.tape.redaction);
            let mut events = Vec::new();
            let result = match sink {
                Some(sink) => {
                    let mut both = |event: OutputEvent| {
                        events.push(event.clone());
                        sink(event);
                    };
                    call.run(&*self.backend, Some(&mut both)).await
                }
                None => call.run(&*self.backend, None).await,
            };
            let answered = Answered::new(&result, &events, &self.tape.redaction);
            self.tape.end(place, Some(&self.id), asked, answered);
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
        asked: impl FnOnce(&Redaction) -> Asked,
        call: impl Future<Output = Result<T>>,
        answered: impl FnOnce(&T, &Redaction) -> Answered,
    ) -> Result<T> {
        let tape = &self.recorder.tape;
        let place = tape.begin();
        let asked = asked(&tape.redaction);
        let result = call.await;
        let answer = match &result {
            Ok(answer) => answered(answer, &tape.redaction),
            Err(error) => Answered::failed(error, &tape.redaction),
        };
        tape.end(place, None, asked, answer);
        result
    }
}

impl SandboxProvider for RecordProvider {
    fn get_or_create(&self, selector: Selector) -> BoxFuture<'_, Result<Arc<dyn SandboxBackend>>> {
        Box::pin(async move {
            let call = self.provider.get_or_create(selector.clone());
            let asked = |redaction: &Redaction| Asked::get_or_create(&selector, redaction);
            let sandbox =
                self.record(asked, call, |sandbox, redaction| Answered::get_or_create(sandbox.id(), redaction)).await?;
            Ok(self.recorder.backend(sandbox))
        })
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListPage>> {
        Box::pin(async move {
            let call = self.provider.list(request.clone());
            self.record(|redaction| Asked::list(&request, redaction), call, Answered::list).await
        })
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let asked = |redaction: &Redaction| Asked::delete_sandbox(id, redaction);
            self.record(asked, self.provider.delete(id), |(), _| Answered::DeleteSandbox {}).await
        })
    }
}
