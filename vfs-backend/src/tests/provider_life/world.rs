//! A program whose clock and store the tests hold.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_executor::block_on;
use tidebox_core::{
    BoxFuture, Error, ErrorKind, Result, SandboxBackend, SandboxId, SandboxProvider, Selector, WriteRequest,
};
use tidebox_kernel::{Clock, FixedClock, SeededEntropy};

use super::super::engine::{Play, Stage};
use super::super::path;
use crate::{BaseImage, ProviderSettings, SandboxBuilder, SavedSandbox, Snapshot, SnapshotStore, VfsProvider};

pub(super) const SECOND: u64 = 1_000_000_000;

/// A clock that the test moves.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch(pub(super) Arc<AtomicU64>);

impl Watch {
    pub(super) fn pass(&self, seconds: u64) {
        self.0.fetch_add(seconds * SECOND, Ordering::SeqCst);
    }
}

impl Clock for Watch {
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

/// A store in memory that can fail, and that answers at the next poll.
#[derive(Debug, Default)]
pub(super) struct Drawer {
    pub(super) saved: Mutex<BTreeMap<SandboxId, (SavedSandbox, Vec<u8>)>>,
    pub(super) puts: AtomicUsize,
    pub(super) broken: AtomicBool,
}

impl Drawer {
    pub(super) fn ids(&self) -> Vec<SandboxId> {
        self.saved.lock().unwrap().keys().cloned().collect()
    }

    pub(super) fn puts(&self) -> usize {
        self.puts.load(Ordering::SeqCst)
    }

    async fn check(&self) -> Result<()> {
        crate::turn::yield_now().await;
        if self.broken.load(Ordering::SeqCst) {
            return Err(Error::new(ErrorKind::Storage, "keep sandboxes", "the disk is full; free some space"));
        }
        Ok(())
    }
}

impl SnapshotStore for Drawer {
    fn put<'a>(&'a self, saved: &'a SavedSandbox, snapshot: Snapshot) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.check().await?;
            self.puts.fetch_add(1, Ordering::SeqCst);
            self.saved.lock().unwrap().insert(saved.id.clone(), (saved.clone(), snapshot.to_bytes()));
            Ok(())
        })
    }

    fn get<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(async move {
            self.check().await?;
            Ok(self.saved.lock().unwrap().get(id).map(|(_, snapshot)| snapshot.clone()))
        })
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

/// A program that may be started again: what outlives it is the watch and the drawer.
#[derive(Clone, Default)]
pub(super) struct World {
    pub(super) watch: Watch,
    pub(super) drawer: Arc<Drawer>,
    pub(super) seeds: Arc<AtomicU64>,
}

impl World {
    pub(super) fn start(&self, settings: ProviderSettings) -> VfsProvider {
        self.start_with(settings, [Play::Exit(0)])
    }

    pub(super) fn start_with(&self, settings: ProviderSettings, play: impl IntoIterator<Item = Play>) -> VfsProvider {
        VfsProvider::with_settings(self.make(play), Box::new(self.watch.clone()), settings)
    }

    pub(super) fn make(
        &self,
        play: impl IntoIterator<Item = Play>,
    ) -> impl Fn() -> Result<SandboxBuilder> + Send + Sync + 'static {
        let (seeds, play) = (Arc::clone(&self.seeds), play.into_iter().collect::<Vec<_>>());
        let base = BaseImage::new(&[crate::Program::new(["bash", "sh"], b"\0asm\x01\0\0\0".to_vec())]).unwrap();
        move || {
            let entropy = Box::new(SeededEntropy::new(seeds.fetch_add(1, Ordering::Relaxed)));
            let stage = Arc::new(Stage::new(play.clone()));
            Ok(SandboxBuilder::new(stage, &base, Box::new(FixedClock::new(0)), entropy).file("seed", "planted"))
        }
    }

    pub(super) fn stored(&self) -> ProviderSettings {
        ProviderSettings {
            store: Some(Arc::clone(&self.drawer) as Arc<dyn SnapshotStore>),
            ..ProviderSettings::default()
        }
    }
}

pub(super) fn idle(seconds: u64, settings: ProviderSettings) -> ProviderSettings {
    ProviderSettings { idle: Some(Duration::from_secs(seconds)), ..settings }
}

pub(super) fn thread(number: u32) -> Selector {
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
