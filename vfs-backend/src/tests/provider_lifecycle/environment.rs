//! An application with a clock and a store that the tests control.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_executor::block_on;
use tidebox_core::{
    BoxFuture, Error, ErrorKind, Result, SandboxBackend, SandboxId, SandboxProvider, Selector, WriteRequest,
};
use tidebox_kernel::{Clock, SeededEntropy, VirtualClock};

use super::super::path;
use super::super::scripted_engine::{ScriptedEngine, Step};
use crate::{
    BaseImage, Durability, ProviderSettings, SandboxBuilder, SaveRequest, SavedFiles, SavedSandbox, SnapshotStore,
    VfsProvider,
};

pub(super) const SECOND: u64 = 1_000_000_000;

/// A clock that the test advances.
#[derive(Clone, Debug, Default)]
pub(super) struct TestClock(pub(super) Arc<AtomicU64>);

impl TestClock {
    pub(super) fn advance(&self, seconds: u64) {
        self.0.fetch_add(seconds * SECOND, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn realtime(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }

    fn monotonic(&self) -> u64 {
        self.realtime()
    }

    fn fork(&self) -> Box<dyn Clock> {
        Box::new(self.clone())
    }
}

/// An in-memory store that can fail and completes on the second poll.
#[derive(Debug, Default)]
pub(super) struct TestStore {
    pub(super) saved: Mutex<BTreeMap<SandboxId, (SavedSandbox, SavedFiles)>>,
    pub(super) put_count: AtomicUsize,
    /// Number of saves that were stored as changes.
    pub(super) changes: AtomicUsize,
    /// True after another program has taken all sandboxes over.
    pub(super) fenced: AtomicBool,
    pub(super) failing: AtomicBool,
}

impl TestStore {
    pub(super) fn ids(&self) -> Vec<SandboxId> {
        self.saved.lock().unwrap().keys().cloned().collect()
    }

    pub(super) fn put_count(&self) -> usize {
        self.put_count.load(Ordering::SeqCst)
    }

    async fn check(&self) -> Result<()> {
        crate::yield_now::yield_now().await;
        if self.failing.load(Ordering::SeqCst) {
            return Err(Error::new(ErrorKind::Storage, "keep sandboxes", "the disk is full; free some space"));
        }
        Ok(())
    }
}

impl SnapshotStore for TestStore {
    fn durability(&self) -> Durability {
        Durability::Local
    }

    fn has_other_writers(&self) -> bool {
        false
    }

    fn put(&self, save: SaveRequest) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            self.check().await?;
            if self.fenced.load(Ordering::SeqCst) {
                return Err(Error::new(ErrorKind::Closed, "save sandbox", "another program has taken it over"));
            }
            self.put_count.fetch_add(1, Ordering::SeqCst);
            let SaveRequest { sandbox, snapshot, before } = save;
            let mut saved = self.saved.lock().unwrap();
            let changes = before.and_then(|before| snapshot.changes_for_store(&before));
            let files = match (changes, saved.remove(&sandbox.id)) {
                (Some(changes), Some((_, mut files))) => {
                    self.changes.fetch_add(1, Ordering::SeqCst);
                    files.changes.push(changes);
                    files
                }
                _ => SavedFiles { snapshot: snapshot.to_bytes(), changes: Vec::new() },
            };
            saved.insert(sandbox.id.clone(), (sandbox, files));
            Ok(())
        })
    }

    fn get<'a>(&'a self, id: &'a SandboxId, _: u64) -> BoxFuture<'a, Result<Option<SavedFiles>>> {
        Box::pin(async move {
            self.check().await?;
            Ok(self.saved.lock().unwrap().get(id).map(|(_, files)| files.clone()))
        })
    }

    fn find<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<Option<SavedSandbox>>> {
        Box::pin(async move {
            self.check().await?;
            Ok(self.saved.lock().unwrap().get(id).map(|(saved, _)| saved.clone()))
        })
    }

    fn delete_own<'a>(&'a self, sandbox: &'a SavedSandbox) -> BoxFuture<'a, Result<()>> {
        self.delete(&sandbox.id)
    }

    fn release(&self, _: &SandboxId) {}

    fn collect_garbage(&self) -> BoxFuture<'_, Result<()>> {
        Box::pin(self.check())
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<SavedSandbox>>> {
        Box::pin(async move {
            self.check().await?;
            Ok(self.saved.lock().unwrap().values().map(|(saved, _)| saved.clone()).collect())
        })
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.check().await?;
            self.saved.lock().unwrap().remove(id);
            Ok(())
        })
    }
}

/// An application that can be restarted: clock and store survive.
#[derive(Clone, Default)]
pub(super) struct TestEnvironment {
    pub(super) clock: TestClock,
    pub(super) store: Arc<TestStore>,
    pub(super) seeds: Arc<AtomicU64>,
}

impl TestEnvironment {
    pub(super) fn start(&self, settings: ProviderSettings) -> VfsProvider {
        self.start_with(settings, [Step::Exit(0)])
    }

    pub(super) fn start_with(&self, settings: ProviderSettings, steps: impl IntoIterator<Item = Step>) -> VfsProvider {
        VfsProvider::with_settings(self.provider(steps), Box::new(self.clock.clone()), settings)
    }

    pub(super) fn provider(
        &self,
        steps: impl IntoIterator<Item = Step>,
    ) -> impl Fn() -> Result<SandboxBuilder> + Send + Sync + 'static {
        let (seeds, steps) = (Arc::clone(&self.seeds), steps.into_iter().collect::<Vec<_>>());
        let base = BaseImage::new(&[crate::Program::new(["bash", "sh"], b"\0asm\x01\0\0\0".to_vec())]).unwrap();
        move || {
            let entropy = Box::new(SeededEntropy::new(seeds.fetch_add(1, Ordering::Relaxed)));
            let engine = Arc::new(ScriptedEngine::new(steps.clone()));
            Ok(SandboxBuilder::new(engine, &base, Box::new(VirtualClock::new(0)), entropy).file("seed", "initial"))
        }
    }

    pub(super) fn stored(&self) -> ProviderSettings {
        ProviderSettings {
            store: Some(Arc::clone(&self.store) as Arc<dyn SnapshotStore>),
            ..ProviderSettings::default()
        }
    }
}

pub(super) fn with_idle_timeout(seconds: u64, settings: ProviderSettings) -> ProviderSettings {
    ProviderSettings { idle_timeout: Some(Duration::from_secs(seconds)), ..settings }
}

pub(super) fn thread_selector(number: u32) -> Selector {
    Selector::labels([("thread", number.to_string())])
}

pub(super) fn get(provider: &VfsProvider, selector: Selector) -> Arc<dyn SandboxBackend> {
    block_on(provider.get_or_create(selector)).unwrap()
}

pub(super) fn write(sandbox: &dyn SandboxBackend, name: &str, text: &str) -> Result<()> {
    block_on(sandbox.write(WriteRequest::new(path(name), text)))?.unwrap();
    Ok(())
}

pub(super) fn read(sandbox: &dyn SandboxBackend, name: &str) -> Result<Option<Vec<u8>>> {
    let mut downloads = block_on(sandbox.download_files(vec![name.into()]))?;
    Ok(downloads.remove(0).result.ok())
}

pub(super) fn kind<T: std::fmt::Debug>(result: Result<T>) -> ErrorKind {
    result.unwrap_err().kind()
}
