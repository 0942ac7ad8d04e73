//! One sandbox in a store, without a provider's index.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tidebox_core::layer::{Call, Layer, Response};
use tidebox_core::lock::Mutex;
use tidebox_core::{BoxFuture, ErrorKind, OutputSink, ProcessState, Result, SandboxBackend, SandboxId};
use tidebox_kernel::Clock;

use super::live::{CloseReason, LiveSandbox, SavedState};
use super::saving::max_saved_bytes;
use super::store::{SavedSandbox, SnapshotStore};
use crate::{SandboxBuilder, VfsBackend};

/// A sandbox that is saved in a [`SnapshotStore`] before the response of each call that changed something.
///
/// It is for servers that find sandboxes by id and have no index of all of them. The end of a background process is reported after
/// what it changed was saved; its output while it runs is not. `close` saves it and frees the memory, and only
/// [`delete`](Self::delete) removes it from the store. If another program takes it over, its next save fails with
/// [`ErrorKind::Closed`], and it is closed.
pub struct SavedBackend {
    live: Arc<LiveSandbox>,
    store: Arc<dyn SnapshotStore>,
    clock: Mutex<Box<dyn Clock>>,
    labels: Mutex<Labels>,
    /// True from a failed save to the next successful one.
    has_failed: AtomicBool,
}

/// Labels of the next save, and those of the last one.
#[derive(Debug, Default)]
struct Labels {
    next: BTreeMap<String, String>,
    saved: Option<BTreeMap<String, String>>,
}

impl fmt::Debug for SavedBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SavedBackend").field("sandbox", &self.live.sandbox).finish_non_exhaustive()
    }
}

impl SavedBackend {
    /// Creates a sandbox, which is first saved by [`save`](Self::save) or by a call. `clock` has the real time of creation and use.
    /// `prepare` installs what the host adds to every sandbox.
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a sandbox with state that cannot be saved; those of the builder and of `prepare`.
    pub fn create(
        builder: SandboxBuilder,
        store: Arc<dyn SnapshotStore>,
        clock: Box<dyn Clock>,
        labels: BTreeMap<String, String>,
        prepare: impl FnOnce(&VfsBackend) -> Result<()>,
    ) -> Result<Self> {
        builder.check_savable()?;
        let sandbox = builder.build()?;
        prepare(&sandbox)?;
        let now = clock.realtime();
        let live = LiveSandbox::new(sandbox, BTreeMap::new(), now, now);
        let labels = Mutex::new(Labels { next: labels, saved: None });
        Ok(Self { live, store, clock: Mutex::new(clock), labels, has_failed: AtomicBool::new(false) })
    }

    /// Restores a sandbox and takes it over from other programs. `None` if the store does not have it.
    ///
    /// # Errors
    /// Those of the store, of the builder and of `prepare`.
    pub async fn restore(
        builder: SandboxBuilder,
        store: Arc<dyn SnapshotStore>,
        clock: Box<dyn Clock>,
        id: &SandboxId,
        prepare: impl FnOnce(&VfsBackend) -> Result<()>,
    ) -> Result<Option<Self>> {
        let Some(files) = store.get(id, max_saved_bytes(builder.current_limits())).await? else { return Ok(None) };
        // Read after the sandbox was taken over: the previous owner cannot change it any more.
        let Some(SavedSandbox { labels, created, .. }) = store.find(id).await? else { return Ok(None) };
        let resumed = builder.resume(id.clone(), &files, prepare);
        let (sandbox, stored) = resumed.map_err(|error| error.with_context("saved sandbox", id.as_str()))?;
        let now = clock.realtime();
        let live = LiveSandbox::new(sandbox, BTreeMap::new(), created, now);
        let snapshot = Some(live.sandbox.snapshot()?);
        *live.saved.lock().await = SavedState { snapshot, stored: Some(stored), last_use: now, at: now, ended: false };
        let labels = Mutex::new(Labels { next: labels.clone(), saved: Some(labels) });
        Ok(Some(Self { live, store, clock: Mutex::new(clock), labels, has_failed: AtomicBool::new(false) }))
    }

    /// Returns the sandbox, for snapshots and ports. Changes through it are saved by the next call.
    pub fn sandbox(&self) -> &Arc<VfsBackend> {
        &self.live.sandbox
    }

    /// Returns the labels of the next save.
    pub fn labels(&self) -> BTreeMap<String, String> {
        self.labels.lock().next.clone()
    }

    /// Replaces the labels. The next save has them; [`save`](Self::save) makes them durable.
    pub fn set_labels(&self, labels: BTreeMap<String, String>) {
        self.labels.lock().next = labels;
    }

    /// Returns whether it was closed, deleted or taken over.
    pub fn is_closed(&self) -> bool {
        self.live.sandbox.is_closed()
    }

