//! Finding and making sandboxes, from what a control plane can do.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::lock::Mutex;
use tidebox_core::{
    BoxFuture, Error, ErrorKind, ExecuteRequest, ListPage, ListRequest, Result, SandboxBackend, SandboxId,
    SandboxProvider, Selector,
};

use crate::control::Control;
use crate::sandbox::{RemoteSandbox, Settings};

/// A provider of sandboxes. Two that ask for the same labels at once get the same sandbox: within one process always, between
/// processes as far as the provider can tell them apart (its page says how).
#[derive(Debug)]
pub struct RemoteProvider<C> {
    control: C,
    /// Held while a sandbox is looked for by labels and perhaps made.
    finding: Mutex<()>,
}

type Backend = Arc<dyn SandboxBackend>;

impl<C: Control> RemoteProvider<C> {
    /// A provider over this control plane.
    pub fn new(control: C) -> Self {
        Self { control, finding: Mutex::new(()) }
    }

    fn backend(&self, plane: C::Plane) -> RemoteSandbox<C::Plane> {
        RemoteSandbox::new(plane, Settings::from(self.control.options()))
    }

    async fn by_id(&self, id: &SandboxId) -> Result<Backend> {
        match self.control.connect(id).await? {
            Some(plane) => Ok(Arc::new(self.backend(plane))),
            None => {
                let message = "there is no sandbox of this name; it may have reached its time to live";
                Err(Error::new(ErrorKind::SandboxNotFound, "get_or_create", message).with_context("id", id.as_str()))
            }
        }
    }

    async fn by_labels(&self, labels: BTreeMap<String, String>) -> Result<Backend> {
        if labels.is_empty() {
            return self.make(&labels, None).await;
        }
        let _finding = self.finding.lock().await;
        if let Some(found) = self.find(&labels).await? {
            return Ok(found);
        }
        let made = self.make(&labels, Some(&key(&labels))).await?;
        // Somebody in another process may have looked and found nothing at the same time. Both see the same list afterwards,
        // and both keep the one whose name comes first.
        match self.names(&labels).await?.into_iter().next() {
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
        for id in self.names(labels).await? {
            // One that vanished since it was listed is passed over.
            if let Some(plane) = self.control.connect(&id).await? {
                return Ok(Some(Arc::new(self.backend(plane))));
            }
        }
        Ok(None)
    }

    /// The names of all sandboxes with these labels, in order.
    async fn names(&self, labels: &BTreeMap<String, String>) -> Result<Vec<SandboxId>> {
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

    /// Makes a sandbox and leaves nothing running when that fails.
    async fn make(&self, labels: &BTreeMap<String, String>, key: Option<&str>) -> Result<Backend> {
        let mut all = self.control.options().labels.clone();
        all.extend(labels.clone());
        let created = self.control.create(&all, key).await?;
        if !created.made {
            return created.plane.map(|plane| Arc::new(self.backend(plane)) as Backend);
        }
        let set_up = match created.plane {
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

    async fn set_up(&self, backend: RemoteSandbox<C::Plane>) -> Result<Backend> {
        if let Some(script) = &self.control.options().setup {
            let response = backend.execute(ExecuteRequest::new(script)).await?;
            response.success().map_err(|error| {
                Error::new(error.kind(), "set up a sandbox", format!("the set-up script failed: {}", error.message()))
            })?;
        }
        Ok(Arc::new(backend))
    }
}

/// A name for these labels that is the same in every process: FNV-1a over their bytes.
fn key(labels: &BTreeMap<String, String>) -> String {
    let bytes = labels.iter().flat_map(|(name, value)| [name.as_bytes(), b"\0", value.as_bytes(), b"\0"]).flatten();
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3));
    format!("tidebox-{hash:016x}")
}

impl<C: Control> SandboxProvider for RemoteProvider<C> {
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
    fn the_same_labels_have_the_same_key_and_others_another() {
        let labels = |pairs: &[(&str, &str)]| {
            key(&pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
        };
        assert_eq!(labels(&[("a", "1"), ("b", "2")]), labels(&[("b", "2"), ("a", "1")]));
        assert_ne!(labels(&[("a", "1b")]), labels(&[("a1", "b")]));
    }
}
