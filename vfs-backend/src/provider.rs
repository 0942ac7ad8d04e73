//! Sandboxes of this process, by id and by labels.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidebox_core::{
    BoxFuture, Error, ErrorKind, ListPage, ListRequest, Result, SandboxBackend, SandboxId, SandboxInfo,
    SandboxProvider, Selector,
};

use crate::{SandboxBuilder, VfsBackend};

/// Sandboxes on one page of a list.
const PAGE: usize = 100;

type Make = dyn Fn() -> Result<SandboxBuilder> + Send + Sync;

/// Makes sandboxes in this process and keeps them until they are deleted or closed. What it holds is gone with the
/// process.
pub struct VfsProvider {
    make: Box<Make>,
    sandboxes: Mutex<BTreeMap<SandboxId, Kept>>,
}

struct Kept {
    sandbox: Arc<VfsBackend>,
    labels: BTreeMap<String, String>,
}

impl Kept {
    fn bears(&self, labels: &BTreeMap<String, String>) -> bool {
        labels.iter().all(|(name, value)| self.labels.get(name) == Some(value))
    }
}

impl fmt::Debug for VfsProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VfsProvider").field("sandboxes", &self.sandboxes().len()).finish_non_exhaustive()
    }
}

impl VfsProvider {
    /// A provider whose new sandboxes are what `make` describes.
    pub fn new(make: impl Fn() -> Result<SandboxBuilder> + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), sandboxes: Mutex::default() }
    }

    /// The sandboxes, without those that were closed: nobody can use them any more, so they are not there.
    fn sandboxes(&self) -> MutexGuard<'_, BTreeMap<SandboxId, Kept>> {
        let mut sandboxes = self.sandboxes.lock().unwrap_or_else(PoisonError::into_inner);
        sandboxes.retain(|_, kept| !kept.sandbox.is_closed());
        sandboxes
    }

    fn find(&self, selector: &Selector) -> Result<Arc<VfsBackend>> {
        let mut sandboxes = self.sandboxes();
        let labels = match selector {
            Selector::Id(id) => {
                let found = sandboxes.get(id).map(|kept| Arc::clone(&kept.sandbox));
                return found.ok_or_else(|| {
                    let message = "no sandbox of this process has this id; it may have been closed or deleted";
                    Error::new(ErrorKind::SandboxNotFound, "get sandbox", message).with_context("sandbox", id.as_str())
                });
            }
            Selector::Labels(labels) => labels,
        };
        if !labels.is_empty()
            && let Some(kept) = sandboxes.values().find(|kept| kept.bears(labels))
        {
            return Ok(Arc::clone(&kept.sandbox));
        }
        // Made under the lock, which takes microseconds, so that two callers with the same labels get one sandbox.
        let sandbox = Arc::new((self.make)()?.build()?);
        let kept = Kept { sandbox: Arc::clone(&sandbox), labels: labels.clone() };
        if sandboxes.contains_key(sandbox.id()) {
            let message =
                "there is a sandbox with this id already; do not fix the id or the seed of a provider's sandboxes";
            return Err(Error::new(ErrorKind::InvalidRequest, "create sandbox", message)
                .with_context("sandbox", sandbox.id().as_str()));
        }
        sandboxes.insert(sandbox.id().clone(), kept);
        Ok(sandbox)
    }

    fn page(&self, request: &ListRequest) -> Result<ListPage> {
        let start = match &request.cursor {
            // The cursor is the last id of the page before, which may be gone by now.
            Some(cursor) => Bound::Excluded(SandboxId::parse(cursor.as_str())?),
            None => Bound::Unbounded,
        };
        let sandboxes = self.sandboxes();
        let mut matching = sandboxes.range((start, Bound::Unbounded)).filter(|(_, kept)| kept.bears(&request.labels));
        let page: Vec<_> = matching
            .by_ref()
            .take(PAGE)
            .map(|(id, kept)| SandboxInfo { id: id.clone(), labels: kept.labels.clone() })
            .collect();
        let last = page.last().map(|info| info.id.as_str().to_owned());
        let cursor = last.filter(|_| matching.next().is_some());
        Ok(ListPage { sandboxes: page, cursor })
    }
}

impl SandboxProvider for VfsProvider {
    fn get_or_create(&self, selector: Selector) -> BoxFuture<'_, Result<Arc<dyn SandboxBackend>>> {
        Box::pin(async move { self.find(&selector).map(|sandbox| sandbox as Arc<dyn SandboxBackend>) })
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListPage>> {
        Box::pin(async move { self.page(&request) })
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let kept = self.sandboxes().remove(id);
            match kept {
                Some(kept) => kept.sandbox.close().await,
                None => Ok(()),
            }
        })
    }
}
