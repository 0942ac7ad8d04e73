//! Durable sandboxes: saves that cost what changed.
//!
//! A saved sandbox is a chain of *generations*. Each is an object that is created only if its number is free, so of two writers
//! one fails and learns that it does not own the sandbox any more. A generation has the digest of the one before, the labels and
//! times of the sandbox, and either a whole snapshot or what has changed since the previous generation. Large content is in
//! *packs*: objects named by their digest, which later generations refer to.
//!
//! - [`SaveLog`] is the port: append, load, list, forget.
//! - [`GenerationLog`] implements it over [`Objects`], which is what a directory or an object store can do: [`FolderLog`] and,
//!   with the feature `object-store`, `ObjectLog`.
//! - [`open_log`] opens one by its URL.
//! - [`ChainStore`] is the [`SnapshotStore`](tidebox_vfs_backend::SnapshotStore) of a provider over a log.
//! - [`DirStore`] is the store of one program in one directory.

mod blocking;
mod chain;
mod dir_store;
mod folder;
mod generation;
mod legacy;
mod log;
mod memory;
pub(crate) mod name;
#[cfg(feature = "object-store")]
mod object_storage;
mod objects;
mod open;
mod pack;
mod wire;

#[cfg(test)]
mod tests;

pub use chain::ChainStore;
pub use dir_store::DirStore;
pub use folder::{Folder, FolderLog};
pub use generation::{Entry, GenerationKind, Head, PackRef, Writer};
pub use log::{Appended, Chain, Generation, GenerationLog, LogPage, SaveLog, Saved};
pub use memory::{MemoryLog, MemoryObjects};
#[cfg(feature = "object-store")]
pub use object_storage::{ObjectLog, ObjectStorage};
pub use objects::{Creation, ObjectInfo, ObjectPage, Objects};
pub use open::open_log;
