//! Answering from a cassette.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::answer::Answer;
use super::call::{Call, Layer, layered};
use super::cassette::{Answered, Asked, Cassette};
use super::nearest;
use super::redaction::Redaction;
use crate::backend::{BoxFuture, OutputSink, SandboxBackend};
use crate::error::{Error, ErrorKind, Result};
use crate::execute::OutputEvent;
use crate::provider::{ListPage, ListRequest, SandboxId, SandboxProvider, Selector};

/// Which recording answers a request that was made more than once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Matching {
    /// Each recording answers once, equal requests in the order in which they were recorded. One request more than was
    /// recorded fails.
    #[default]
    InOrder,
    /// As [`InOrder`](Self::InOrder), but the last recording of a request answers it from then on.
    ByRequest,
}

/// Replays a cassette, with no backend behind it. Answers come at once: nothing waits as long as it once took.
///
/// A request that is not on the cassette fails with [`ErrorKind::NotRecorded`], and the message names the nearest one that
/// is. `close` is clean-up: it succeeds also when it was not recorded. Clones share what has been used.
#[derive(Clone, Debug)]
pub struct Player {
    reel: Arc<Reel>,
}

#[derive(Debug)]
struct Reel {
    cassette: Cassette,
    redaction: Redaction,
    matching: Matching,
    /// Where each request was recorded, in order.
    places: BTreeMap<String, Vec<usize>>,
    progress: Mutex<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    /// How often each request was made.
    made: BTreeMap<String, usize>,
    used: BTreeSet<usize>,
    closed: BTreeSet<String>,
}

impl Player {
    /// Replays `cassette`. `redaction` must be what it was recorded with.
    ///
    /// # Errors
    /// [`ErrorKind::Engine`] when memory runs out; there is no other reason.
    pub fn new(cassette: Cassette, matching: Matching, redaction: Redaction) -> Result<Self> {
        let mut places: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (place, interaction) in cassette.interactions().iter().enumerate() {
            places.entry(key(interaction.sandbox.as_deref(), &interaction.call)?).or_default().push(place);
        }
        let progress = Mutex::default();
        Ok(Self { reel: Arc::new(Reel { cassette, redaction, matching, places, progress }) })
    }

    /// The one sandbox of the cassette.
    ///
    /// # Errors
    /// [`ErrorKind::NotRecorded`] when there is none or more than one; then take [`sandbox`](Self::sandbox) or
    /// [`provider`](Self::provider).
    pub fn backend(&self) -> Result<Arc<dyn SandboxBackend>> {
        let ids: BTreeSet<&str> =
            self.reel.cassette.interactions().iter().filter_map(|interaction| interaction.sandbox.as_deref()).collect();
        let mut ids = ids.into_iter();
        match (ids.next(), ids.next()) {
            (Some(id), None) => Ok(self.layer(SandboxId::parse(id)?)),
            (None, _) => {
                let message = "no call of a sandbox is on the cassette; record one first";
                Err(Error::new(ErrorKind::NotRecorded, "replay", message))
            }
            (Some(_), Some(_)) => {
                let message = "several sandboxes are on the cassette; replay their provider, or name the one you mean";
                Err(Error::new(ErrorKind::NotRecorded, "replay", message))
            }
        }
    }

    /// The sandbox of this id. That it is on the cassette shows with the first call.
    pub fn sandbox(&self, id: SandboxId) -> Arc<dyn SandboxBackend> {
        self.layer(id)
    }

    /// The provider of the cassette, with its sandboxes.
    pub fn provider(&self) -> Arc<dyn SandboxProvider> {
        Arc::new(ReplayProvider { player: self.clone() })
    }

    /// What was recorded and has not been asked for yet, one line each. Calls of `close` do not count.
    pub fn unused(&self) -> Vec<String> {
        let progress = self.reel.progress();
        let interactions = self.reel.cassette.interactions().iter().enumerate();
        interactions
            .filter(|(place, interaction)| {
                !progress.used.contains(place) && !matches!(interaction.call, Asked::Close {})
            })
            .map(|(place, interaction)| nearest::line(place, interaction))
            .collect()
    }

