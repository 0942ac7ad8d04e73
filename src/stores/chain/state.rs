//! Position of a writer in the chain of a sandbox.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::stores::generation::{DIGEST_BYTES, GenerationKind, Head, PackRef, Writer};
use crate::stores::pack::KnownBlocks;
use crate::system::unix_nanos;

/// Generations after a whole snapshot.
const MAX_LINKS: usize = 32;

/// A whole snapshot is due when the changes since outweigh this share of the last one.
const CHANGES_SHARE: u64 = 3;

/// Changes of at most this size in bytes never make a whole snapshot due: below it, walking the tree costs more.
const MIN_CHANGES: u64 = 64 << 10;

/// Bytes of a chain before they were put into packs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    whole: u64,
    changes: u64,
}

impl Size {
    pub(super) fn add(&mut self, kind: GenerationKind, len: u64) {
        match kind {
            GenerationKind::Full => *self = Self { whole: len, changes: 0 },
            _ => self.changes = self.changes.saturating_add(len),
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.whole.saturating_add(self.changes)
    }
}

/// Position of a writer, and what decides about the next save.
#[derive(Clone, Debug)]
pub(super) struct ChainState {
    pub(super) head: Head,
    /// Number of the claim or of the first generation of this writer.
    pub(super) epoch: u64,
    /// Number of the whole snapshot.
    pub(super) base: u64,
    /// Generations since, including claims.
    links: usize,
    size: Size,
    /// Blocks in packs.
    pub(super) known: Arc<KnownBlocks>,
    /// Number of the whole snapshot before, and the packs of its chain. `None` if they are not known.
    pub(super) backup: Option<(u64, Vec<PackRef>)>,
    /// Nonces of attempts after `head` whose outcome is unknown.
    pub(super) unknown: Vec<[u8; 16]>,
    /// True if the content of the newest generation is not that of the provider's last snapshot.
    pub(super) needs_whole: bool,
    /// Time of the last contact with the store. The monotonic clock may stop while the host sleeps, and the other one may be
    /// set back; the later of the two counts.
    contact: (Instant, u64),
}

impl ChainState {
    /// State after an attempt at the first save whose outcome is unknown.
    pub(super) fn unwritten() -> Self {
        Self {
            head: Head { number: 0, digest: [0; DIGEST_BYTES] },
            epoch: 1,
            base: 0,
            links: 0,
            size: Size::default(),
            known: Arc::default(),
            backup: None,
            unknown: Vec::new(),
            needs_whole: true,
            contact: (Instant::now(), unix_nanos()),
        }
    }

    /// State of a loaded chain.
    pub(super) fn loaded(
        head: Head,
        writer: &Writer,
        base: u64,
        size: Size,
        known: KnownBlocks,
        generations: usize,
    ) -> Self {
        let known = Arc::new(known);
        Self { head, epoch: writer.epoch, base, links: generations, size, known, ..Self::unwritten() }.ready()
    }

    /// State after a save. `before` is `None` for the first one.
    pub(super) fn after(
        before: Option<Self>,
        kind: GenerationKind,
        head: Head,
        len: u64,
        known: Arc<KnownBlocks>,
    ) -> Self {
        let mut state = before.unwrap_or_else(Self::unwritten);
        if kind == GenerationKind::Full {
            state.backup = (!state.needs_whole).then(|| (state.base, state.known.packs().to_vec()));
            (state.base, state.links) = (head.number, 0);
        } else {
            state.links += 1;
        }
        state.size.add(kind, len);
        (state.head, state.known) = (head, known);
        state.ready()
    }

    /// State after a claim.
    pub(super) fn claimed(self, head: Head, epoch: u64) -> Self {
        Self { head, epoch, ..self }
    }

    /// State after an earlier attempt turned out to have succeeded. It may have been a whole snapshot, and garbage collection then
    /// have removed the packs of the chain before.
    pub(super) fn continued_at(self, head: Head) -> Self {
        Self {
            head,
            known: Arc::default(),
            unknown: Vec::new(),
            needs_whole: true,
            links: self.links + 1,
            contact: (Instant::now(), unix_nanos()),
            ..self
        }
    }

    fn ready(mut self) -> Self {
        (self.needs_whole, self.unknown) = (false, Vec::new());
        self.contact = (Instant::now(), unix_nanos());
        self
    }

    /// Returns whether the next save may be one of changes.
    pub(super) fn takes_changes(&self) -> bool {
        let small = self.size.changes <= MIN_CHANGES.max(self.size.whole / CHANGES_SHARE);
        !self.needs_whole && self.unknown.is_empty() && self.links < MAX_LINKS && small
    }

    pub(super) fn is_older_than(&self, time: Duration) -> bool {
        let by_date = Duration::from_nanos(unix_nanos().saturating_sub(self.contact.1));
        self.contact.0.elapsed().max(by_date) > time
    }
}
