//! Sandbox lifecycle at a provider.

use std::collections::BTreeMap;
use std::fmt;

use async_trait::async_trait;
use tidebox_core::{ListPage, ListRequest, Result, SandboxId};

use crate::data_plane::DataPlane;
use crate::options::Options;

/// A sandbox created by this call, or concurrently by another caller with the same key.
#[derive(Debug)]
pub struct Created<P> {
    /// The sandbox's id.
    pub id: SandboxId,
    /// True if this call created the sandbox. Only then is it set up, and deleted if it does not become ready.
    pub is_new: bool,
    /// The sandbox once ready, or the error that kept it from becoming ready. The sandbox exists in both cases.
    pub sandbox: Result<P>,
}

/// Control plane of a provider: creates, connects to, lists and deletes sandboxes.
#[async_trait]
pub trait ControlPlane: Send + Sync + fmt::Debug + 'static {
    /// Data plane of one sandbox.
    type DataPlane: DataPlane;

    /// Options given by the caller.
    fn options(&self) -> &Options;

    /// Creates a sandbox with these labels and waits until it is ready. Equal labels give equal `key`s: a provider with
    /// unique names uses the key so that concurrent callers get the same sandbox.
    async fn create(&self, labels: &BTreeMap<String, String>, key: Option<&str>) -> Result<Created<Self::DataPlane>>;

    /// Connects to a sandbox, wakes it if it sleeps and waits until it is ready. `None` if no sandbox has this id.
    async fn connect(&self, id: &SandboxId) -> Result<Option<Self::DataPlane>>;

    /// Lists sandboxes that are not deleted.
    async fn list(&self, request: ListRequest) -> Result<ListPage>;

    /// Deletes a sandbox and returns once it is deleted. Deleting a missing sandbox succeeds.
    async fn delete(&self, id: &SandboxId) -> Result<()>;
}
