//! The life of sandboxes at one provider.

use std::collections::BTreeMap;
use std::fmt;

use tidebox_core::{BoxFuture, ListPage, ListRequest, Result, SandboxId};

use crate::options::Options;
use crate::plane::Plane;

/// A sandbox that was made, or that another had made in the same moment under the same key.
#[derive(Debug)]
pub struct Created<P> {
    /// Its name.
    pub id: SandboxId,
    /// Whether it is ours: it is set up, and when it does not become ready it is deleted. Another's is left alone.
    pub made: bool,
    /// The sandbox when it is ready; an error when it did not become so. It exists either way.
    pub plane: Result<P>,
}

/// The control plane of a provider: what making, finding and deleting are made of.
pub trait Control: Send + Sync + fmt::Debug + 'static {
    /// One sandbox of this provider.
    type Plane: Plane;

    /// What the caller asked for.
    fn options(&self) -> &Options;

    /// Makes a sandbox with these labels and waits until it is ready. `key` is the same for the same labels: a provider whose
    /// names are unique makes two that ask at once meet.
    fn create<'a>(
        &'a self,
        labels: &'a BTreeMap<String, String>,
        key: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Created<Self::Plane>>>;

    /// Connects to a sandbox, wakes it where it sleeps and waits until it is ready. `None` when there is none of this name.
    fn connect<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<Option<Self::Plane>>>;

    /// Lists sandboxes that are not gone.
    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListPage>>;

    /// Deletes a sandbox and returns when it is gone. One that is gone already is no error.
    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>>;
}
