//! Interface of a store that keeps sandboxes across restarts.

use std::collections::BTreeMap;
use std::fmt;

use tidebox_core::{BoxFuture, Result, SandboxId};

use crate::Snapshot;

/// Metadata of a saved sandbox. Times are nanoseconds since the Unix epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedSandbox {
    /// Its id, which stays the same.
    pub id: SandboxId,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Creation time.
    pub created: u64,
    /// Last saved time of use.
    pub last_used: u64,
}

/// A store with one snapshot per sandbox id.
///
/// # For implementors
///
/// Saving atomically replaces the previous snapshot: a reader after a crash at any point gets the old or the new one.
/// When `put` returns, the new one is durable. One application uses a store at a time; an implementation rejects a
/// second one with a clear error. Methods may run concurrently, but never two of `put` and `delete` for the same id.
pub trait SnapshotStore: Send + Sync + fmt::Debug {
    /// Saves a sandbox. Store the bytes of [`Snapshot::to_bytes`], which is slow for large sandboxes: an implementation
    /// that has threads calls it on another one.
    fn put<'a>(&'a self, saved: &'a SavedSandbox, snapshot: Snapshot) -> BoxFuture<'a, Result<()>>;

    /// Returns the bytes of a sandbox's snapshot; `None` if it was not saved.
    fn get<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<Option<Vec<u8>>>>;

    /// Lists all saved sandboxes, in any order.
    fn list(&self) -> BoxFuture<'_, Result<Vec<SavedSandbox>>>;

    /// Removes a sandbox permanently. Succeeds if it does not exist.
    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>>;
}
