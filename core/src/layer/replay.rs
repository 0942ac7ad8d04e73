//! Replay of a cassette.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, MutexGuard};

use super::call::{Call, Layer, from_layer};
use super::cassette::{Cassette, RecordedCall, RecordedResponse};
use super::mismatch;
use super::process_log::{ProcessKey, ProcessLog};
use super::redaction::Redaction;
use super::response::Response;
use crate::backend::{BoxFuture, OutputSink, SandboxBackend};
use crate::error::{Error, ErrorKind, Result};
use crate::execute::OutputChunk;
use crate::lock::Mutex;
use crate::process::OutputPage;
use crate::provider::{ListPage, ListRequest, SandboxId, SandboxProvider, Selector};

/// Selection of the recording for a repeated request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Matching {
    /// Each recording is returned once, equal requests in the order in which they were recorded. A further request fails.
    #[default]
    InOrder,
    /// Like [`InOrder`](Self::InOrder), but the last recording of a request is returned for all further requests.
    ByRequest,
}

/// Replays a cassette without a backend. Responses are immediate, without the recorded delays.
///
/// An unrecorded request fails with [`ErrorKind::NotRecorded`], and the message contains the closest recorded one. `close` is
/// clean-up: it succeeds even if it was not recorded. Clones share the used recordings.
#[derive(Clone, Debug)]
pub struct Replayer {
    state: Arc<ReplayState>,
}

#[derive(Debug)]
struct ReplayState {
    cassette: Cassette,
    redaction: Redaction,
    matching: Matching,
    /// Indices of the recordings of each request, in order.
    positions: BTreeMap<String, Vec<usize>>,
    /// The output of processes.
    logs: BTreeMap<ProcessKey, ProcessLog>,
    progress: Mutex<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    /// Number of times each request was made.
    requests: BTreeMap<String, usize>,
    used: BTreeSet<usize>,
    /// Number of reads of each process that found nothing new.
    idle_reads: BTreeMap<ProcessKey, usize>,
    closed: BTreeSet<String>,
}

impl Replayer {
    /// Creates a replayer of `cassette`. `redaction` must be the one used for recording.
    ///
    /// # Errors
    /// [`ErrorKind::Engine`] only if memory runs out.
    pub fn new(cassette: Cassette, matching: Matching, redaction: Redaction) -> Result<Self> {
        let mut positions: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, interaction) in cassette.interactions().iter().enumerate() {
            positions.entry(key(interaction.sandbox.as_deref(), &interaction.call)?).or_default().push(index);
        }
        let logs = ProcessLog::all(cassette.interactions());
        let progress = Mutex::default();
        Ok(Self { state: Arc::new(ReplayState { cassette, redaction, matching, positions, logs, progress }) })
    }

    /// Returns the only sandbox of the cassette.
    ///
    /// # Errors
    /// [`ErrorKind::NotRecorded`] if the cassette has no sandbox or several; in the second case use [`sandbox`](Self::sandbox) or
    /// [`provider`](Self::provider).
    pub fn backend(&self) -> Result<Arc<dyn SandboxBackend>> {
        let ids: BTreeSet<&str> = self
            .state
            .cassette
            .interactions()
            .iter()
            .filter_map(|interaction| interaction.sandbox.as_deref())
            .collect();
        let mut ids = ids.into_iter();
        match (ids.next(), ids.next()) {
            (Some(id), None) => Ok(self.layer(SandboxId::parse(id)?)),
            (None, _) => {
                let message = "the cassette has no calls of a sandbox; record one first";
                Err(Error::new(ErrorKind::NotRecorded, "replay", message))
            }
            (Some(_), Some(_)) => {
                let message = "the cassette has several sandboxes; replay their provider, or select one by its id";
                Err(Error::new(ErrorKind::NotRecorded, "replay", message))
            }
        }
    }

    /// Returns the sandbox with this id. If it is not on the cassette, its first call fails.
    pub fn sandbox(&self, id: SandboxId) -> Arc<dyn SandboxBackend> {
        self.layer(id)
    }

    /// Returns the provider of the cassette, with its sandboxes.
    pub fn provider(&self) -> Arc<dyn SandboxProvider> {
        Arc::new(ReplayProvider { replayer: self.clone() })
    }

    /// Returns the recorded interactions that were not requested yet, one line each, except calls of `close`.
    pub fn unused(&self) -> Vec<String> {
        let progress = self.state.progress();
        let interactions = self.state.cassette.interactions().iter().enumerate();
        interactions
            .filter(|(index, interaction)| {
                !progress.used.contains(index) && !matches!(interaction.call, RecordedCall::Close {})
            })
            .map(|(index, interaction)| mismatch::line(index, interaction))
            .collect()
    }

    /// For the end of a test: checks that every recording was requested.
    ///
    /// # Panics
    /// If there are [`unused`](Self::unused) interactions, with their list.
    #[track_caller]
    pub fn assert_all_used(&self) {
        let unused = self.unused();
        assert!(unused.is_empty(), "recorded but not used:\n  {}\nrecord again", unused.join("\n  "));
    }

    pub(super) fn cassette(&self) -> &Cassette {
        &self.state.cassette
    }

    fn layer(&self, id: SandboxId) -> Arc<dyn SandboxBackend> {
        from_layer(ReplayLayer { replayer: self.clone(), id })
    }

    fn next_answer(&self, sandbox: Option<&str>, call: &RecordedCall) -> Result<RecordedResponse> {
        self.state.next_answer(sandbox, call)
    }

    /// Returns the recording for a call of a sandbox. An error means that the call is unrecorded.
    pub(super) fn lookup(&self, id: &SandboxId, call: &Call) -> Result<Recorded> {
        let sandbox = self.state.redaction.text(id.as_str().to_owned());
        if let Some(page) = self.state.read_process(&sandbox, call) {
            return Ok((Vec::new(), Ok(Response::ReadProcess(page))));
        }
        let response = self.next_answer(Some(&sandbox), &RecordedCall::new(call, &self.state.redaction));
        if matches!(call, Call::Close) {
            self.state.progress().closed.insert(sandbox);
            if response.is_err() {
                return Ok((Vec::new(), Ok(Response::Close)));
            }
        } else if response.is_err() && self.state.progress().closed.contains(&sandbox) {
            return Err(Error::closed(call.method()).with_context("sandbox", sandbox));
        }
        Ok(response?.replay(call))
    }
}

