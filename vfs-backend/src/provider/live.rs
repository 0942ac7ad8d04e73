//! A sandbox of a provider that is in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidebox_core::{Error, ErrorKind};

use super::store::SavedSandbox;
use crate::{Snapshot, VfsBackend};

#[derive(Debug)]
pub(super) struct Live {
    pub(super) sandbox: Arc<VfsBackend>,
    pub(super) labels: BTreeMap<String, String>,
    /// Nanoseconds since the Unix epoch, as all times here.
    pub(super) created: u64,
    uses: Mutex<Uses>,
    /// Held while it is saved, and while it is removed from the store.
    pub(super) saved: futures_util::lock::Mutex<Saved>,
    ended: Mutex<Option<Ended>>,
}

#[derive(Debug)]
struct Uses {
    /// Calls in progress.
    running: u32,
    last: u64,
}

/// What the store holds of it.
#[derive(Debug, Default)]
pub(super) struct Saved {
    pub(super) snapshot: Option<Snapshot>,
    pub(super) used: u64,
    /// When it was saved.
    pub(super) at: u64,
    /// It was deleted, and must not be saved any more.
    pub(super) gone: bool,
}

/// Why the provider closed a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Deleted,
    Idle,
    Lifetime,
}

impl Ended {
    fn message(self) -> &'static str {
        match self {
            Self::Deleted => "the sandbox was deleted; get_or_create makes a new one",
            Self::Idle => {
                "the sandbox was deleted because nobody had used it for as long as its provider keeps idle ones"
            }
            Self::Lifetime => "the sandbox was deleted because its lifetime, which its provider sets, is over",
        }
    }
}

impl Live {
    pub(super) fn new(sandbox: VfsBackend, labels: BTreeMap<String, String>, created: u64, used: u64) -> Arc<Self> {
        Arc::new(Self {
            sandbox: Arc::new(sandbox),
            labels,
            created,
            uses: Mutex::new(Uses { running: 0, last: used }),
            saved: futures_util::lock::Mutex::default(),
            ended: Mutex::default(),
        })
    }

    fn uses(&self) -> MutexGuard<'_, Uses> {
        self.uses.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn touch(&self, now: u64) {
        let mut uses = self.uses();
        uses.last = uses.last.max(now);
    }

    /// When it was used last, and whether it is being used.
    pub(super) fn used(&self) -> (u64, bool) {
        let uses = self.uses();
        (uses.last, uses.running > 0)
    }

    pub(super) fn begin(&self, now: u64) {
        self.touch(now);
        let mut uses = self.uses();
        uses.running = uses.running.saturating_add(1);
    }

    pub(super) fn end(&self, now: u64) {
        self.touch(now);
        let mut uses = self.uses();
        uses.running = uses.running.saturating_sub(1);
    }

    pub(super) fn about(&self) -> SavedSandbox {
        let id = tidebox_core::SandboxBackend::id(&*self.sandbox).clone();
        SavedSandbox { id, labels: self.labels.clone(), created: self.created, used: self.used().0 }
    }

    pub(super) fn set_ended(&self, ended: Ended) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
    }

    /// The error of a call on a sandbox that the provider has closed.
    pub(super) fn ended(&self, operation: &'static str) -> Option<Error> {
        let ended = *self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.map(|ended| {
            Error::new(ErrorKind::Closed, operation, ended.message()).with_context("sandbox", self.sandbox.name())
        })
    }
}
