//! What a provider is told.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::store::SnapshotStore;

/// How long a provider keeps sandboxes, and where. The default keeps them in memory until they are deleted or closed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ProviderSettings {
    /// A sandbox that nobody has used for so long is deleted. One that runs a command is in use. Default: none is.
    pub idle: Option<Duration>,
    /// A sandbox that was made so long ago is deleted, even while it is used. Default: none is.
    pub lifetime: Option<Duration>,
    /// Labels that every sandbox gets beside those it was asked for with, which win. Default: none.
    pub labels: BTreeMap<String, String>,
    /// Where sandboxes are saved, so that they are there when the program starts again. Default: nowhere.
    pub store: Option<Arc<dyn SnapshotStore>>,
    /// When they are saved. Default [`Saving::EachChange`].
    pub saving: Saving,
}

/// When sandboxes are saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Saving {
    /// Before a call is answered that changed something, and on `close`. Costs what writing the whole snapshot costs, so
    /// it suits sandboxes up to some ten megabytes. A call that changed nothing costs nothing.
    #[default]
    EachChange,
    /// As [`EachChange`](Self::EachChange), but no sooner than so long after the last time. What changes in between is
    /// saved by the first call after it, by [`VfsProvider::sweep`](crate::VfsProvider::sweep), and on `close`; a crash
    /// loses at most that much. For sandboxes that are too large to be written for every command.
    AtMostEvery(Duration),
    /// On `close` and when [`VfsProvider::save`](crate::VfsProvider::save) is called. What changed since is lost when the
    /// program ends without either.
    WhenAsked,
}
