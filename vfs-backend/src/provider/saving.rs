//! Saving sandboxes, and bringing them back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tidebox_core::{Error, ErrorKind, Result, SandboxBackend, SandboxId};

use super::live::{Live, Saved};
use super::settings::Saving;
use super::shelf::{Entry, Place, Shelf};
use super::store::{SavedSandbox, SnapshotStore};
use crate::Snapshot;
use crate::backend::lock;

/// A use is saved when it is by this part of the idle time later than the one that was saved. Saving each would write the
/// whole snapshot for every file that is read.
const USE_PARTS: u32 = 4;

impl Shelf {
    /// Learns what the store holds. The caller holds `changing`, and does it before anything else.
    pub(super) async fn learn(&self, store: &dyn SnapshotStore) -> Result<()> {
        for SavedSandbox { id, labels, created, used } in store.list().await? {
            let entry = Entry { labels, created, place: Place::Store { used } };
            self.entries().entry(id).or_insert(entry);
        }
        Ok(())
    }

    /// A new sandbox. The caller holds `changing`.
    pub(super) async fn create(&self, asked: BTreeMap<String, String>) -> Result<Arc<Live>> {
        let builder = self.make()?;
        if self.settings.store.is_some() {
            builder.check_savable()?;
        }
        let sandbox = builder.build()?;
        let id = sandbox.id().clone();
        if self.entries().contains_key(&id) {
            let message =
                "there is a sandbox with this id already; do not fix the id or the seed of a provider's sandboxes";
            return Err(
                Error::new(ErrorKind::InvalidRequest, "create sandbox", message).with_context("sandbox", id.as_str())
            );
        }
        let mut labels = self.settings.labels.clone();
        labels.extend(asked);
        let now = self.now();
        let live = Live::new(sandbox, labels, now, now);
        // Saved at once, so that its id is good after a restart, also when it was never used.
        self.save(&live).await?;
        self.put_in(id, &live);
        Ok(live)
    }

    /// Brings a sandbox back from the store. The caller holds `changing`.
    pub(super) async fn load(&self, id: &SandboxId) -> Result<Arc<Live>> {
        let missing = || {
            let message = "the sandbox is not in the store any more; somebody else has removed it";
            Error::new(ErrorKind::SandboxNotFound, "get sandbox", message).with_context("sandbox", id.as_str())
        };
        let Some(store) = &self.settings.store else { return Err(missing()) };
        let Some((labels, created)) = self.entries().get(id).map(|entry| (entry.labels.clone(), entry.created)) else {
            return Err(missing());
        };
        let Some(bytes) = store.get(id).await? else {
            self.entries().remove(id);
            return Err(missing());
        };
        let resumed = self.make()?.resume(id.clone(), &bytes);
        let sandbox = resumed.map_err(|error| error.with_context("saved sandbox", id.as_str()))?;
        let now = self.now();
        let live = Live::new(sandbox, labels, created, now);
        *live.saved.lock().await = Saved { snapshot: Some(live.sandbox.snapshot()?), used: now, at: now, gone: false };
        self.put_in(id.clone(), &live);
        Ok(live)
    }

    fn put_in(&self, id: SandboxId, live: &Arc<Live>) {
        let place = Place::Memory(Arc::clone(live));
        self.entries().insert(id, Entry { labels: live.labels.clone(), created: live.created, place });
    }

    /// Saves a sandbox that has changed since it was saved. Callers that come while it is being saved wait, and the first
    /// of them saves for all.
    pub(super) async fn save(&self, live: &Live) -> Result<()> {
        let Some(store) = &self.settings.store else { return Ok(()) };
        let mut saved = live.saved.lock().await;
        // Who closes it saves it.
        let Ok(snapshot) = live.sandbox.snapshot() else { return Ok(()) };
        self.put(&**store, live, &mut saved, snapshot).await
    }

    async fn put(&self, store: &dyn SnapshotStore, live: &Live, saved: &mut Saved, snapshot: Snapshot) -> Result<()> {
        let about = live.about();
        let same = saved.snapshot.as_ref().is_some_and(|saved| saved.is_same(&snapshot));
        if saved.gone || (same && !self.use_is_due(saved.used, about.used)) {
            return Ok(());
        }
        store.put(&about, snapshot.clone()).await.map_err(|error| {
            let message = format!("the call was made, and what it changed could not be saved: {}", error.message());
            Error::new(error.kind(), "save sandbox", message)
                .with_context("sandbox", about.id.as_str())
                .with_source(error)
        })?;
        (saved.snapshot, saved.used, saved.at) = (Some(snapshot), about.used, self.now());
        Ok(())
    }

    /// Whether a call has to be followed by saving, as far as the time says. That nothing changed shows then.
    pub(super) fn is_due(&self, live: &Live, changes: bool) -> bool {
        if self.settings.store.is_none() {
            return false;
        }
        match self.settings.saving {
            Saving::WhenAsked => false,
            Saving::EachChange if changes => true,
            Saving::EachChange if self.settings.idle.is_none() => false,
            // While it is being saved nothing is due, and nobody waits to hear so.
            Saving::EachChange => live.saved.try_lock().is_some_and(|saved| self.use_is_due(saved.used, live.used().0)),
            Saving::AtMostEvery(pause) => self.is_over_due(live, pause),
        }
    }

    fn is_over_due(&self, live: &Live, pause: Duration) -> bool {
        let over_due = |at: u64| u128::from(self.now().saturating_sub(at)) >= pause.as_nanos();
        live.saved.try_lock().is_some_and(|saved| over_due(saved.at))
    }

    /// Saves what waits for its time, for sandboxes that nobody calls.
    pub(super) async fn save_over_due(&self) -> Result<()> {
        let Saving::AtMostEvery(pause) = self.settings.saving else { return Ok(()) };
        let mut result = Ok(());
        for live in self.in_memory() {
            if self.is_over_due(&live, pause) {
                result = result.and(self.save(&live).await);
            }
        }
        result
    }

    /// Every sandbox in memory.
    pub(super) fn in_memory(&self) -> Vec<Arc<Live>> {
        let live = |entry: &Entry| match &entry.place {
            Place::Memory(live) => Some(Arc::clone(live)),
            Place::Store { .. } => None,
        };
        self.entries().values().filter_map(live).collect()
    }

    fn use_is_due(&self, saved: u64, used: u64) -> bool {
        let later = u128::from(used.saturating_sub(saved));
        self.settings.idle.is_some_and(|idle| later > (idle / USE_PARTS).as_nanos())
    }

    /// Saves a sandbox and gives its memory back. With a store it is there again when it is asked for.
    pub(super) async fn close(&self, live: &Live) -> Result<()> {
        // Before anything is given up, so that a store that fails costs nothing but the call.
        self.save(live).await?;
        let mut saved = live.saved.lock().await;
        let Some(kernel) = live.sandbox.shut() else { return Ok(()) };
        let Some(store) = &self.settings.store else { return Ok(()) };
        // What changed while it was being saved.
        let files = lock(&kernel).snapshot();
        let snapshot = live.sandbox.snapshot_of(files);
        self.put(&**store, live, &mut saved, snapshot).await
    }
}
