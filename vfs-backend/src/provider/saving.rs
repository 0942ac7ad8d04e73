//! Saving and restoring sandboxes.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tidebox_core::{Error, ErrorKind, Limits, Result, SandboxBackend, SandboxId};

use super::entries::{Entry, Location};
use super::live::{CloseReason, LiveSandbox, SavedState};
use super::registry::SandboxRegistry;
use super::settings::SavePolicy;
use super::store::{SaveRequest, SavedSandbox, SnapshotStore};
use crate::Snapshot;

/// A use is saved if it is later than the saved one by the idle timeout divided by this. Saving each use would write
/// the whole snapshot for every file that is read.
const USE_UPDATE_DIVISOR: u32 = 4;

/// Bytes of a saved inode without content: names, attributes and the target of a link.
const BYTES_PER_INODE: u64 = 5000;

/// Maximum size in bytes of the saved files of a sandbox: its bytes and inodes as charged, in a whole snapshot and in later
/// changes, which never exceed a third of it and one further save.
pub(super) fn max_saved_bytes(limits: &Limits) -> u64 {
    let tree = limits.file_bytes.saturating_add(limits.inodes.saturating_mul(BYTES_PER_INODE));
    tree.saturating_add(limits.shell_state_bytes).saturating_mul(3).saturating_add(1 << 20)
}

impl LiveSandbox {
    /// Writes a state to the store. If another program has taken the sandbox over, closes it.
    pub(super) async fn put(
        &self,
        store: &dyn SnapshotStore,
        saved: &mut SavedState,
        metadata: SavedSandbox,
        snapshot: Snapshot,
        now: u64,
    ) -> Result<()> {
        let (id, last_used) = (metadata.id.clone(), metadata.last_used);
        let save = SaveRequest { sandbox: metadata, snapshot: snapshot.clone(), before: saved.stored.clone() };
        if let Err(error) = store.put(save).await {
            if error.kind() == ErrorKind::Closed {
                // Close it immediately: its files are not those of the store any more.
                saved.ended = true;
                self.set_closed(CloseReason::TakenOver);
                self.sandbox.take_kernel();
                store.release(&id);
            }
            let message = format!("the call succeeded, but cannot save its changes: {}", error.message());
            let failed = Error::new(error.kind(), "save sandbox", message);
            return Err(failed.with_context("sandbox", id.as_str()).with_source(error));
        }
        saved.stored = Some(snapshot.clone());
        (saved.snapshot, saved.last_use, saved.at) = (Some(snapshot), last_used, now);
        Ok(())
    }
}

impl SandboxRegistry {
    /// Loads the index of the store. The caller must hold `change_lock` and call this first.
    pub(super) async fn load_index(&self, store: &dyn SnapshotStore) -> Result<()> {
        for SavedSandbox { id, labels, created, last_used: used } in store.list().await? {
            let entry = Entry { labels, created, location: Location::Store { last_use: used } };
            if self.entries().get(&id).is_none() {
                self.insert(id, entry);
            }
        }
        Ok(())
    }

    /// Creates a sandbox. The caller must hold `change_lock`.
    pub(super) async fn create(&self, requested: BTreeMap<String, String>) -> Result<Arc<LiveSandbox>> {
        let builder = self.new_builder()?;
        if self.settings.store.is_some() {
            builder.check_savable()?;
        }
        let sandbox = builder.build()?;
        let id = sandbox.id().clone();
        if self.entries().get(&id).is_some() {
            let message =
                "a sandbox with this id already exists; do not set a fixed id or seed for a provider's sandboxes";
            return Err(
                Error::new(ErrorKind::InvalidRequest, "create sandbox", message).with_context("sandbox", id.as_str())
            );
        }
        let mut labels = self.settings.labels.clone();
        labels.extend(requested);
        let now = self.now();
        let live = LiveSandbox::new(sandbox, labels, now, now);
        // Saved immediately, so that its id survives a restart even without use.
        self.save(&live).await?;
        self.insert_live(id, &live);
        Ok(live)
    }

    /// Restores a sandbox from the store. The caller must hold `change_lock`.
    pub(super) async fn load(&self, id: &SandboxId) -> Result<Arc<LiveSandbox>> {
        let missing = || {
            let message = "the sandbox was removed from the store by another program";
            Error::new(ErrorKind::SandboxNotFound, "get sandbox", message).with_context("sandbox", id.as_str())
        };
        let Some(store) = &self.settings.store else { return Err(missing()) };
        let Some((labels, created)) = self.entries().get(id).map(|entry| (entry.labels.clone(), entry.created)) else {
            return Err(missing());
        };
        let builder = self.new_builder()?;
        let Some(files) = store.get(id, max_saved_bytes(builder.current_limits())).await? else {
            self.entries().remove(id);
            return Err(missing());
        };
        let resumed = builder.resume(id.clone(), &files, |_| Ok(()));
        let (sandbox, stored) = resumed.map_err(|error| error.with_context("saved sandbox", id.as_str()))?;
        let now = self.now();
        let live = LiveSandbox::new(sandbox, labels, created, now);
        let snapshot = Some(live.sandbox.snapshot()?);
        *live.saved.lock().await = SavedState { snapshot, stored: Some(stored), last_use: now, at: now, ended: false };
        self.insert_live(id.clone(), &live);
        Ok(live)
    }

