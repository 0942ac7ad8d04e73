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

/// A state of a sandbox to save.
#[derive(Clone, Debug)]
pub struct SaveRequest {
    /// Metadata.
    pub sandbox: SavedSandbox,
    /// Files and shell session.
    pub snapshot: Snapshot,
    /// State of the last successful save, or the state that [`SnapshotStore::get`] returned. The store may write only the
    /// [changes](Snapshot::changes_for_store) since. `None` for the first save.
    pub before: Option<Snapshot>,
}

/// Files of a saved sandbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SavedFiles {
    /// A whole snapshot, as returned by [`Snapshot::to_bytes`].
    pub snapshot: Vec<u8>,
    /// Later changes, oldest first, as returned by [`Snapshot::changes_for_store`].
    pub changes: Vec<Vec<u8>>,
}

/// Events that saved changes survive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Durability {
    /// Nothing: sandboxes end with the process.
    #[default]
    Memory,
    /// The end of the process and of the operating system, but not the loss of this host's disk.
    Local,
    /// The loss of this host: other hosts can read them.
    Shared,
}

impl Durability {
    /// Returns the stable name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Local => "local",
            Self::Shared => "shared",
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A store of sandboxes by id.
///
/// # For implementors
///
/// Saving is atomic: a reader after a crash at any point gets the old or the new state. When `put` returns, the new one has
/// the [`durability`](Self::durability) of the store. Methods may run concurrently, but never two of `put` and `delete` for
/// the same id.
///
/// If several programs use a store at a time, `get` takes the sandbox over: afterwards `put` of the previous owner fails with
/// [`tidebox_core::ErrorKind::Closed`], and its provider closes the sandbox.
pub trait SnapshotStore: Send + Sync + fmt::Debug {
    /// Returns what a successful `put` survives.
    fn durability(&self) -> Durability;

    /// Returns whether other programs may use the store at the same time. The provider then reads the index again before it
    /// creates a sandbox or reports that it is missing.
    fn has_other_writers(&self) -> bool;

    /// Saves a sandbox. Encoding a whole snapshot is slow for large sandboxes: an implementation that has threads does it on
    /// another one.
    fn put(&self, save: SaveRequest) -> BoxFuture<'_, Result<()>>;

    /// Returns the files of a sandbox; `None` if it was not saved or was deleted. Files of more than `max_bytes` in total are an
    /// error, and are never allocated: the sandbox could not have saved them within its limits.
    fn get<'a>(&'a self, id: &'a SandboxId, max_bytes: u64) -> BoxFuture<'a, Result<Option<SavedFiles>>>;

    /// Returns the metadata of a sandbox without taking it over; `None` if it was not saved or was deleted.
    fn find<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<Option<SavedSandbox>>>;

    /// Lists all saved sandboxes, in any order.
    fn list(&self) -> BoxFuture<'_, Result<Vec<SavedSandbox>>>;

    /// Removes a sandbox permanently. Succeeds if it does not exist.
    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>>;

    /// Removes a sandbox permanently unless another program has taken it over since this one saved or read it. Succeeds if it does
    /// not exist.
    ///
    /// # Errors
    /// [`tidebox_core::ErrorKind::Closed`] if another program has taken it over.
    fn delete_own<'a>(&'a self, sandbox: &'a SavedSandbox) -> BoxFuture<'a, Result<()>>;

    /// Releases the memory for a sandbox that the provider has closed. The saved state stays.
    fn release(&self, id: &SandboxId);

    /// Removes data that no saved sandbox needs any more. Called by
    /// [`VfsProvider::delete_expired`](crate::VfsProvider::delete_expired).
    fn collect_garbage(&self) -> BoxFuture<'_, Result<()>>;
}
