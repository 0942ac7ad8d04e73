//! Snapshot files.
//!
//! The file holds the differences from the base image: a list of records for the tree ([`record`]), followed by the
//! blocks of all files, each once ([`container`]). Both are compressed, and a digest at the end covers everything.

mod apply;
mod changes;
mod container;
mod decode;
mod encode;
mod process;
mod record;
mod wire;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use std::sync::Arc;

use tidebox_core::{Error, ErrorKind, Limits, Result};
use tidebox_kernel::fs::{Contents, Fs, InodeChange, Kind};

use apply::BaseImageMatch;
pub use container::Packing;
use container::{Container, ContainerKind};
pub use process::{process_from_bytes, process_to_bytes};

use crate::{BaseImage, SandboxBuilder, Snapshot};

impl Snapshot {
    /// Encodes the snapshot as one file, which [`from_bytes`](Self::from_bytes) reads. Equal blocks are stored once,
    /// and everything is compressed with LZ4. The base image and its programs are not included; changes and removals in
    /// it are. Files below mounts and the upper layers of copy-on-write mounts are not included. Equal snapshots give
    /// equal bytes.
    ///
    /// The digest detects corruption, not forgery: anyone who can write the file can write the digest. Reading is safe
    /// in any case.
    pub fn to_bytes(&self) -> Vec<u8> {
        let fs = Fs::from_snapshot(&self.files, &Limits::default());
        let base = Fs::from_snapshot(&self.base, &Limits::default());
        let mut blocks = Blocks::default();
        let records = encode::encode_tree(&fs, &base, &mut blocks);
        let mut meta = wire::Writer::default();
        meta.bytes(&self.shell_state);
        meta.number(records.len() as u64);
        for record in &records {
            record.write(&mut meta);
        }
        let blocks: Vec<&[u8]> = blocks.list.iter().map(|(contents, index)| contents.block(*index)).collect();
        container::write(ContainerKind::Snapshot, Packing::Compressed, &meta.into_bytes(), &blocks)
    }

    /// Reads the output of [`to_bytes`](Self::to_bytes) on top of a base image, which may differ from the original one:
    /// programs are those of `base`.
    ///
    /// The bytes are untrusted. Everything is charged to `limits` before it is allocated, and declared sizes are never
    /// allocated before the data is present.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidRequest`] for bytes that are corrupt, truncated, not a snapshot or of another version, or
    /// need a program that `base` lacks; [`ErrorKind::FileOperationFailed`] when the limits are reached.
    pub fn from_bytes(bytes: &[u8], base: &BaseImage, limits: &Limits) -> Result<Self> {
        let container = container::read(ContainerKind::Snapshot, bytes, limits)?;
        let mut meta = wire::Reader::new(&container.meta);
        let shell_state = meta.bytes(limits.shell_state_bytes as usize)?;
        let count = meta.number()?;
        if count > limits.inodes.saturating_add(BASE_RECORDS) {
            return Err(corrupt_snapshot("the snapshot has more records than the limits allow inodes"));
        }
        let mut fs = Fs::from_snapshot(&base.files, limits);
        let mut decoder = decode::SnapshotDecoder::new(&mut fs, &container.blocks);
        for _ in 0..count {
            decoder.apply(record::Record::read(&mut meta, limits)?)?;
        }
        meta.end()?;
        decoder.finish()?;
        Ok(Self { files: fs.snapshot(), base: base.files.clone(), shell_state: shell_state.into() })
    }
}

impl Snapshot {
    /// Returns the changes since `before`, an earlier snapshot of the same sandbox, as input for
    /// [`apply_changes`](Self::apply_changes); `None` without changes. Takes time and bytes per difference, whatever the number of
    /// files: of a file that has changed only the changed blocks are included, of one that was moved only its names.
    ///
    /// The one exception is a change in the upper layer of a copy-on-write mount: then all files are compared, and what was
    /// moved is included in full. After a restore, start again from a whole snapshot: files of the base image that the restore
    /// has brought back are not included, like everything that the host installs.
    #[must_use]
    pub fn changes_since(&self, before: &Self, packing: Packing) -> Option<Vec<u8>> {
        let same_shell = self.shell_state == before.shell_state;
        if self.files.ptr_eq(&before.files) && same_shell {
            return None;
        }
        let Some(tree) = before.files.changes_to(&self.files) else { return Some(self.file_over(before)) };
        if tree.is_empty() && same_shell {
            return None;
        }
        let shell_state = (!same_shell).then_some(&*self.shell_state);
        let encoded = changes::encode(&tree, before.files.root(), shell_state, packing);
        Some(encoded.unwrap_or_else(|| self.file_over(before)))
    }

    /// Returns the changes since `before` for a store, as input for [`apply_stored_changes`](Self::apply_stored_changes). Like
    /// [`changes_since`](Self::changes_since), but they also apply on top of another base image. Equal snapshots give changes
    /// without content.
    ///
    /// `None` if the changes would mean something else on top of another base image, because they are of files that the host
    /// installed: then store the [whole snapshot](Self::to_bytes).
    #[must_use]
    pub fn changes_for_store(&self, before: &Self) -> Option<Vec<u8>> {
        let tree = before.files.changes_to(&self.files)?;
        if tree.omits_installed || tree.locations.iter().any(|location| location.is_installed) {
            return None;
        }
        let shell_state = (self.shell_state != before.shell_state).then_some(&*self.shell_state);
        changes::encode(&tree, before.files.root(), shell_state, Packing::Compressed)
    }

