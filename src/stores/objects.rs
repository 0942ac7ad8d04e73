//! Port of a storage for immutable objects.

use std::fmt;

use tidebox_core::{BoxFuture, Result};
use tidebox_vfs_backend::Durability;

/// Result of [`Objects::create`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Creation {
    /// The object is stored.
    Created,
    /// An object of this name exists. It may be that of an earlier attempt whose response was lost.
    Exists,
}

/// An object in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectInfo {
    /// Its name.
    pub name: String,
    /// Its length in bytes; 0 for a tombstone.
    pub len: u64,
    /// Time of its last change, in nanoseconds since the Unix epoch.
    pub modified: u64,
}

/// A part of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectPage {
    /// Objects in the order of their names.
    pub objects: Vec<ObjectInfo>,
    /// True if there are more objects after the last one.
    pub has_more: bool,
}

/// A directory or an object store.
///
/// Names have the form `sandbox/object`. Both parts consist of lower-case letters, digits, `-`, `_` and `%`.
///
/// # For implementors
///
/// An error of `create` means that the outcome is unknown: the object may exist now, or later.
pub trait Objects: Send + Sync + fmt::Debug {
    /// Returns what a created object survives.
    fn durability(&self) -> Durability;

    /// Creates an object unless one of this name exists, atomically: no reader sees a part of it. It is durable afterwards.
    fn create<'a>(&'a self, name: &'a str, bytes: Vec<u8>) -> BoxFuture<'a, Result<Creation>>;

    /// Returns the first `max_bytes` bytes of an object; `None` if it does not exist.
    fn read<'a>(&'a self, name: &'a str, max_bytes: u64) -> BoxFuture<'a, Result<Option<Vec<u8>>>>;

    /// Lists objects whose name starts with `prefix` and is greater than `after`.
    fn list<'a>(&'a self, prefix: &'a str, after: &'a str) -> BoxFuture<'a, Result<ObjectPage>>;

    /// Replaces an object by an empty one. Its name stays taken.
    fn clear<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<()>>;

    /// Removes an object. Succeeds if it does not exist.
    fn remove<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<()>>;

    /// Removes what interrupted creations have left that is older than `before`, in nanoseconds since the Unix epoch.
    fn remove_interrupted(&self, before: u64) -> BoxFuture<'_, Result<()>>;
}