    /// Saves files and labels that have changed since the last save. Concurrent callers wait.
    ///
    /// # Errors
    /// Those of the store; [`ErrorKind::Closed`] if another program has taken the sandbox over.
    pub async fn save(&self) -> Result<()> {
        let mut saved = self.live.saved.lock().await;
        // The call that closes it saves it.
        let Ok(snapshot) = self.live.sandbox.snapshot() else { return Ok(()) };
        self.put(&mut saved, snapshot).await
    }

    async fn put(&self, saved: &mut SavedState, snapshot: crate::Snapshot) -> Result<()> {
        let labels = self.labels();
        let same_files = saved.snapshot.as_ref().is_some_and(|saved| saved.is_same(&snapshot));
        let same_labels = self.labels.lock().saved.as_ref() == Some(&labels);
        if saved.ended || (same_files && same_labels) {
            return Ok(());
        }
        let metadata = SavedSandbox { labels: labels.clone(), ..self.live.to_saved() };
        // Also if the caller drops this future.
        self.has_failed.store(true, Ordering::Release);
        self.live.put(&*self.store, saved, metadata, snapshot, self.now()).await?;
        self.has_failed.store(false, Ordering::Release);
        self.labels.lock().saved = Some(labels);
        Ok(())
    }

    /// Saves it and frees its memory. The saved state stays.
    ///
    /// # Errors
    /// As [`save`](Self::save). The sandbox then stays open, unless another program has it.
    pub async fn close(&self) -> Result<()> {
        self.save().await?;
        let mut saved = self.live.saved.lock().await;
        let Some(kernel) = self.live.sandbox.take_kernel() else { return Ok(()) };
        self.live.set_closed(CloseReason::Released);
        // Changes made while it was being saved.
        let files = kernel.lock().snapshot();
        let snapshot = self.live.sandbox.snapshot_of(files);
        let result = self.put(&mut saved, snapshot).await;
        self.store.release(self.live.sandbox.id());
        (saved.snapshot, saved.stored, saved.ended) = (None, None, true);
        result
    }

    /// Removes it from the store permanently and closes it.
    ///
    /// # Errors
    /// Those of the store. The sandbox then stays open, unless another program has taken it over ([`ErrorKind::Closed`]): it is not
    /// removed then.
    pub async fn delete(&self) -> Result<()> {
        let mut saved = self.live.saved.lock().await;
        let metadata = SavedSandbox { labels: self.labels(), ..self.live.to_saved() };
        let deleted = if saved.ended { Ok(()) } else { self.store.delete_own(&metadata).await };
        let reason = match &deleted {
            Ok(()) => CloseReason::Deleted,
            Err(error) if error.kind() == ErrorKind::Closed => CloseReason::TakenOver,
            Err(_) => return deleted,
        };
        saved.ended = true;
        self.live.set_closed(reason);
        self.live.sandbox.take_kernel();
        self.store.release(self.live.sandbox.id());
        deleted
    }

    fn now(&self) -> u64 {
        self.clock.lock().realtime()
    }
}

/// When a call is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SaveAfter {
    /// Only if an earlier save has failed: a response must not contain what is not durable.
    Failure,
    /// If it reports the end of a process. The output of a running process acknowledges nothing.
    EndOfProcess,
    Always,
}

impl SaveAfter {
    fn of(call: &Call) -> Self {
        match call {
            Call::Ls(_) | Call::Read(_) | Call::Grep(_) | Call::Glob(_) | Call::DownloadFiles(_) => Self::Failure,
            Call::ReadProcess(..) => Self::EndOfProcess,
            _ => Self::Always,
        }
    }

    fn is_due(self, result: &Result<Response>) -> bool {
        match (self, result) {
            (Self::Always, _) => true,
            (Self::EndOfProcess, Ok(Response::ReadProcess(page))) => !matches!(page.state, ProcessState::Running),
            _ => false,
        }
    }
}

impl Layer for SavedBackend {
    fn id(&self) -> &SandboxId {
        self.live.sandbox.id()
    }

    fn call<'a>(&'a self, call: Call, sink: Option<OutputSink<'a>>) -> BoxFuture<'a, Result<Response>> {
        Box::pin(async move {
            if matches!(call, Call::Close) {
                self.close().await?;
                return Ok(Response::Close);
            }
            if let Some(error) = self.live.closed_error(call.method()) {
                return Err(error);
            }
            self.live.touch(self.now());
            let after = SaveAfter::of(&call);
            let result = call.run(&*self.live.sandbox, sink).await;
            if !after.is_due(&result) && !self.has_failed.load(Ordering::Acquire) {
                return result;
            }
            let saved = self.save().await;
            // An error of the call itself takes precedence.
            let result = result?;
            saved.map(|()| result)
        })
    }
}
