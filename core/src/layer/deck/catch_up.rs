//! Going from a replay over to a live backend.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Live;
use crate::backend::{BoxFuture, OutputSink, SandboxBackend};
use crate::error::{ErrorKind, Result};
use crate::layer::answer::Answer;
use crate::layer::call::{Call, Layer};
use crate::layer::cassette::Cassette;
use crate::layer::record::Recorder;
use crate::layer::redaction::Redaction;
use crate::layer::replay::{Player, Recorded, deliver};
use crate::provider::SandboxId;

/// Replays until something is missing, then brings a live backend to where the replay is and goes on with it.
#[derive(Debug)]
pub(super) struct CatchUp {
    player: Player,
    id: SandboxId,
    live: Live,
    redaction: Redaction,
    phase: Mutex<Phase>,
    /// Held by the one call that goes live; others that miss something meanwhile wait for it.
    going_live: futures_util::lock::Mutex<()>,
}

#[derive(Debug)]
enum Phase {
    /// The calls that were answered so far, as they were made: a redacted one could not be made again.
    Replaying(Vec<Made>),
    Live {
        recorder: Recorder,
        backend: Arc<dyn SandboxBackend>,
    },
}

#[derive(Clone)]
struct Made {
    call: Call,
    /// It failed when it was recorded, so it may fail again.
    failed: bool,
}

impl fmt::Debug for Made {
    /// Without the arguments: they hold the secrets that the cassette does not.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Made")
            .field("method", &self.call.method())
            .field("failed", &self.failed)
            .finish_non_exhaustive()
    }
}

impl CatchUp {
    pub(super) fn new(player: Player, id: SandboxId, live: Live, redaction: Redaction) -> Self {
        let phase = Mutex::new(Phase::Replaying(Vec::new()));
        Self { player, id, live, redaction, phase, going_live: futures_util::lock::Mutex::new(()) }
    }

    /// `None` while nothing was missing.
    pub(super) fn recorded(&self) -> Option<Cassette> {
        match &*self.phase() {
            Phase::Replaying(_) => None,
            Phase::Live { recorder, .. } => Some(recorder.cassette()),
        }
    }

    pub(super) fn unused(&self) -> Vec<String> {
        match &*self.phase() {
            Phase::Replaying(_) => self.player.unused(),
            Phase::Live { .. } => Vec::new(),
        }
    }

    fn phase(&self) -> MutexGuard<'_, Phase> {
        self.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn step(&self, call: &Call) -> Result<Step> {
        match &mut *self.phase() {
            Phase::Live { backend, .. } => Ok(Step::Live(Arc::clone(backend))),
            Phase::Replaying(made) => match self.player.look_up(&self.id, call) {
                Ok(recorded) => {
                    made.push(Made { call: call.clone(), failed: recorded.1.is_err() });
                    Ok(Step::Replayed(recorded))
                }
                Err(error) if error.kind() == ErrorKind::NotRecorded => Ok(Step::Missing),
                Err(error) => Err(error),
            },
        }
    }

    async fn go_live(&self) -> Result<Arc<dyn SandboxBackend>> {
        let _only_one = self.going_live.lock().await;
        if let Phase::Live { backend, .. } = &*self.phase() {
            return Ok(Arc::clone(backend));
        }
        let recorder = Recorder::new(self.redaction.clone());
        let backend = recorder.backend_named(self.live.make().await?, self.id.clone());
        let mut done = 0;
        while let Some(Made { call, failed }) = self.made(done, &recorder, &backend) {
            match call.run(&*backend, None).await {
                Err(error) if !failed => return Err(error),
                _ => done += 1,
            }
        }
        Ok(backend)
    }

    /// The replayed call number `at`; with none left the replay is over, at the same moment.
    fn made(&self, at: usize, recorder: &Recorder, backend: &Arc<dyn SandboxBackend>) -> Option<Made> {
        let mut phase = self.phase();
        let made = match &*phase {
            Phase::Replaying(made) => made.get(at).cloned(),
            Phase::Live { .. } => return None,
        };
        if made.is_none() {
            *phase = Phase::Live { recorder: recorder.clone(), backend: Arc::clone(backend) };
        }
        made
    }
}

enum Step {
    Replayed(Recorded),
    Missing,
    Live(Arc<dyn SandboxBackend>),
}

impl Layer for Arc<CatchUp> {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let backend = match self.step(&call)? {
                Step::Replayed(recorded) => return deliver(recorded, sink),
                Step::Live(backend) => backend,
                Step::Missing => self.go_live().await?,
            };
            call.run(&*backend, sink).await
        })
    }
}
