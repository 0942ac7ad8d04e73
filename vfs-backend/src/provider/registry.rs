//! Registry of a provider's sandboxes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use tidebox_core::lock::Mutex;
use tidebox_core::{Error, ErrorKind, Result, SandboxBackend, SandboxId, Selector};
use tidebox_kernel::Clock;

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

pub(super) type Entries = BTreeMap<SandboxId, Entry>;

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) labels: BTreeMap<String, String>,
    pub(super) created: u64,
    pub(super) location: Location,
}

/// Location of a sandbox.
#[derive(Debug)]
pub(super) enum Location {
    Memory(Arc<LiveSandbox>),
    /// In the store only.
    Store {
        last_use: u64,
    },
}

impl Entry {
    pub(super) fn has_labels(&self, labels: &BTreeMap<String, String>) -> bool {
        labels.iter().all(|(name, value)| self.labels.get(name) == Some(value))
    }

    /// Returns the time of the last use, and whether it is in use.
    fn last_use(&self) -> (u64, bool) {
        match &self.location {
            Location::Memory(live) => live.last_use(),
            Location::Store { last_use: used } => (*used, false),
        }
    }
}

/// Result of a selector lookup.
pub(super) enum Lookup {
    Live(Arc<LiveSandbox>),
    Saved(SandboxId),
    Nothing(BTreeMap<String, String>),
}

impl fmt::Debug for SandboxRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shelf")
            .field("sandboxes", &self.entries().len())
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl SandboxRegistry {
    pub(super) fn new(make: Box<Make>, clock: Box<dyn Clock>, settings: ProviderSettings) -> Self {
        let (entries, changing) = (Mutex::default(), futures_util::lock::Mutex::default());
        Self { new_builder: make, clock: Mutex::new(clock), settings, entries, change_lock: changing }
    }

    pub(super) fn now(&self) -> u64 {
        self.clock.lock().realtime()
    }

    pub(super) fn new_builder(&self) -> Result<SandboxBuilder> {
        (self.new_builder)()
    }

    /// Locks the entries. A closed sandbox has no live entry: it is in the store only, or removed.
    pub(super) fn entries(&self) -> MutexGuard<'_, Entries> {
        let mut entries = self.entries.lock();
        let saved = self.settings.store.is_some();
        entries.retain(|_, entry| match &entry.location {
            Location::Memory(live) if live.sandbox.is_closed() => {
                entry.location = Location::Store { last_use: live.last_use().0 };
                saved
            }
            _ => true,
        });
        entries
    }

    pub(super) fn find(&self, selector: &Selector) -> Result<Lookup> {
        let entries = self.entries();
        let lookup = match selector {
            Selector::Id(id) => {
                let lookup = entries.get_key_value(id);
                Some(lookup.ok_or_else(|| {
                    let message =
                        "no sandbox of this provider has this id; it may have been closed, deleted, or expired";
                    Error::new(ErrorKind::SandboxNotFound, "get sandbox", message).with_context("sandbox", id.as_str())
                })?)
            }
            Selector::Labels(labels) if labels.is_empty() => None,
            Selector::Labels(labels) => entries.iter().find(|(_, entry)| entry.has_labels(labels)),
        };
        Ok(match (lookup, selector) {
            (Some((_, Entry { location: Location::Memory(live), .. })), _) => Lookup::Live(Arc::clone(live)),
            (Some((id, _)), _) => Lookup::Saved(id.clone()),
            (None, Selector::Labels(labels)) => Lookup::Nothing(labels.clone()),
            (None, Selector::Id(_)) => Lookup::Nothing(BTreeMap::new()),
        })
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

    /// Deletes every expired sandbox. The caller must hold `change_lock`.
    pub(super) async fn expire_all(&self) -> Result<Vec<SandboxId>> {
        let now = self.now();
        let over: Vec<(SandboxId, CloseReason)> = self
            .entries()
            .iter()
            .filter_map(|(id, entry)| Some((id.clone(), self.expiry_reason(entry.created, entry.last_use(), now)?)))
            .collect();
        let mut expired = Vec::with_capacity(over.len());
        for (id, ended) in over {
            if self.is_used_elsewhere(&id, now).await? {
                continue;
            }
            self.remove(&id, ended).await?;
            expired.push(id);
        }
        Ok(expired)
    }

    /// Returns whether another program has used a sandbox of a shared store, so that it has not expired. Updates its time of use,
    /// and closes it if it is in the memory of this program.
    async fn is_used_elsewhere(&self, id: &SandboxId, now: u64) -> Result<bool> {
        let shared = self.settings.store.as_ref().filter(|store| store.has_other_writers());
        let Some(store) = shared else { return Ok(false) };
        let Some(saved) = store.find(id).await? else { return Ok(false) };
        let mut entries = self.entries();
        let Some(entry) = entries.get_mut(id).filter(|entry| saved.last_used > entry.last_use().0) else {
            return Ok(false);
        };
        if let Location::Memory(live) = &entry.location {
            live.set_closed(CloseReason::TakenOver);
            live.sandbox.take_kernel();
        }
        entry.location = Location::Store { last_use: saved.last_used };
        Ok(self.expiry_reason(entry.created, (saved.last_used, false), now).is_none())
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