/// The streamed output and the result of a recorded call.
pub(super) type Recorded = (Vec<OutputChunk>, Result<Response>);

/// Sends the streamed output to the sink, then returns the result.
pub(super) fn emit((events, answer): Recorded, sink: Option<OutputSink<'_>>) -> Result<Response> {
    if let Some(sink) = sink {
        events.into_iter().for_each(sink);
    }
    answer
}

impl ReplayState {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock()
    }

    /// Returns recorded output of a process. `None` for other calls, and if the recording has no more.
    fn read_process(&self, sandbox: &str, call: &Call) -> Option<OutputPage> {
        let Call::ReadProcess(id, request) = call else { return None };
        let key = (Some(sandbox.to_owned()), self.redaction.text(id.as_str().to_owned()));
        let log = self.logs.get(&key)?;
        let mut progress = self.progress();
        let idle_reads = progress.idle_reads.get(&key).copied().unwrap_or_default();
        let page = log.read(request, idle_reads)?;
        progress.used.extend(&log.interactions);
        if page.chunks.is_empty() {
            progress.idle_reads.insert(key, idle_reads.saturating_add(1));
        }
        Some(page)
    }

    fn next_answer(&self, sandbox: Option<&str>, call: &RecordedCall) -> Result<RecordedResponse> {
        let key = key(sandbox, call)?;
        let positions = self.positions.get(&key).map(Vec::as_slice).unwrap_or_default();
        let mut progress = self.progress();
        let count = progress.requests.get(&key).copied().unwrap_or_default();
        let index = match (positions.get(count), self.matching) {
            (None, Matching::ByRequest) => positions.last(),
            (index, _) => index,
        };
        let interactions = self.cassette.interactions();
        let Some((index, interaction)) = index.and_then(|index| Some((*index, interactions.get(*index)?))) else {
            drop(progress);
            return Err(mismatch::not_recorded(sandbox, call, positions.len(), interactions));
        };
        progress.requests.insert(key, count.saturating_add(1));
        progress.used.insert(index);
        Ok(interaction.answer.clone())
    }
}

/// Returns a key that is equal for equal requests of one sandbox.
fn key(sandbox: Option<&str>, call: &RecordedCall) -> Result<String> {
    serde_json::to_string(&(sandbox, call))
        .map_err(|error| Error::new(ErrorKind::Engine, "replay", error.to_string()).with_source(error))
}

#[derive(Debug)]
struct ReplayLayer {
    replayer: Replayer,
    id: SandboxId,
}

impl Layer for ReplayLayer {
    fn id(&self) -> &SandboxId {
        &self.id
    }

    fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Response>> {
        Box::pin(async move { emit(self.replayer.lookup(&self.id, &call)?, sink) })
    }
}

#[derive(Debug)]
struct ReplayProvider {
    replayer: Replayer,
}

impl ReplayProvider {
    fn next_answer(&self, call: impl FnOnce(&Redaction) -> RecordedCall) -> Result<RecordedResponse> {
        self.replayer.next_answer(None, &call(&self.replayer.state.redaction))
    }
}

impl SandboxProvider for ReplayProvider {
    fn get_or_create(&self, selector: Selector) -> BoxFuture<'_, Result<Arc<dyn SandboxBackend>>> {
        Box::pin(async move {
            let answered = self.next_answer(|redaction| RecordedCall::get_or_create(&selector, redaction))?;
            let id = answered.replay_sandbox()?;
            Ok(self.replayer.layer(id))
        })
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListPage>> {
        Box::pin(async move { self.next_answer(|redaction| RecordedCall::list(&request, redaction))?.replay_list() })
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        Box::pin(
            async move { self.next_answer(|redaction| RecordedCall::delete_sandbox(id, redaction))?.replay_delete() },
        )
    }
}