    /// Returns whether files that the host has installed are all that this snapshot has in addition to `before`. Then both have the
    /// same changes for a store.
    pub(crate) fn adds_only_installed(&self, before: &Self) -> bool {
        let Some(tree) = before.files.changes_to(&self.files) else { return false };
        let is_known_dir = |inode: &InodeChange| !inode.is_new && inode.stat.kind == Kind::Dir;
        let same_names = tree.removed.is_empty() && tree.added.is_empty();
        same_names && tree.inodes.iter().all(is_known_dir) && self.shell_state == before.shell_state
    }

    /// Restores the snapshot that [`changes_for_store`](Self::changes_for_store) was called on. `self` is the snapshot `before`
    /// as it was read back, also on top of another base image: directories that this image lacks are created, and files of
    /// the changes replace its files of the same name.
    ///
    /// # Errors
    ///
    /// As [`from_bytes`](Self::from_bytes), and [`ErrorKind::InvalidRequest`] for changes of another snapshot.
    pub fn apply_stored_changes(&self, changes: &[u8], limits: &Limits) -> Result<Self> {
        self.apply_container(&container::read(ContainerKind::Changes, changes, limits)?, limits, BaseImageMatch::Any)
    }

    /// Encodes this snapshot as a file whose base image is another snapshot.
    pub(crate) fn file_over(&self, before: &Self) -> Vec<u8> {
        Self { base: before.files.clone(), ..self.clone() }.to_bytes()
    }

    /// Restores the snapshot that [`changes_since`](Self::changes_since) was called on. `self` must be the `before`
    /// snapshot, or one created in the same steps. A snapshot file is applied as it is to a base image.
    ///
    /// # Errors
    ///
    /// As [`from_bytes`](Self::from_bytes), and [`ErrorKind::InvalidRequest`] for changes of another snapshot.
    pub fn apply_changes(&self, changes: &[u8], limits: &Limits) -> Result<Self> {
        if !ContainerKind::Changes.is_start_of(changes) {
            let onto = BaseImage { files: self.files.clone() };
            return Ok(Self { base: self.base.clone(), ..Self::from_bytes(changes, &onto, limits)? });
        }
        let container = container::read(ContainerKind::Changes, changes, limits)?;
        self.apply_container(&container, limits, BaseImageMatch::Same)
    }

    fn apply_container(&self, container: &Container, limits: &Limits, base: BaseImageMatch) -> Result<Self> {
        // Both states exist for a moment. Nothing in a mounted file system may change.
        let (usage, mut room) = (self.files.usage(), limits.clone());
        room.file_bytes = limits.file_bytes.saturating_add(usage.file_bytes);
        room.inodes = limits.inodes.saturating_add(usage.inodes).saturating_mul(2);
        let mut fs = Fs::from_snapshot(&self.files.without_mounts(), &room);
        let shell_state = apply::apply(&mut fs, container, limits, base)?;
        let files = fs.snapshot().with_mounts_of(&self.files);
        let (used, had) = (files.usage(), usage);
        if used.file_bytes > limits.file_bytes.max(had.file_bytes) || used.inodes > limits.inodes.max(had.inodes) {
            let message = "the changes have more files or bytes than the limits allow";
            return Err(Error::new(ErrorKind::FileOperationFailed, "apply changes", message));
        }
        let shell_state = shell_state.map_or_else(|| Arc::clone(&self.shell_state), Into::into);
        Ok(Self { files, base: self.base.clone(), shell_state })
    }
}

impl SandboxBuilder {
    /// Starts with the files and the shell session of a snapshot file, as written by [`Snapshot::to_bytes`], on top of
    /// this builder's base image and within its limits.
    ///
    /// # Errors
    ///
    /// As [`Snapshot::from_bytes`]. Set the limits first.
    pub fn snapshot_bytes(self, bytes: &[u8]) -> Result<Self> {
        let snapshot = Snapshot::from_bytes(bytes, self.base_image(), self.current_limits())?;
        Ok(self.snapshot(&snapshot))
    }
}

/// Deduplicated blocks in the order of first use. The contents share the bytes with the snapshot.
#[derive(Default)]
struct Blocks {
    list: Vec<(Contents, u64)>,
    by_hash: HashMap<u64, Vec<usize>>,
}

/// Maximum blocks compared per hash. The hash is not keyed, so a guest can create many collisions.
const CANDIDATES: usize = 8;

impl Blocks {
    /// Returns the number of a file's block.
    fn number(&mut self, contents: &Contents, index: u64) -> u64 {
        let block = contents.block(index);
        let mut hasher = DefaultHasher::new();
        hasher.write(block);
        let known = self.by_hash.entry(hasher.finish()).or_default();
        let list = &self.list;
        let same = |number: &&usize| list.get(**number).is_some_and(|(other, index)| other.block(*index) == block);
        if let Some(&number) = known.iter().find(same) {
            return number as u64;
        }
        if known.len() < CANDIDATES {
            known.push(list.len());
        }
        self.list.push((contents.clone(), index));
        self.list.len() as u64 - 1
    }
}

/// Records for files of the base image that a snapshot may need in addition to its own.
const BASE_RECORDS: u64 = 100_000;

fn corrupt_snapshot(what: &str) -> Error {
    let message =
        format!("{what}; the file is corrupt or not a snapshot; use an intact copy or write the snapshot again");
    Error::new(ErrorKind::InvalidRequest, "read snapshot", message)
}
