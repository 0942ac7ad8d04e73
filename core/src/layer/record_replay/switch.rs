//! Switch from a replay to a live backend.

use std::fmt;
use std::sync::{Arc, MutexGuard};

use super::LiveFactory;
use crate::backend::{BoxFuture, OutputSink, SandboxBackend};
use crate::error::{ErrorKind, Result};
use crate::layer::call::{Call, Layer};
use crate::layer::cassette::Cassette;
use crate::layer::record::Recorder;
use crate::layer::redaction::Redaction;
use crate::layer::replay::{Recorded, Replayer, emit};
use crate::layer::response::Response;
use crate::lock::Mutex;
use crate::provider::SandboxId;

/// Replays until a request is unrecorded, then brings a live backend to the state of the replay and continues with it.
#[derive(Debug)]
pub(super) struct SwitchToLive {
    replayer: Replayer,
    id: SandboxId,
    live: LiveFactory,
    redaction: Redaction,
    phase: Mutex<Phase>,
    /// Held by the call that switches to the live backend; other unrecorded calls wait for it.
    switch_lock: futures_util::lock::Mutex<()>,
}

#[derive(Debug)]
enum Phase {
    /// The replayed calls, unredacted: a redacted call could not be repeated.
    Replaying(Vec<ReplayedCall>),
    Live {
        recorder: Recorder,
        backend: Arc<dyn SandboxBackend>,
    },
}

#[derive(Clone)]
struct ReplayedCall {
    call: Call,
    /// The recorded call failed, so repeating it may fail too.
    failed: bool,
}

impl fmt::Debug for ReplayedCall {
    /// Omits the arguments, which contain secrets that the cassette does not.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplayedCall")
            .field("method", &self.call.method())
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}

impl SwitchToLive {
    pub(super) fn new(replayer: Replayer, id: SandboxId, live: LiveFactory, redaction: Redaction) -> Self {
        let phase = Mutex::new(Phase::Replaying(Vec::new()));
        Self { replayer, id, live, redaction, phase, switch_lock: futures_util::lock::Mutex::new(()) }
    }

    /// Returns `None` until a request was unrecorded.
    pub(super) fn recorded(&self) -> Option<Cassette> {
        match &*self.phase() {
            Phase::Replaying(_) => None,
            Phase::Live { recorder, .. } => Some(recorder.cassette()),
        }
    }

    pub(super) fn unused(&self) -> Vec<String> {
        match &*self.phase() {
            Phase::Replaying(_) => self.replayer.unused(),
            Phase::Live { .. } => Vec::new(),
        }
    }

    fn phase(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock()
    }

    fn step(&self, call: &Call) -> Result<Step> {
        match &mut *self.phase() {
            Phase::Live { backend, .. } => Ok(Step::Live(Arc::clone(backend))),
            Phase::Replaying(calls) => match self.replayer.lookup(&self.id, call) {
                Ok(recorded) => {
                    calls.push(ReplayedCall { call: call.clone(), failed: recorded.1.is_err() });
                    Ok(Step::Replayed(recorded))
                }
                Err(error) if error.kind() == ErrorKind::NotRecorded => Ok(Step::Missing),
                Err(error) => Err(error),
            },
        }
    }

    async fn switch_to_live(&self) -> Result<Arc<dyn SandboxBackend>> {
        let _only_one = self.switch_lock.lock().await;
        if let Phase::Live { backend, .. } = &*self.phase() {
            return Ok(Arc::clone(backend));
        }
        let recorder = Recorder::new(self.redaction.clone());
        let backend = recorder.backend_named(self.live.make().await?, self.id.clone());
        let mut done = 0;
        while let Some(ReplayedCall { call, failed }) = self.next_replayed_call(done, &recorder, &backend) {
            match call.run(&*backend, None).await {
                Err(error) if !failed => return Err(error),
                _ => done += 1,
            }
        }
        Ok(backend)
    }

    /// Returns the replayed call `at`. If none is left, ends the replay under the same lock.
    fn next_replayed_call(
        &self,
        at: usize,
        recorder: &Recorder,
        backend: &Arc<dyn SandboxBackend>,
    ) -> Option<ReplayedCall> {
        let mut phase = self.phase();
        let next = match &*phase {
            Phase::Replaying(calls) => calls.get(at).cloned(),
            Phase::Live { .. } => return None,
        };
        if next.is_none() {
            *phase = Phase::Live { recorder: recorder.clone(), backend: Arc::clone(backend) };
        }
        next
    }
}

enum Step {
    Replayed(Recorded),
    Missing,
    Live(Arc<dyn SandboxBackend>),
}

impl Layer for Arc<SwitchToLive> {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Response>> {
        Box::pin(async move {
            let backend = match self.step(&call)? {
                Step::Replayed(recorded) => return emit(recorded, sink),
                Step::Live(backend) => backend,
                Step::Missing => self.switch_to_live().await?,
            };
            call.run(&*backend, sink).await
        })
    }
}
