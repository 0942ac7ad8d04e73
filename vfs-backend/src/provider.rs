//! Sandboxes of this process, by id and by labels, with expiry and persistence.

mod entries;
mod handle;
mod live;
mod registry;
mod resume;
mod saved_backend;
mod saving;
mod settings;
mod store;

use std::fmt;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::lock::MutexGuard;
use tidebox_core::layer::from_layer;
use tidebox_core::{
    BoxFuture, ListPage, ListRequest, Result, SandboxBackend, SandboxId, SandboxInfo, SandboxProvider, Selector,
};
use tidebox_kernel::{Clock, VirtualClock};

use self::entries::Location;
use self::handle::SandboxHandle;
use self::live::{CloseReason, LiveSandbox};
use self::registry::{Lookup, SandboxRegistry};
use crate::{SandboxBuilder, VfsBackend};

pub use self::saved_backend::SavedBackend;
pub use self::settings::{ProviderSettings, SavePolicy};
pub use self::store::{Durability, SaveRequest, SavedFiles, SavedSandbox, SnapshotStore};

/// Sandboxes per page of a list.
const PAGE: usize = 100;

/// Creates sandboxes in this process and keeps them until they are deleted, closed or expired.
///
/// With a [`SnapshotStore`] they outlive the process: files and shell session are saved and restored under the same id
/// on the next request; `close` then saves and frees the memory, and only `delete` and expiry remove them permanently.
///
/// The provider has no background tasks: expiry is checked on every call, and by [`delete_expired`](Self::delete_expired).
pub struct VfsProvider {
    registry: Arc<SandboxRegistry>,
    /// True once the store's index has been loaded.
    index_loaded: AtomicBool,
}

impl fmt::Debug for VfsProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VfsProvider").field("registry", &self.registry).finish_non_exhaustive()
    }
}

impl VfsProvider {
    /// A provider that creates sandboxes with `make` and keeps them in memory.
    pub fn new(make: impl Fn() -> Result<SandboxBuilder> + Send + Sync + 'static) -> Self {
        // Without expiry, the time is not used.
        Self::with_settings(make, Box::new(VirtualClock::new(0)), ProviderSettings::default())
    }

    /// A provider that creates sandboxes with `make` and expires them by the real time of `clock`. Each sandbox of
    /// `make` must have a unique id. A restored sandbox has its saved files instead of the initial files of `make`.
    pub fn with_settings(
        make: impl Fn() -> Result<SandboxBuilder> + Send + Sync + 'static,
        clock: Box<dyn Clock>,
        settings: ProviderSettings,
    ) -> Self {
        let registry = Arc::new(SandboxRegistry::new(Box::new(make), clock, settings));
        Self { registry, index_loaded: AtomicBool::new(false) }
    }

    /// Deletes every expired sandbox and returns their ids. Also removes what the store does not need any more, and saves
    /// sandboxes whose [`SavePolicy::AtMostEvery`] interval has passed. Call it from a timer, so that this happens without
    /// other calls.
    ///
    /// # Errors
    ///
    /// Errors of the store. Sandboxes that were not deleted are deleted by the next call.
    pub async fn delete_expired(&self) -> Result<Vec<SandboxId>> {
        let expired = {
            let _changing = self.lock_for_change().await?;
            self.registry.expire_all().await?
        };
        self.registry.save_overdue().await?;
        if let Some(store) = &self.registry.settings.store {
            store.collect_garbage().await?;
        }
        Ok(expired)
    }

    /// Returns what the sandboxes of this provider survive once they are saved: that of its store, or
    /// [`Durability::Memory`] without one.
    pub fn durability(&self) -> Durability {
        self.registry.settings.store.as_ref().map(|store| store.durability()).unwrap_or_default()
    }

    /// Saves every sandbox in memory that has changed since it was saved.
    ///
    /// # Errors
    ///
    /// Errors of the store; the remaining sandboxes are still saved.
    pub async fn save(&self) -> Result<()> {
        let mut result = Ok(());
        for live in self.registry.in_memory() {
            result = result.and(self.registry.save(&live).await);
        }
        result
    }

