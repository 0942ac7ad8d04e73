//! Replays the interactions of a cassette and records missing ones.

mod switch;

use std::fmt;
use std::sync::{Arc, MutexGuard};

use self::switch::SwitchToLive;
use super::call::from_layer;
use super::cassette::Cassette;
use super::record::Recorder;
use super::redaction::Redaction;
use super::replay::{Matching, Replayer};
use crate::backend::{BoxFuture, SandboxBackend};
use crate::error::Result;
use crate::lock::Mutex;
use crate::provider::SandboxProvider;

/// When to record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RecordMode {
    /// Never: an unrecorded request fails. For continuous integration.
    #[default]
    Never,
    /// Records unrecorded requests. See [`RecordReplay::backend`] and [`RecordReplay::provider`] for the effect on a sandbox with
    /// state.
    Missing,
    /// Always: the whole cassette is recorded again.
    Always,
}

/// A cassette and a recording mode. The live backend is created only if needed.
///
/// Use one `RecordReplay` for one run of one test, and create only one backend or one provider from it.
#[derive(Debug)]
pub struct RecordReplay {
    mode: RecordMode,
    cassette: Option<Cassette>,
    matching: Matching,
    redaction: Redaction,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Unused,
    Replaying(Replayer),
    Recording(Recorder),
    Switching(Arc<SwitchToLive>),
}

type MakeBackend = Box<dyn Fn() -> BoxFuture<'static, Result<Arc<dyn SandboxBackend>>> + Send + Sync>;

/// Creates the live backend.
struct LiveFactory(MakeBackend);

impl LiveFactory {
    async fn make(&self) -> Result<Arc<dyn SandboxBackend>> {
        (self.0)().await
    }
}

impl fmt::Debug for LiveFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Live")
    }
}

impl RecordReplay {
    /// Creates it with a cassette, or with `None` if nothing was recorded yet.
    pub fn new(mode: RecordMode, cassette: Option<Cassette>) -> Self {
        let (matching, redaction) = Default::default();
        Self { mode, cassette, matching, redaction, state: Mutex::default() }
    }

    /// Sets which recording a repeated request gets. Default [`Matching::InOrder`].
    #[must_use]
    pub fn matching(mut self, matching: Matching) -> Self {
        self.matching = matching;
        self
    }

    /// Sets the redaction that keeps secrets out of the cassette. Default: none.
    #[must_use]
    pub fn redaction(mut self, redaction: Redaction) -> Self {
        self.redaction = redaction;
        self
    }

    /// Returns the backend of the cassette, with `live` as the fallback.
    ///
    /// With [`RecordMode::Missing`], the first unrecorded request creates the live backend. Because a sandbox has state, all
    /// calls replayed until then are first sent to it, in the same order; it then handles all further calls. In this case
    /// [`cassette`](Self::cassette) returns the complete run.
    ///
    /// # Errors
    /// Those of `live`, if it is needed immediately; those of [`Replayer::backend`].
    pub async fn backend<F>(&self, live: impl Fn() -> F + Send + Sync + 'static) -> Result<Arc<dyn SandboxBackend>>
    where
        F: Future<Output = Result<Arc<dyn SandboxBackend>>> + Send + 'static,
    {
        match self.replayer()? {
            Some(replayer) if self.mode == RecordMode::Missing && !replayer.cassette().is_empty() => {
                let replayed = replayer.backend()?;
                let live = LiveFactory(Box::new(move || Box::pin(live())));
                let switching =
                    Arc::new(SwitchToLive::new(replayer, replayed.id().clone(), live, self.redaction.clone()));
                *self.state() = State::Switching(Arc::clone(&switching));
                Ok(from_layer(switching))
            }
            Some(replayer) if self.mode == RecordMode::Never => {
                let backend = replayer.backend()?;
                *self.state() = State::Replaying(replayer);
                Ok(backend)
            }
            _ => {
                let backend = live().await?;
                Ok(self.recorder().backend(backend))
            }
        }
    }

    /// Returns the provider of the cassette, with `live` as the fallback.
    ///
    /// With [`RecordMode::Missing`] the provider is recorded if the cassette is empty and otherwise replayed strictly: new
    /// sandboxes have new ids, so a partial recording cannot be continued with another provider.
    ///
    /// # Errors
    /// Those of `live`, if it is needed.
    pub async fn provider<F>(&self, live: impl FnOnce() -> F) -> Result<Arc<dyn SandboxProvider>>
    where
        F: Future<Output = Result<Arc<dyn SandboxProvider>>>,
    {
        match self.replayer()? {
            Some(replayer) if self.mode == RecordMode::Never || !replayer.cassette().is_empty() => {
                let provider = replayer.provider();
                *self.state() = State::Replaying(replayer);
                Ok(provider)
            }
            _ => {
                let provider = live().await?;
                Ok(self.recorder().provider(provider))
            }
        }
    }

    /// Returns the cassette to store: the original if nothing was recorded, otherwise the recording.
    pub fn cassette(&self) -> Cassette {
        let recorded = match &*self.state() {
            State::Unused | State::Replaying(_) => None,
            State::Recording(recorder) => Some(recorder.cassette()),
            State::Switching(switching) => switching.recorded(),
        };
        recorded.or_else(|| self.cassette.clone()).unwrap_or_default()
    }

    /// Returns whether [`cassette`](Self::cassette) differs from the original.
    pub fn is_changed(&self) -> bool {
        self.cassette.as_ref() != Some(&self.cassette())
    }

    /// Returns the recorded interactions that were not requested, like [`Replayer::unused`]. Empty once something is recorded.
    pub fn unused(&self) -> Vec<String> {
        match &*self.state() {
            State::Replaying(replayer) => replayer.unused(),
            State::Switching(switching) => switching.unused(),
            State::Unused | State::Recording(_) => Vec::new(),
        }
    }

    /// Returns a replayer, or `None` in mode `Always`. Without a cassette `Never` replays an empty one, whose errors state that
    /// it is empty.
    fn replayer(&self) -> Result<Option<Replayer>> {
        let cassette = match (self.mode, &self.cassette) {
            (RecordMode::Always, _) => return Ok(None),
            (RecordMode::Never | RecordMode::Missing, cassette) => cassette.clone().unwrap_or_default(),
        };
        Replayer::new(cassette, self.matching, self.redaction.clone()).map(Some)
    }

    fn recorder(&self) -> Recorder {
        let recorder = Recorder::new(self.redaction.clone());
        *self.state() = State::Recording(recorder.clone());
        recorder
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}
