//! Settings of a provider.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::store::SnapshotStore;

/// Retention and storage of a provider's sandboxes. The default keeps them in memory until they are deleted or closed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ProviderSettings {
    /// Time without use after which a sandbox is deleted. A running command counts as use. Default: no timeout.
    pub idle_timeout: Option<Duration>,
    /// Time after creation at which a sandbox is deleted, even while in use. Default: no limit.
    pub lifetime: Option<Duration>,
    /// Labels that every sandbox gets in addition to the requested ones, which take precedence. Default: none.
    pub labels: BTreeMap<String, String>,
    /// Store in which sandboxes survive a restart of the application. Default: no store.
    pub store: Option<Arc<dyn SnapshotStore>>,
    /// Save policy. Default [`SavePolicy::EveryChange`].
    pub saving: SavePolicy,
}

/// When sandboxes are saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SavePolicy {
    /// Before the response of each call that changed something, and on `close`. A call without changes costs nothing.
    #[default]
    EveryChange,
    /// As [`EveryChange`](Self::EveryChange), with a minimum interval between two saves. Changes in between are saved
    /// by the first call after the interval, by [`VfsProvider::delete_expired`](crate::VfsProvider::delete_expired),
    /// and on `close`; a crash loses at most the changes of one interval. For stores that take long to acknowledge.
    AtMostEvery(Duration),
    /// On `close` and when [`VfsProvider::save`](crate::VfsProvider::save) is called. Later changes are lost when the
    /// application exits without either.
    Manual,
}