    /// Returns the sandbox of this id if it is in memory, for snapshots and forks. Changes through it do not count as
    /// use and are saved with the next call that does.
    pub fn sandbox(&self, id: &SandboxId) -> Option<Arc<VfsBackend>> {
        match &self.registry.entries().get(id)?.location {
            Location::Memory(live) => Some(Arc::clone(&live.sandbox)),
            Location::Store { .. } => None,
        }
    }

    /// Acquires the lock for changing the set of sandboxes, and loads the store's index.
    async fn lock_for_change(&self) -> Result<MutexGuard<'_, ()>> {
        let changing = self.registry.change_lock.lock().await;
        if !self.index_loaded.load(Ordering::Acquire) {
            if let Some(store) = &self.registry.settings.store {
                self.registry.load_index(&**store).await?;
            }
            self.index_loaded.store(true, Ordering::Release);
        }
        Ok(changing)
    }

    /// Returns the sandbox if it is in memory and not expired, without waiting.
    fn find_in_memory(&self, selector: &Selector) -> Option<Arc<LiveSandbox>> {
        match self.registry.find(selector) {
            Ok(Lookup::Live(live)) if self.index_loaded.load(Ordering::Acquire) && !self.registry.is_expired(&live) => {
                Some(live)
            }
            _ => None,
        }
    }

    async fn get(&self, selector: &Selector) -> Result<Arc<LiveSandbox>> {
        if let Some(live) = self.find_in_memory(selector) {
            live.touch(self.registry.now());
            return Ok(live);
        }
        let _changing = self.lock_for_change().await?;
        self.registry.expire_all().await?;
        let live = match self.find_anywhere(selector).await? {
            Lookup::Live(live) => live,
            Lookup::Saved(id) => self.registry.load(&id).await?,
            Lookup::Nothing(labels) => self.registry.create(labels).await?,
        };
        live.touch(self.registry.now());
        Ok(live)
    }

    /// Finds a sandbox. Reads the index of a shared store again before reporting a missing sandbox.
    async fn find_anywhere(&self, selector: &Selector) -> Result<Lookup> {
        let found = self.registry.find(selector);
        match (&found, &self.registry.settings.store) {
            (Ok(Lookup::Nothing(labels)), _) if labels.is_empty() => found,
            (Ok(Lookup::Nothing(_)) | Err(_), Some(store)) if store.has_other_writers() => {
                self.registry.load_index(&**store).await?;
                self.registry.find(selector)
            }
            _ => found,
        }
    }

    fn page(&self, request: &ListRequest) -> Result<ListPage> {
        let start = match &request.cursor {
            // The cursor is the last id of the previous page, which may be deleted by now.
            Some(cursor) => Bound::Excluded(SandboxId::parse(cursor.as_str())?),
            None => Bound::Unbounded,
        };
        let entries = self.registry.entries();
        let mut matching = entries.with_labels(&request.labels, start);
        let page: Vec<_> = matching
            .by_ref()
            .take(PAGE)
            .map(|(id, entry)| SandboxInfo { id: id.clone(), labels: entry.labels.clone() })
            .collect();
        let last = page.last().map(|info| info.id.as_str().to_owned());
        let cursor = last.filter(|_| matching.next().is_some());
        Ok(ListPage { sandboxes: page, cursor })
    }
}

impl SandboxProvider for VfsProvider {
    fn get_or_create(&self, selector: Selector) -> BoxFuture<'_, Result<Arc<dyn SandboxBackend>>> {
        Box::pin(async move {
            let live = self.get(&selector).await?;
            Ok(from_layer(SandboxHandle { registry: Arc::clone(&self.registry), live }))
        })
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListPage>> {
        Box::pin(async move {
            let _changing = self.lock_for_change().await?;
            self.registry.expire_all().await?;
            self.page(&request)
        })
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let _changing = self.lock_for_change().await?;
            self.registry.remove(id, CloseReason::Deleted).await
        })
    }
}
