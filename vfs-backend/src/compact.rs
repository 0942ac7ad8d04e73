//! Snapshots as one compact file.
//!
//! The file holds what differs from the base image: a list of records for the tree ([`record`]), and after it the blocks
//! of all files, each once ([`frame`]). Both are compressed, and a digest at the end covers everything.

mod apply;
mod collect;
mod frame;
mod record;
mod wire;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

use tidebox_core::{Error, ErrorKind, Limits, Result};
use tidebox_kernel::fs::{Contents, Fs};

use crate::{BaseImage, SandboxBuilder, Snapshot};

impl Snapshot {
    /// The snapshot as the bytes of one file, to be kept and read back by [`from_bytes`](Self::from_bytes). Blocks that
    /// are equal are stored once, and all is compressed with LZ4. The base image and its programs are not in it; what was
    /// changed or removed of them is. What lies below mounts is not, nor what a copy-on-write mount keeps. Equal snapshots give equal bytes.
    ///
    /// The digest in it finds damage, not forgery: who can write the file can write the digest. Reading is safe in any
    /// case.
    pub fn to_bytes(&self) -> Vec<u8> {
        let fs = Fs::from_snapshot(&self.files, &Limits::default());
        let base = Fs::from_snapshot(&self.base, &Limits::default());
        let mut blocks = Blocks::default();
        let records = collect::collect(&fs, &base, &mut blocks);
        let mut meta = wire::Writer::default();
        meta.bytes(&self.shell_state);
        meta.number(records.len() as u64);
        for record in &records {
            record.write(&mut meta);
        }
        let blocks: Vec<&[u8]> = blocks.list.iter().map(|(contents, index)| contents.block(*index)).collect();
        frame::write(&meta.into_bytes(), &blocks)
    }

    /// Reads what [`to_bytes`](Self::to_bytes) wrote, on top of a base image, which need not be the one of then: programs
    /// are those of `base`.
    ///
    /// The bytes are not trusted. What is made is charged to `limits` before it is held, and what a file claims is never
    /// allocated before it is there.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] for bytes that are damaged, were cut, are no snapshot or of another version, or need
    /// a program that `base` lacks; [`ErrorKind::FileOperationFailed`] when the limits are reached.
    pub fn from_bytes(bytes: &[u8], base: &BaseImage, limits: &Limits) -> Result<Self> {
        let frame = frame::read(bytes, limits)?;
        let mut meta = wire::Reader::new(&frame.meta);
        let shell_state = meta.bytes(limits.shell_state_bytes as usize)?;
        let count = meta.number()?;
        if count > limits.inodes.saturating_add(BASE_RECORDS) {
            return Err(damaged("there are more records than the limits allow inodes"));
        }
        let mut fs = Fs::from_snapshot(&base.files, limits);
        let mut applying = apply::Applying::new(&mut fs, &frame.blocks);
        for _ in 0..count {
            applying.apply(record::Record::read(&mut meta, limits)?)?;
        }
        meta.end()?;
        applying.finish()?;
        Ok(Self { files: fs.snapshot(), base: base.files.clone(), shell_state: shell_state.into() })
    }
}

impl Snapshot {
    /// What has changed since `before`, another snapshot of the same sandbox, as bytes for [`with_changes`](Self::with_changes);
    /// `None` when nothing has. Costs time for each file that there is and bytes for what differs. A file that was moved or
    /// linked since is in it whole, so a hard link to a file of `before` becomes a file of its own.
    #[must_use]
    pub fn changes_since(&self, before: &Self) -> Option<Vec<u8>> {
        let same = self.files.is_same(&before.files) && self.shell_state == before.shell_state;
        (!same).then(|| Self { base: before.files.clone(), ..self.clone() }.to_bytes())
    }

    /// The snapshot that [`changes_since`](Self::changes_since) was asked of, when this one is what it was asked about: the
    /// same, or one that was made in the same steps.
    ///
    /// # Errors
    /// As [`from_bytes`](Self::from_bytes).
    pub fn with_changes(&self, changes: &[u8], limits: &Limits) -> Result<Self> {
        let onto = BaseImage { files: self.files.clone() };
        Ok(Self { base: self.base.clone(), ..Self::from_bytes(changes, &onto, limits)? })
    }
}

impl SandboxBuilder {
    /// Begins with the files and the shell session of a compact file, as [`Snapshot::to_bytes`] writes one, on top of this
    /// builder's base image and within its limits.
    ///
    /// # Errors
    /// As [`Snapshot::from_bytes`]. Set the limits first.
    pub fn snapshot_bytes(self, bytes: &[u8]) -> Result<Self> {
        let snapshot = Snapshot::from_bytes(bytes, self.base_image(), self.current_limits())?;
        Ok(self.snapshot(&snapshot))
    }
}

/// Blocks in the order in which they were first met, each once. The contents share the bytes with the snapshot.
#[derive(Default)]
struct Blocks {
    list: Vec<(Contents, u64)>,
    by_hash: HashMap<u64, Vec<usize>>,
}

/// Blocks of one hash that are compared. The hash is not secret, so a guest can make many.
const CANDIDATES: usize = 8;

impl Blocks {
    /// The number of a file's block.
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

/// Records of the base image's files that one may need beside those of its own.
const BASE_RECORDS: u64 = 100_000;

fn damaged(what: &str) -> Error {
    let message =
        format!("{what}; the file is damaged or no snapshot: take it from where it was kept, or make it anew");
    Error::new(ErrorKind::InvalidRequest, "read snapshot", message)
}
