//! Registry of a provider's sandboxes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use tidebox_core::lock::Mutex;
use tidebox_core::{Error, ErrorKind, Result, SandboxBackend, SandboxId, Selector};
use tidebox_kernel::Clock;

use super::entries::{Entries, Entry, Location};
use super::live::{CloseReason, LiveSandbox};
use super::settings::ProviderSettings;
use crate::SandboxBuilder;

pub(super) type Make = dyn Fn() -> Result<SandboxBuilder> + Send + Sync;

/// State shared by the handles and the provider.
pub(super) struct SandboxRegistry {
    new_builder: Box<Make>,
    clock: Mutex<Box<dyn Clock>>,
    pub(super) settings: ProviderSettings,
    entries: Mutex<Entries>,
    /// Locked while a sandbox is created, loaded or removed, so that two callers with the same labels get the same
    /// sandbox.
    pub(super) change_lock: futures_util::lock::Mutex<()>,
}

/// Result of a selector lookup.
pub(super) enum Lookup {
    Live(Arc<LiveSandbox>),
    Saved(SandboxId),
    Nothing(BTreeMap<String, String>),
}

impl fmt::Debug for SandboxRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SandboxRegistry")
            .field("sandboxes", &self.entries().len())
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl SandboxRegistry {
    pub(super) fn new(make: Box<Make>, clock: Box<dyn Clock>, settings: ProviderSettings) -> Self {
        let entries = Mutex::new(Entries::new(settings.store.is_some()));
        Self { new_builder: make, clock: Mutex::new(clock), settings, entries, change_lock: Default::default() }
    }

    pub(super) fn now(&self) -> u64 {
        self.clock.lock().realtime()
    }

    pub(super) fn new_builder(&self) -> Result<SandboxBuilder> {
        (self.new_builder)()
    }

    pub(super) fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock()
    }

    /// Adds or replaces a sandbox.
    pub(super) fn insert(&self, id: SandboxId, entry: Entry) {
        let expiry = self.earliest_expiry(&entry, self.now());
        self.entries().insert(id, entry, expiry);
    }

    pub(super) fn find(&self, selector: &Selector) -> Result<Lookup> {
        let mut entries = self.entries();
        let id = match selector {
            Selector::Id(id) => Some(id.clone()),
            Selector::Labels(labels) if labels.is_empty() => None,
            Selector::Labels(labels) => entries.first_with(labels),
        };
        let found = id.and_then(|id| match &entries.get(&id)?.location {
            Location::Memory(live) => Some(Lookup::Live(Arc::clone(live))),
            Location::Store { .. } => Some(Lookup::Saved(id)),
        });
        match (found, selector) {
            (Some(found), _) => Ok(found),
            (None, Selector::Labels(labels)) => Ok(Lookup::Nothing(labels.clone())),
            (None, Selector::Id(id)) => {
                let message = "no sandbox of this provider has this id; it may have been closed, deleted, or expired";
                let error = Error::new(ErrorKind::SandboxNotFound, "get sandbox", message);
                Err(error.with_context("sandbox", id.as_str()))
            }
        }
    }

    /// Returns the reason if a sandbox has expired.
    fn expiry_reason(&self, created: u64, (used, running): (u64, bool), now: u64) -> Option<CloseReason> {
        let passed = |since: u64, limit: Option<Duration>| {
            limit.is_some_and(|limit| u128::from(now.saturating_sub(since)) >= limit.as_nanos())
        };
        if passed(created, self.settings.lifetime) {
            Some(CloseReason::Lifetime)
        } else if !running && passed(used, self.settings.idle_timeout) {
            Some(CloseReason::Idle)
        } else {
            None
        }
    }

    /// Returns a time before which a sandbox does not expire. One in use expires later than that.
    fn earliest_expiry(&self, entry: &Entry, now: u64) -> u64 {
        let after = |since: u64, limit: Option<Duration>| {
            let limit = limit.and_then(|limit| u64::try_from(limit.as_nanos()).ok());
            limit.map_or(u64::MAX, |limit| since.saturating_add(limit))
        };
        let used = match entry.last_use() {
            (used, false) => used,
            (used, true) => used.max(now),
        };
        after(entry.created, self.settings.lifetime).min(after(used, self.settings.idle_timeout))
    }

    /// Returns whether a sandbox has expired.
    pub(super) fn is_expired(&self, live: &LiveSandbox) -> bool {
        self.expiry_reason(live.created, live.last_use(), self.now()).is_some()
    }

    /// Deletes a sandbox if it has expired. Cheap if it has not.
    pub(super) async fn expire(&self, live: &LiveSandbox) -> Result<()> {
        if !self.is_expired(live) {
            return Ok(());
        }
        let _changing = self.change_lock.lock().await;
        let Some(ended) = self.expiry_reason(live.created, live.last_use(), self.now()) else { return Ok(()) };
        if self.is_used_elsewhere(live.sandbox.id(), self.now()).await? {
            return Ok(());
        }
        self.remove(live.sandbox.id(), ended).await
    }

    /// Deletes every expired sandbox. The caller must hold `change_lock`. Cheap before the time at which the first one expires.
    pub(super) async fn expire_all(&self) -> Result<Vec<SandboxId>> {
        let now = self.now();
        let over = self.expired(now);
        let mut expired = Vec::with_capacity(over.len());
        for (id, ended) in over {
            let removed = match self.is_used_elsewhere(&id, now).await {
                Ok(true) => continue,
                Ok(false) => self.remove(&id, ended).await,
                Err(error) => Err(error),
            };
            if let Err(error) = removed {
                // The sandboxes that remain have expired already.
                self.entries().set_next_expiry(now);
                return Err(error);
            }
            expired.push(id);
        }
        Ok(expired)
    }

    /// Returns the expired sandboxes, and notes when the next one expires.
    fn expired(&self, now: u64) -> Vec<(SandboxId, CloseReason)> {
        let mut entries = self.entries();
        if now < entries.next_expiry() {
            return Vec::new();
        }
        let (mut over, mut next) = (Vec::new(), u64::MAX);
        for (id, entry) in entries.all() {
            match self.expiry_reason(entry.created, entry.last_use(), now) {
                Some(reason) => over.push((id.clone(), reason)),
                None => next = next.min(self.earliest_expiry(entry, now)),
            }
        }
        entries.set_next_expiry(next);
        over
    }

    /// Returns whether another program has used a sandbox of a shared store, so that it has not expired. Updates its time of use,
    /// and closes it if it is in the memory of this program.
    async fn is_used_elsewhere(&self, id: &SandboxId, now: u64) -> Result<bool> {
        let shared = self.settings.store.as_ref().filter(|store| store.has_other_writers());
        let Some(store) = shared else { return Ok(false) };
        let Some(saved) = store.find(id).await? else { return Ok(false) };
        let mut entries = self.entries();
        let Some(entry) = entries.get(id).filter(|entry| saved.last_used > entry.last_use().0) else {
            return Ok(false);
        };
        if let Location::Memory(live) = &entry.location {
            live.set_closed(CloseReason::TakenOver);
            live.sandbox.take_kernel();
        }
        entry.location = Location::Store { last_use: saved.last_used };
        let is_alive = self.expiry_reason(entry.created, (saved.last_used, false), now).is_none();
        let expiry = self.earliest_expiry(entry, now).min(entries.next_expiry());
        entries.set_next_expiry(expiry);
        Ok(is_alive)
    }

    /// Closes a sandbox and removes it permanently, from the store first: if that fails, it still exists and can be
    /// deleted again. The caller must hold `change_lock`.
    pub(super) async fn remove(&self, id: &SandboxId, ended: CloseReason) -> Result<()> {
        let live = match self.entries().get(id) {
            None => return Ok(()),
            Some(Entry { location: Location::Memory(live), .. }) => Some(Arc::clone(live)),
            Some(_) => None,
        };
        // Waits for a save in progress and prevents further ones.
        let mut saved = match &live {
            Some(live) => Some(live.saved.lock().await),
            None => None,
        };
        if let Some(store) = &self.settings.store {
            store.delete(id).await?;
        }
        if let Some(saved) = &mut saved {
            saved.ended = true;
        }
        if let Some(live) = &live {
            live.set_closed(ended);
            live.sandbox.take_kernel();
        }
        self.entries().remove(id);
        Ok(())
    }
}
