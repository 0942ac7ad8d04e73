//! What makes, finds, lists and deletes sandboxes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::backend::{BoxFuture, SandboxBackend};
use crate::error::{Error, ErrorKind, Result};

/// The name of a sandbox. Never empty, because Deep Agents silently drops the `execute` tool of a backend whose id is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SandboxId(String);

impl SandboxId {
    /// Takes a name that is not empty and has no control characters.
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

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SandboxId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which sandbox is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// The sandbox of this name. It is never created: a name that is unknown is an error, so that a caller who resumes
    /// work notices that its files are gone.
    Id(SandboxId),
    /// A sandbox that bears all of these labels, else a new one with exactly these. Without labels always a new one.
    Labels(BTreeMap<String, String>),
}

impl Selector {
    /// The sandbox of this name.
    ///
    /// # Errors
    /// Those of [`SandboxId::parse`].
    pub fn id(id: impl Into<String>) -> Result<Self> {
        SandboxId::parse(id).map(Self::Id)
    }

    /// A sandbox by labels: `Selector::labels([("thread", thread_id)])`. With no labels always a new one.
    pub fn labels<Name: Into<String>, Value: Into<String>>(labels: impl IntoIterator<Item = (Name, Value)>) -> Self {
        Self::Labels(labels.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }

    /// Always a new sandbox, without labels.
    pub fn any_new() -> Self {
        Self::Labels(BTreeMap::new())
    }
}

/// What a provider tells of a sandbox without connecting to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SandboxInfo {
    /// Its name.
    pub id: SandboxId,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
}

/// Which sandboxes to list, and from where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListRequest {
    /// The cursor of the page before. `None` starts at the beginning.
    pub cursor: Option<String>,
    /// Only sandboxes that bear all of these labels. Empty lists all.
    pub labels: BTreeMap<String, String>,
}

/// One page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListPage {
    /// The sandboxes of this page; a page may be empty and still have a successor.
    pub sandboxes: Vec<SandboxInfo>,
    /// Where the next page starts, `None` on the last.
    pub cursor: Option<String>,
}

/// Makes, finds, lists and deletes sandboxes.
pub trait SandboxProvider: Send + Sync + fmt::Debug {
    /// Connects to a sandbox, or makes one where [`Selector`] says so.
    ///
    /// Fails with [`ErrorKind::SandboxNotFound`] when the selector names an id that does not exist.
    fn get_or_create(&self, selector: Selector) -> BoxFuture<'_, Result<Arc<dyn SandboxBackend>>>;

    /// Lists sandboxes in a stable order, page by page.
    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListPage>>;

    /// Deletes a sandbox for good. Deleting one that does not exist succeeds, so that a clean-up may be repeated.
    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>>;
}
