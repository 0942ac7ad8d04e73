//! Creating, finding, listing and deleting sandboxes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::backend::{BoxFuture, SandboxBackend};
use crate::error::{Error, ErrorKind, Result};

/// The id of a sandbox. Never empty, because Deep Agents silently drops the `execute` tool of a backend with an empty id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SandboxId(String);

impl SandboxId {
    /// Checks that an id is not empty and has no control characters.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] otherwise.
    pub fn parse(id: impl Into<String>) -> Result<Self> {
        let id = id.into();
        if id.is_empty() || id.chars().any(char::is_control) {
            let message = "a sandbox id must not be empty or contain control characters";
            return Err(Error::new(ErrorKind::InvalidRequest, "parse sandbox id", message));
        }
        Ok(Self(id))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SandboxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Selects a sandbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// The sandbox with this id. It is never created: an unknown id is an error, so that a caller that resumes work notices that
    /// its files are missing.
    Id(SandboxId),
    /// A sandbox with all of these labels, otherwise a new one with exactly these. Without labels always a new one.
    Labels(BTreeMap<String, String>),
}

impl Selector {
    /// Selects the sandbox with this id.
    ///
    /// # Errors
    /// Those of [`SandboxId::parse`].
    pub fn id(id: impl Into<String>) -> Result<Self> {
        SandboxId::parse(id).map(Self::Id)
    }

    /// Selects a sandbox by labels: `Selector::labels([("thread", thread_id)])`. Without labels always a new one.
    pub fn labels<Name: Into<String>, Value: Into<String>>(labels: impl IntoIterator<Item = (Name, Value)>) -> Self {
        Self::Labels(labels.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// Selects a new sandbox without labels.
    pub fn any_new() -> Self {
        Self::Labels(BTreeMap::new())
    }
}

/// Properties of a sandbox that a provider reports without connecting to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxInfo {
    /// The id.
    pub id: SandboxId,
    /// The labels.
    pub labels: BTreeMap<String, String>,
}

/// A filter and a start for listing sandboxes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListRequest {
    /// The cursor of the previous page. `None` starts at the first page.
    pub cursor: Option<String>,
    /// Lists only sandboxes with all of these labels. Empty lists all.
    pub labels: BTreeMap<String, String>,
}

/// One page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListPage {
    /// The sandboxes of this page. A page may be empty and still have a next page.
    pub sandboxes: Vec<SandboxInfo>,
    /// Cursor of the next page, `None` on the last.
    pub cursor: Option<String>,
}

/// Creates, finds, lists and deletes sandboxes.
pub trait SandboxProvider: Send + Sync + fmt::Debug {
    /// Connects to a sandbox, or creates one depending on [`Selector`].
    ///
    /// Fails with [`ErrorKind::SandboxNotFound`] if the selector has an unknown id.
    fn get_or_create(&self, selector: Selector) -> BoxFuture<'_, Result<Arc<dyn SandboxBackend>>>;

    /// Lists sandboxes in a stable order, page by page.
    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListPage>>;

    /// Deletes a sandbox permanently. Deleting a missing one succeeds, so that a clean-up can be repeated.
    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>>;
}
