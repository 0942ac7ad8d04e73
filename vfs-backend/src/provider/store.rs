//! The port to where sandboxes are kept while the program does not run.

use std::collections::BTreeMap;
use std::fmt;

use tidebox_core::{BoxFuture, Result, SandboxId};

use crate::Snapshot;

/// What is known of a saved sandbox without its files. Times are nanoseconds since the Unix epoch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedSandbox {
    /// Its id, which stays the same.
    pub id: SandboxId,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// When it was made.
    pub created: u64,
    /// When it was used last, as far as that was saved.
    pub used: u64,
}

/// Keeps sandboxes: one snapshot for each id.
///
/// # For implementors
/// Saving replaces what was saved before, as a whole: whoever reads after a crash at any moment gets the old snapshot or
/// the new one. When `put` answers, the new one outlives a crash. One program uses a store at a time; an implementation
/// refuses a second one with a clear error. Methods may run at the same time, for one id only one of `put` and `delete`.
pub trait SnapshotStore: Send + Sync + fmt::Debug {
    /// Saves a sandbox. What is kept is [`Snapshot::to_bytes`], which takes its time with a large one: an implementation
    /// that has threads calls it on another one.
    fn put<'a>(&'a self, saved: &'a SavedSandbox, snapshot: Snapshot) -> BoxFuture<'a, Result<()>>;

    /// The bytes of a sandbox's snapshot; `None` when none was saved.
    fn get<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<Option<Vec<u8>>>>;

    /// All saved sandboxes, in any order.
    fn list(&self) -> BoxFuture<'_, Result<Vec<SavedSandbox>>>;

    /// Removes a sandbox for good. One that is not there is no error.
    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>>;
}
