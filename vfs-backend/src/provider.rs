//! Sandboxes of this process, by id and by labels, with a time to live and a place to be saved in.

mod handle;
mod live;
mod resume;
mod saving;
mod settings;
mod shelf;
mod store;

use std::fmt;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::lock::MutexGuard;
use tidebox_core::layer::layered;
use tidebox_core::{
    BoxFuture, ListPage, ListRequest, Result, SandboxBackend, SandboxId, SandboxInfo, SandboxProvider, Selector,
};
use tidebox_kernel::{Clock, FixedClock};

use self::handle::Handle;
use self::live::{Ended, Live};
use self::shelf::{Found, Place, Shelf};
use crate::{SandboxBuilder, VfsBackend};

pub use self::settings::{ProviderSettings, Saving};
pub use self::store::{SavedSandbox, SnapshotStore};

/// Sandboxes on one page of a list.
const PAGE: usize = 100;

/// Makes sandboxes in this process and keeps them until they are deleted, closed, or their time is over.
///
/// With a [`SnapshotStore`] they outlive the process: files and shell session are saved and come back with the same id
/// when they are asked for; `close` then saves and gives the memory back, and only `delete` and the time to live remove
/// them for good.
///
/// Nothing runs in the background: whose time is over is looked at with every call, and by [`sweep`](Self::sweep).
pub struct VfsProvider {
    shelf: Arc<Shelf>,
    /// What the store holds is known.
    learned: AtomicBool,
}

impl fmt::Debug for VfsProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VfsProvider").field("shelf", &self.shelf).finish_non_exhaustive()
    }
}

impl VfsProvider {
    /// A provider whose new sandboxes are what `make` describes, and that keeps them in memory.
    pub fn new(make: impl Fn() -> Result<SandboxBuilder> + Send + Sync + 'static) -> Self {
        // Without a time to live, nobody asks what time it is.
        Self::with_settings(make, Box::new(FixedClock::new(0)), ProviderSettings::default())
    }

    /// A provider whose new sandboxes are what `make` describes, and whose sandboxes live by the real time of `clock`.
    /// Every sandbox of `make` needs an id of its own. A saved sandbox comes back with its files in the place of those
    /// that `make` puts in.
    pub fn with_settings(
        make: impl Fn() -> Result<SandboxBuilder> + Send + Sync + 'static,
        clock: Box<dyn Clock>,
        settings: ProviderSettings,
    ) -> Self {
        let shelf = Arc::new(Shelf::new(Box::new(make), clock, settings));
        Self { shelf, learned: AtomicBool::new(false) }
    }

    /// Deletes every sandbox whose time is over, and answers which. Saves what [`Saving::AtMostEvery`] held back for long
    /// enough. For a timer of the caller's, so that both happen also while nobody calls.
    ///
    /// # Errors
    /// Those of the store. What was not deleted is deleted by the next call.
    pub async fn sweep(&self) -> Result<Vec<SandboxId>> {
        let expired = {
            let _changing = self.change().await?;
            self.shelf.expire_all().await?
        };
        self.shelf.save_over_due().await?;
        Ok(expired)
    }

    /// Saves every sandbox in memory that has changed since it was saved.
    ///
    /// # Errors
    /// Those of the store; the others are saved nevertheless.
    pub async fn save(&self) -> Result<()> {
        let mut result = Ok(());
        for live in self.shelf.in_memory() {
            result = result.and(self.shelf.save(&live).await);
        }
        result
    }

    /// The sandbox of this id with all its own methods, when it is in memory: for snapshots and forks. What is changed by
    /// this way is not counted as use, and is saved with the next call that is.
    pub fn sandbox(&self, id: &SandboxId) -> Option<Arc<VfsBackend>> {
        match &self.shelf.entries().get(id)?.place {
            Place::Memory(live) => Some(Arc::clone(&live.sandbox)),
            Place::Store { .. } => None,
        }
    }

    /// Waits until nobody else changes which sandboxes there are, and knows those of the store.
    async fn change(&self) -> Result<MutexGuard<'_, ()>> {
        let changing = self.shelf.changing.lock().await;
        if !self.learned.load(Ordering::Acquire) {
            if let Some(store) = &self.shelf.settings.store {
                self.shelf.learn(&**store).await?;
            }
            self.learned.store(true, Ordering::Release);
        }
        Ok(changing)
    }

    /// The sandbox when it is in memory and its time is not over: nobody has to be waited for.
    fn at_hand(&self, selector: &Selector) -> Option<Arc<Live>> {
        match self.shelf.find(selector) {
            Ok(Found::Live(live)) if self.learned.load(Ordering::Acquire) && !self.shelf.is_over(&live) => Some(live),
            _ => None,
        }
    }

    async fn get(&self, selector: &Selector) -> Result<Arc<Live>> {
        if let Some(live) = self.at_hand(selector) {
            live.touch(self.shelf.now());
            return Ok(live);
        }
        let _changing = self.change().await?;
        self.shelf.expire_all().await?;
        let live = match self.shelf.find(selector)? {
            Found::Live(live) => live,
            Found::Saved(id) => self.shelf.load(&id).await?,
            Found::Nothing(labels) => self.shelf.create(labels).await?,
        };
        live.touch(self.shelf.now());
        Ok(live)
    }

    fn page(&self, request: &ListRequest) -> Result<ListPage> {
        let start = match &request.cursor {
            // The cursor is the last id of the page before, which may be gone by now.
            Some(cursor) => Bound::Excluded(SandboxId::parse(cursor.as_str())?),
            None => Bound::Unbounded,
        };
        let entries = self.shelf.entries();
        let mut matching = entries.range((start, Bound::Unbounded)).filter(|(_, entry)| entry.bears(&request.labels));
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
            Ok(layered(Handle { shelf: Arc::clone(&self.shelf), live }))
        })
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListPage>> {
        Box::pin(async move {
            let _changing = self.change().await?;
            self.shelf.expire_all().await?;
            self.page(&request)
        })
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let _changing = self.change().await?;
            self.shelf.remove(id, Ended::Deleted).await
        })
    }
}
