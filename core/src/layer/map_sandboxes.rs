//! Layers for every sandbox of a provider.

use std::fmt;
use std::sync::Arc;

use crate::backend::{BoxFuture, SandboxBackend};
use crate::error::Result;
use crate::provider::{ListPage, ListRequest, SandboxId, SandboxProvider, Selector};

/// Applies `wrap` to every sandbox of `provider`.
///
/// ```
/// # use std::sync::Arc;
/// # use std::time::Duration;
/// # use tidebox_core::{SandboxProvider, layer};
/// fn limited(provider: Arc<dyn SandboxProvider>) -> Arc<dyn SandboxProvider> {
///     let minute = Duration::from_secs(60);
///     layer::map_sandboxes(provider, move |sandbox| layer::timeout(sandbox, None, minute))
/// }
/// ```
pub fn map_sandboxes(
    provider: Arc<dyn SandboxProvider>,
    wrap: impl Fn(Arc<dyn SandboxBackend>) -> Arc<dyn SandboxBackend> + Send + Sync + 'static,
) -> Arc<dyn SandboxProvider> {
    Arc::new(MapSandboxes { provider, wrap: Box::new(wrap) })
}

type Wrap = dyn Fn(Arc<dyn SandboxBackend>) -> Arc<dyn SandboxBackend> + Send + Sync;

struct MapSandboxes {
    provider: Arc<dyn SandboxProvider>,
    wrap: Box<Wrap>,
}

impl fmt::Debug for MapSandboxes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EachSandbox").field("provider", &self.provider).finish_non_exhaustive()
    }
}

impl SandboxProvider for MapSandboxes {
    fn get_or_create(&self, selector: Selector) -> BoxFuture<'_, Result<Arc<dyn SandboxBackend>>> {
        Box::pin(async move { Ok((self.wrap)(self.provider.get_or_create(selector).await?)) })
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListPage>> {
        self.provider.list(request)
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        self.provider.delete(id)
    }
}
