//! A sandbox of a provider that is in memory.

use std::collections::BTreeMap;
use std::sync::{Arc, MutexGuard};

use tidebox_core::lock::Mutex;
use tidebox_core::{Error, ErrorKind};

use super::store::SavedSandbox;
use crate::{Snapshot, VfsBackend};

#[derive(Debug)]
pub(super) struct LiveSandbox {
    pub(super) sandbox: Arc<VfsBackend>,
    pub(super) labels: BTreeMap<String, String>,
    /// Nanoseconds since the Unix epoch, as all times here.
    pub(super) created: u64,
    lock_uses: Mutex<Uses>,
    /// Locked while the sandbox is saved, and while it is removed from the store.
    pub(super) saved: futures_util::lock::Mutex<SavedState>,
    closed_error: Mutex<Option<CloseReason>>,
}

#[derive(Debug)]
struct Uses {
    /// Calls in progress.
    running: u32,
    last: u64,
}

/// The state in the store.
#[derive(Debug, Default)]
pub(super) struct SavedState {
    /// State of the sandbox when it was saved or restored.
    pub(super) snapshot: Option<Snapshot>,
    /// That state as the store returns it. It differs after a restore if the builder has changed files.
    pub(super) stored: Option<Snapshot>,
    pub(super) last_use: u64,
    /// Time of the save.
    pub(super) at: u64,
    /// Set after deletion, or after another program has taken the sandbox over: it must not be saved again.
    pub(super) ended: bool,
}

/// Reason why the provider closed a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CloseReason {
    Deleted,
    Idle,
    Lifetime,
    TakenOver,
    Released,
}

impl CloseReason {
    fn message(self) -> &'static str {
        match self {
            Self::Deleted => "the sandbox was deleted; get_or_create creates a new one",
            Self::Idle => "the sandbox was deleted after reaching its idle timeout",
            Self::Lifetime => "the sandbox was deleted after reaching the provider's maximum lifetime",
            Self::TakenOver => "another program has taken the sandbox over; get_or_create takes it back",
            Self::Released => "the sandbox was saved and closed; use it again by its id",
        }
    }
}

impl LiveSandbox {
    pub(super) fn new(sandbox: VfsBackend, labels: BTreeMap<String, String>, created: u64, used: u64) -> Arc<Self> {
        Arc::new(Self {
            sandbox: Arc::new(sandbox),
            labels,
            created,
            lock_uses: Mutex::new(Uses { running: 0, last: used }),
            saved: futures_util::lock::Mutex::default(),
            closed_error: Mutex::default(),
        })
    }

    fn lock_uses(&self) -> MutexGuard<'_, Uses> {
        self.lock_uses.lock()
    }

    pub(super) fn touch(&self, now: u64) {
        let mut uses = self.lock_uses();
        uses.last = uses.last.max(now);
    }

    /// Returns the time of the last use, and whether it is in use.
    pub(super) fn last_use(&self) -> (u64, bool) {
        let uses = self.lock_uses();
        (uses.last, uses.running > 0)
    }

    pub(super) fn begin_use(&self, now: u64) {
        self.touch(now);
        let mut uses = self.lock_uses();
        uses.running = uses.running.saturating_add(1);
    }

    pub(super) fn end(&self, now: u64) {
        self.touch(now);
        let mut uses = self.lock_uses();
        uses.running = uses.running.saturating_sub(1);
    }

    pub(super) fn to_saved(&self) -> SavedSandbox {
        let id = tidebox_core::SandboxBackend::id(&*self.sandbox).clone();
        SavedSandbox { id, labels: self.labels.clone(), created: self.created, last_used: self.last_use().0 }
    }

    pub(super) fn set_closed(&self, ended: CloseReason) {
        *self.closed_error.lock() = Some(ended);
    }

    /// Returns the error of a call on a sandbox that the provider has closed.
    pub(super) fn closed_error(&self, operation: &'static str) -> Option<Error> {
        let ended = *self.closed_error.lock();
        ended.map(|ended| {
            Error::new(ErrorKind::Closed, operation, ended.message()).with_context("sandbox", self.sandbox.name())
        })
    }
}