    /// For the end of a test: everything that was recorded was asked for.
    ///
    /// # Panics
    /// With the list of [`unused`](Self::unused) interactions when there are any.
    #[track_caller]
    pub fn assert_all_used(&self) {
        let unused = self.unused();
        assert!(unused.is_empty(), "recorded but not used:\n  {}\nrecord again", unused.join("\n  "));
    }

    pub(super) fn cassette(&self) -> &Cassette {
        &self.reel.cassette
    }

    fn layer(&self, id: SandboxId) -> Arc<dyn SandboxBackend> {
        layered(Replay { player: self.clone(), id })
    }

    fn take(&self, sandbox: Option<&str>, asked: &Asked) -> Result<Answered> {
        self.reel.take(sandbox, asked)
    }

    /// What is on the cassette for a call of a sandbox. An error means that nothing is.
    pub(super) fn look_up(&self, id: &SandboxId, call: &Call) -> Result<Recorded> {
        let sandbox = self.reel.redaction.text(id.as_str().to_owned());
        let taken = self.take(Some(&sandbox), &Asked::new(call, &self.reel.redaction));
        if matches!(call, Call::Close) {
            self.reel.progress().closed.insert(sandbox);
            if taken.is_err() {
                return Ok((Vec::new(), Ok(Answer::Close)));
            }
        } else if taken.is_err() && self.reel.progress().closed.contains(&sandbox) {
            return Err(Error::closed(call.method()).with_context("sandbox", sandbox));
        }
        Ok(taken?.replay(call))
    }
}

/// What a call streamed, and what it answered or how it failed.
pub(super) type Recorded = (Vec<OutputEvent>, Result<Answer>);

/// Streams what was streamed, then answers.
pub(super) fn deliver((events, answer): Recorded, sink: Option<OutputSink<'_>>) -> Result<Answer> {
    if let Some(sink) = sink {
        events.into_iter().for_each(sink);
    }
    answer
}

impl Reel {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, sandbox: Option<&str>, asked: &Asked) -> Result<Answered> {
        let key = key(sandbox, asked)?;
        let places = self.places.get(&key).map(Vec::as_slice).unwrap_or_default();
        let mut progress = self.progress();
        let made = progress.made.get(&key).copied().unwrap_or_default();
        let place = match (places.get(made), self.matching) {
            (None, Matching::ByRequest) => places.last(),
            (place, _) => place,
        };
        let interactions = self.cassette.interactions();
        let Some((place, interaction)) = place.and_then(|place| Some((*place, interactions.get(*place)?))) else {
            drop(progress);
            return Err(nearest::not_recorded(sandbox, asked, places.len(), interactions));
        };
        progress.made.insert(key, made.saturating_add(1));
        progress.used.insert(place);
        Ok(interaction.answer.clone())
    }
}

/// Equal for equal requests of one sandbox.
fn key(sandbox: Option<&str>, asked: &Asked) -> Result<String> {
    serde_json::to_string(&(sandbox, asked))
        .map_err(|error| Error::new(ErrorKind::Engine, "replay", error.to_string()).with_source(error))
}

#[derive(Debug)]
struct Replay {
    player: Player,
    id: SandboxId,
}

impl Layer for Replay {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move { deliver(self.player.look_up(&self.id, &call)?, sink) })
    }
}

#[derive(Debug)]
struct ReplayProvider {
    player: Player,
}

impl ReplayProvider {
    fn take(&self, asked: impl FnOnce(&Redaction) -> Asked) -> Result<Answered> {
        self.player.take(None, &asked(&self.player.reel.redaction))
    }
}

impl SandboxProvider for ReplayProvider {
    fn get_or_create(&self, selector: Selector) -> BoxFuture<'_, Result<Arc<dyn SandboxBackend>>> {
        Box::pin(async move {
            let answered = self.take(|redaction| Asked::get_or_create(&selector, redaction))?;
            let id = answered.replay_sandbox()?;
            Ok(self.player.layer(id))
        })
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListPage>> {
        Box::pin(async move { self.take(|redaction| Asked::list(&request, redaction))?.replay_list() })
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.take(|redaction| Asked::delete_sandbox(id, redaction))?.replay_delete() })
    }
}
