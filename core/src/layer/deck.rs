//! Playing what is on a cassette and recording what is not.

mod catch_up;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::catch_up::CatchUp;
use super::call::layered;
use super::cassette::Cassette;
use super::record::Recorder;
use super::redaction::Redaction;
use super::replay::{Matching, Player};
use crate::backend::{BoxFuture, SandboxBackend};
use crate::error::Result;
use crate::provider::SandboxProvider;

/// When to record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RecordMode {
    /// Never: what is not on the cassette fails. For continuous integration.
    #[default]
    Never,
    /// What is missing. See [`Deck::backend`] and [`Deck::provider`] for what that means to a sandbox, which remembers.
    Missing,
    /// Always: the cassette is recorded anew.
    Always,
}

/// A cassette and the choice of when to record onto it. The live backend is made only if it is needed.
///
/// A deck is for one run of one test: ask it for one backend or one provider.
#[derive(Debug)]
pub struct Deck {
    mode: RecordMode,
    inserted: Option<Cassette>,
    matching: Matching,
    redaction: Redaction,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Unused,
    Playing(Player),
    Recording(Recorder),
    Both(Arc<CatchUp>),
}

type Make = Box<dyn Fn() -> BoxFuture<'static, Result<Arc<dyn SandboxBackend>>> + Send + Sync>;

/// Makes the live backend.
struct Live(Make);

impl Live {
    async fn make(&self) -> Result<Arc<dyn SandboxBackend>> {
        (self.0)().await
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Live")
    }
}

impl Deck {
    /// A deck with a cassette, or with none when nothing was recorded yet.
    pub fn new(mode: RecordMode, cassette: Option<Cassette>) -> Self {
        let (matching, redaction) = Default::default();
        Self { mode, inserted: cassette, matching, redaction, state: Mutex::default() }
    }

    /// Which recording answers a repeated request. Default [`Matching::InOrder`].
    #[must_use]
    pub fn matching(mut self, matching: Matching) -> Self {
        self.matching = matching;
        self
    }

    /// Keeps secrets out of the cassette. Default: nothing is replaced.
    #[must_use]
    pub fn redaction(mut self, redaction: Redaction) -> Self {
        self.redaction = redaction;
        self
    }

    /// The backend of the cassette, `live` behind it.
    ///
    /// With [`RecordMode::Missing`] a request that is not on the cassette brings the live backend into being. A sandbox
    /// remembers, so everything that was replayed until then is first sent to it again, in the same order; from there on it
    /// answers everything itself. What [`cassette`](Self::cassette) returns is then this run, from its beginning.
    ///
    /// # Errors
    /// Those of `live`, when it is needed at once; those of [`Player::backend`].
    pub async fn backend<F>(&self, live: impl Fn() -> F + Send + Sync + 'static) -> Result<Arc<dyn SandboxBackend>>
    where
        F: Future<Output = Result<Arc<dyn SandboxBackend>>> + Send + 'static,
    {
        match self.player()? {
            Some(player) if self.mode == RecordMode::Missing && !player.cassette().is_empty() => {
                let replayed = player.backend()?;
                let live = Live(Box::new(move || Box::pin(live())));
                let both = Arc::new(CatchUp::new(player, replayed.id().clone(), live, self.redaction.clone()));
                *self.state() = State::Both(Arc::clone(&both));
                Ok(layered(both))
            }
            Some(player) if self.mode == RecordMode::Never => {
                let backend = player.backend()?;
                *self.state() = State::Playing(player);
                Ok(backend)
            }
            _ => {
                let backend = live().await?;
                Ok(self.record().backend(backend))
            }
        }
    }

    /// The provider of the cassette, `live` behind it.
    ///
    /// With [`RecordMode::Missing`] it is recorded when nothing is on the cassette, and otherwise replayed strictly: new
    /// sandboxes have new ids, so half of a recording cannot go on with another provider.
    ///
    /// # Errors
    /// Those of `live`, when it is needed.
    pub async fn provider<F>(&self, live: impl FnOnce() -> F) -> Result<Arc<dyn SandboxProvider>>
    where
        F: Future<Output = Result<Arc<dyn SandboxProvider>>>,
    {
        match self.player()? {
            Some(player) if self.mode == RecordMode::Never || !player.cassette().is_empty() => {
                let provider = player.provider();
                *self.state() = State::Playing(player);
                Ok(provider)
            }
            _ => {
                let provider = live().await?;
                Ok(self.record().provider(provider))
            }
        }
    }

    /// What is to be kept: the cassette as it was when nothing was recorded, else the recording so far.
    pub fn cassette(&self) -> Cassette {
        let recorded = match &*self.state() {
            State::Unused | State::Playing(_) => None,
            State::Recording(recorder) => Some(recorder.cassette()),
            State::Both(both) => both.recorded(),
        };
        recorded.or_else(|| self.inserted.clone()).unwrap_or_default()
    }

    /// Whether [`cassette`](Self::cassette) is another than the one that was inserted.
    pub fn is_changed(&self) -> bool {
        self.inserted.as_ref() != Some(&self.cassette())
    }

    /// What was recorded before and has not been asked for, as [`Player::unused`]. Empty once something is recorded.
    pub fn unused(&self) -> Vec<String> {
        match &*self.state() {
            State::Playing(player) => player.unused(),
            State::Both(both) => both.unused(),
            State::Unused | State::Recording(_) => Vec::new(),
        }
    }

    /// A player, unless everything is recorded anew. Without a cassette `Never` plays an empty one, whose errors say so.
    fn player(&self) -> Result<Option<Player>> {
        let cassette = match (self.mode, &self.inserted) {
            (RecordMode::Always, _) => return Ok(None),
            (RecordMode::Never | RecordMode::Missing, cassette) => cassette.clone().unwrap_or_default(),
        };
        Player::new(cassette, self.matching, self.redaction.clone()).map(Some)
    }

    fn record(&self) -> Recorder {
        let recorder = Recorder::new(self.redaction.clone());
        *self.state() = State::Recording(recorder.clone());
        recorder
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
