//! The sandboxes of a provider.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tidebox_core::{Error, ErrorKind, Result, SandboxBackend, SandboxId, Selector};
use tidebox_kernel::Clock;

use super::live::{Ended, Live};
use super::settings::ProviderSettings;
use crate::SandboxBuilder;

pub(super) type Make = dyn Fn() -> Result<SandboxBuilder> + Send + Sync;

/// What handles and the provider share.
pub(super) struct Shelf {
    make: Box<Make>,
    clock: Mutex<Box<dyn Clock>>,
    pub(super) settings: ProviderSettings,
    entries: Mutex<Entries>,
    /// Held by whoever makes, loads or removes sandboxes, so that two callers with the same labels get one.
    pub(super) changing: futures_util::lock::Mutex<()>,
}

pub(super) type Entries = BTreeMap<SandboxId, Entry>;

#[derive(Debug)]
pub(super) struct Entry {
    pub(super) labels: BTreeMap<String, String>,
    pub(super) created: u64,
    pub(super) place: Place,
}

/// Where a sandbox is.
#[derive(Debug)]
pub(super) enum Place {
    Memory(Arc<Live>),
    /// In the store only.
    Store {
        used: u64,
    },
}

impl Entry {
    pub(super) fn bears(&self, labels: &BTreeMap<String, String>) -> bool {
        labels.iter().all(|(name, value)| self.labels.get(name) == Some(value))
    }

    /// When it was used last, and whether it is being used.
    fn used(&self) -> (u64, bool) {
        match &self.place {
            Place::Memory(live) => live.used(),
            Place::Store { used } => (*used, false),
        }
    }
}

/// What a selector leads to.
pub(super) enum Found {
    Live(Arc<Live>),
    Saved(SandboxId),
    Nothing(BTreeMap<String, String>),
}

impl fmt::Debug for Shelf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shelf")
            .field("sandboxes", &self.entries().len())
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Shelf {
    pub(super) fn new(make: Box<Make>, clock: Box<dyn Clock>, settings: ProviderSettings) -> Self {
        let (entries, changing) = (Mutex::default(), futures_util::lock::Mutex::default());
        Self { make, clock: Mutex::new(clock), settings, entries, changing }
    }

    pub(super) fn now(&self) -> u64 {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner).realtime()
    }

    pub(super) fn make(&self) -> Result<SandboxBuilder> {
        (self.make)()
    }

    /// The sandboxes. One that was closed is in the store, or not there any more: nobody can use it.
    pub(super) fn entries(&self) -> MutexGuard<'_, Entries> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let saved = self.settings.store.is_some();
        entries.retain(|_, entry| match &entry.place {
            Place::Memory(live) if live.sandbox.is_closed() => {
                entry.place = Place::Store { used: live.used().0 };
                saved
            }
            _ => true,
        });
        entries
    }

    pub(super) fn find(&self, selector: &Selector) -> Result<Found> {
        let entries = self.entries();
        let found = match selector {
            Selector::Id(id) => {
                let found = entries.get_key_value(id);
                Some(found.ok_or_else(|| {
                    let message =
                        "no sandbox of this provider has this id; it may have been closed, deleted, or expired";
                    Error::new(ErrorKind::SandboxNotFound, "get sandbox", message).with_context("sandbox", id.as_str())
                })?)
            }
            Selector::Labels(labels) if labels.is_empty() => None,
            Selector::Labels(labels) => entries.iter().find(|(_, entry)| entry.bears(labels)),
        };
        Ok(match (found, selector) {
            (Some((_, Entry { place: Place::Memory(live), .. })), _) => Found::Live(Arc::clone(live)),
            (Some((id, _)), _) => Found::Saved(id.clone()),
            (None, Selector::Labels(labels)) => Found::Nothing(labels.clone()),
            (None, Selector::Id(_)) => Found::Nothing(BTreeMap::new()),
        })
    }

    /// Why a sandbox's time is over, if it is.
    fn over(&self, created: u64, (used, running): (u64, bool), now: u64) -> Option<Ended> {
        let passed = |since: u64, limit: Option<Duration>| {
            limit.is_some_and(|limit| u128::from(now.saturating_sub(since)) >= limit.as_nanos())
        };
        if passed(created, self.settings.lifetime) {
            Some(Ended::Lifetime)
        } else if !running && passed(used, self.settings.idle) {
            Some(Ended::Idle)
        } else {
            None
        }
    }

    /// Whether a sandbox's time is over.
    pub(super) fn is_over(&self, live: &Live) -> bool {
        self.over(live.created, live.used(), self.now()).is_some()
    }

    /// Deletes a sandbox whose time is over. Cheap when it is not.
    pub(super) async fn expire(&self, live: &Live) -> Result<()> {
        if !self.is_over(live) {
            return Ok(());
        }
        let _changing = self.changing.lock().await;
        match self.over(live.created, live.used(), self.now()) {
            Some(ended) => self.remove(live.sandbox.id(), ended).await,
            None => Ok(()),
        }
    }

    /// Deletes every sandbox whose time is over. The caller holds `changing`.
    pub(super) async fn expire_all(&self) -> Result<Vec<SandboxId>> {
        let now = self.now();
        let over: Vec<(SandboxId, Ended)> = self
            .entries()
            .iter()
            .filter_map(|(id, entry)| Some((id.clone(), self.over(entry.created, entry.used(), now)?)))
            .collect();
        let mut expired = Vec::with_capacity(over.len());
        for (id, ended) in over {
            self.remove(&id, ended).await?;
            expired.push(id);
        }
        Ok(expired)
    }

    /// Closes a sandbox and removes it for good, from the store first: when that fails it is still there and can be
    /// deleted again. The caller holds `changing`.
    pub(super) async fn remove(&self, id: &SandboxId, ended: Ended) -> Result<()> {
        let live = match self.entries().get(id) {
            None => return Ok(()),
            Some(Entry { place: Place::Memory(live), .. }) => Some(Arc::clone(live)),
            Some(_) => None,
        };
        // Waits for saving to end, and lets nobody save it again.
        let mut saved = match &live {
            Some(live) => Some(live.saved.lock().await),
            None => None,
        };
        if let Some(store) = &self.settings.store {
            store.delete(id).await?;
        }
        if let Some(saved) = &mut saved {
            saved.gone = true;
        }
        if let Some(live) = &live {
            live.set_ended(ended);
            live.sandbox.shut();
        }
        self.entries().remove(id);
        Ok(())
    }
}