    fn insert_live(&self, id: SandboxId, live: &Arc<LiveSandbox>) {
        let location = Location::Memory(Arc::clone(live));
        self.insert(id, Entry { labels: live.labels.clone(), created: live.created, location });
    }

    /// Saves a sandbox that has changed since it was saved. Concurrent callers wait, and the first of them saves for
    /// all.
    pub(super) async fn save(&self, live: &LiveSandbox) -> Result<()> {
        let Some(store) = &self.settings.store else { return Ok(()) };
        let mut saved = live.saved.lock().await;
        // The call that closes it saves it.
        let Ok(snapshot) = live.sandbox.snapshot() else { return Ok(()) };
        self.put(&**store, live, &mut saved, snapshot).await
    }

    async fn put(
        &self,
        store: &dyn SnapshotStore,
        live: &LiveSandbox,
        saved: &mut SavedState,
        snapshot: Snapshot,
    ) -> Result<()> {
        let metadata = live.to_saved();
        let same = saved.snapshot.as_ref().is_some_and(|saved| saved.is_same(&snapshot));
        if saved.ended || (same && !self.needs_use_update(saved.last_use, metadata.last_used)) {
            return Ok(());
        }
        live.put(store, saved, metadata, snapshot, self.now()).await
    }

    /// Returns whether the policy requires a save after a call. Unchanged content is detected later.
    pub(super) fn needs_save(&self, live: &LiveSandbox, changes: bool) -> bool {
        if self.settings.store.is_none() {
            return false;
        }
        match self.settings.saving {
            SavePolicy::Manual => false,
            SavePolicy::EveryChange if changes => true,
            SavePolicy::EveryChange if self.settings.idle_timeout.is_none() => false,
            // No save is due while one is in progress; do not wait for it.
            SavePolicy::EveryChange => {
                live.saved.try_lock().is_some_and(|saved| self.needs_use_update(saved.last_use, live.last_use().0))
            }
            SavePolicy::AtMostEvery(pause) => self.is_save_overdue(live, pause),
        }
    }

    fn is_save_overdue(&self, live: &LiveSandbox, pause: Duration) -> bool {
        let over_due = |at: u64| u128::from(self.now().saturating_sub(at)) >= pause.as_nanos();
        live.saved.try_lock().is_some_and(|saved| over_due(saved.at))
    }

    /// Saves sandboxes whose interval has passed and that get no calls.
    pub(super) async fn save_overdue(&self) -> Result<()> {
        let SavePolicy::AtMostEvery(pause) = self.settings.saving else { return Ok(()) };
        let mut result = Ok(());
        for live in self.in_memory() {
            if self.is_save_overdue(&live, pause) {
                result = result.and(self.save(&live).await);
            }
        }
        result
    }

    /// Returns every sandbox in memory.
    pub(super) fn in_memory(&self) -> Vec<Arc<LiveSandbox>> {
        let live = |entry: &Entry| match &entry.location {
            Location::Memory(live) => Some(Arc::clone(live)),
            Location::Store { .. } => None,
        };
        self.entries().all().filter_map(|(_, entry)| live(entry)).collect()
    }

    fn needs_use_update(&self, saved: u64, used: u64) -> bool {
        let later = u128::from(used.saturating_sub(saved));
        self.settings.idle_timeout.is_some_and(|idle| later > (idle / USE_UPDATE_DIVISOR).as_nanos())
    }

    /// Saves a sandbox and frees its memory. With a store it is restored on the next request.
    pub(super) async fn close(&self, live: &LiveSandbox) -> Result<()> {
        // Save before releasing anything, so that a failing store fails only the call.
        self.save(live).await?;
        let mut saved = live.saved.lock().await;
        let Some(kernel) = live.sandbox.take_kernel() else { return Ok(()) };
        let Some(store) = &self.settings.store else { return Ok(()) };
        // Changes made while it was being saved.
        let files = kernel.lock().snapshot();
        let snapshot = live.sandbox.snapshot_of(files);
        let result = self.put(&**store, live, &mut saved, snapshot).await;
        store.release(live.sandbox.id());
        // The handle may be kept for long, and its snapshots hold the files.
        (saved.snapshot, saved.stored) = (None, None);
        result
    }
}
