//! Lookup and creation of sandboxes on top of a control plane.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::lock::Mutex;
use tidebox_core::{
    BoxFuture, Error, ErrorKind, ExecuteRequest, ListPage, ListRequest, Result, SandboxBackend, SandboxId,
    SandboxProvider, Selector,
};

use crate::control_plane::ControlPlane;
use crate::sandbox::{RemoteSandbox, Settings};

/// A provider of sandboxes. Concurrent callers with the same labels get the same sandbox: always within one process,
/// and between processes if the provider supports it (see its page).
#[derive(Debug)]
pub struct RemoteProvider<C> {
    control: C,
    /// Held during a lookup by labels and a possible creation.
    lookup_lock: Mutex<()>,
}

type Backend = Arc<dyn SandboxBackend>;

impl<C: ControlPlane> RemoteProvider<C> {
    /// Creates a provider with this control plane.
    pub fn new(control: C) -> Self {
        Self { control, lookup_lock: Mutex::new(()) }
    }

    fn backend(&self, plane: C::DataPlane) -> RemoteSandbox<C::DataPlane> {
        RemoteSandbox::new(plane, Settings::from(self.control.options()))
    }

    async fn by_id(&self, id: &SandboxId) -> Result<Backend> {
        match self.control.connect(id).await? {
            Some(plane) => Ok(Arc::new(self.backend(plane))),
            None => {
                let message = "no sandbox with this id; it may have reached its time to live";
                Err(Error::new(ErrorKind::SandboxNotFound, "get_or_create", message).with_context("id", id.as_str()))
            }
        }
    }

    async fn by_labels(&self, labels: BTreeMap<String, String>) -> Result<Backend> {
        if labels.is_empty() {
            return self.create(&labels, None).await;
        }
        let _finding = self.lookup_lock.lock().await;
        if let Some(found) = self.find(&labels).await? {
            return Ok(found);
        }
        let made = self.create(&labels, Some(&label_hash(&labels))).await?;
        // Another process may have found nothing at the same time and created one as well. Both see the same list
        // afterwards and keep the sandbox with the smallest id.
        match self.list_ids(&labels).await?.into_iter().next() {
            Some(first) if &first != made.id() => match self.by_id(&first).await {
                Ok(other) => {
                    self.control.delete(made.id()).await?;
                    Ok(other)
                }
                Err(error) if error.kind() == ErrorKind::SandboxNotFound => Ok(made),
                Err(error) => Err(error),
            },
            _ => Ok(made),
        }
    }

    async fn find(&self, labels: &BTreeMap<String, String>) -> Result<Option<Backend>> {
        for id in self.list_ids(labels).await? {
            // Skip a sandbox that was deleted since it was listed.
            if let Some(plane) = self.control.connect(&id).await? {
                return Ok(Some(Arc::new(self.backend(plane))));
            }
        }
        Ok(None)
    }

    /// Returns the ids of all sandboxes with these labels, sorted.
    async fn list_ids(&self, labels: &BTreeMap<String, String>) -> Result<Vec<SandboxId>> {
        let mut names = Vec::new();
        let mut request = ListRequest { cursor: None, labels: labels.clone() };
        loop {
            let page = self.control.list(request).await?;
            names.extend(page.sandboxes.into_iter().map(|info| info.id));
            let Some(cursor) = page.cursor else { break };
            request = ListRequest { cursor: Some(cursor), labels: labels.clone() };
        }
        names.sort();
        Ok(names)
    }

    /// Creates a sandbox, and deletes it if that fails.
    async fn create(&self, labels: &BTreeMap<String, String>, key: Option<&str>) -> Result<Backend> {
        let mut all = self.control.options().labels.clone();
        all.extend(labels.clone());
        let created = self.control.create(&all, key).await?;
        if !created.is_new {
            return created.sandbox.map(|plane| Arc::new(self.backend(plane)) as Backend);
        }
        let set_up = match created.sandbox {
            Ok(plane) => self.set_up(self.backend(plane)).await,
            Err(error) => Err(error),
        };
        match set_up {
            Ok(backend) => Ok(backend),
            Err(error) => match self.control.delete(&created.id).await {
                Ok(()) => Err(error),
                Err(second) => Err(error
                    .with_context("sandbox_left_running", created.id.as_str())
                    .with_context("delete", second.to_string())),
            },
        }
    }

    async fn set_up(&self, backend: RemoteSandbox<C::DataPlane>) -> Result<Backend> {
        if let Some(script) = &self.control.options().setup {
            let response = backend.execute(ExecuteRequest::new(script)).await?;
            response.into_success().map_err(|error| {
                Error::new(error.kind(), "set up a sandbox", format!("the setup script failed: {}", error.message()))
            })?;
        }
        Ok(Arc::new(backend))
    }
}

/// Returns a key for these labels that is equal in every process: FNV-1a over their bytes.
fn label_hash(labels: &BTreeMap<String, String>) -> String {
    let bytes = labels.iter().flat_map(|(name, value)| [name.as_bytes(), b"\0", value.as_bytes(), b"\0"]).flatten();
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    format!("tidebox-{hash:016x}")
}

impl<C: ControlPlane> SandboxProvider for RemoteProvider<C> {
    fn get_or_create(&self, selector: Selector) -> BoxFuture<'_, Result<Backend>> {
        Box::pin(async move {
            match selector {
                Selector::Id(id) => self.by_id(&id).await,
                Selector::Labels(labels) => self.by_labels(labels).await,
            }
        })
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListPage>> {
        self.control.list(request)
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        self.control.delete(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_labels_have_equal_keys() {
        let labels = |pairs: &[(&str, &str)]| {
            label_hash(&pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
        };
        assert_eq!(labels(&[("a", "1"), ("b", "2")]), labels(&[("b", "2"), ("a", "1")]));
        assert_ne!(labels(&[("a", "1b")]), labels(&[("a1", "b")]));
    }
}
