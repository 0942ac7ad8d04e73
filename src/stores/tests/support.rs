//! A provider whose sandboxes run no program, and objects that fail.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use futures_executor::block_on;
use tidebox_core::lock::Mutex;
use tidebox_core::{
    BoxFuture, Error, ErrorKind, Limits, OutputChunk, Result, SandboxBackend, SandboxPath, SandboxProvider, Selector,
    WriteRequest,
};
use tidebox_kernel::engine::{Engine, EngineError};
use tidebox_kernel::{ExecutionId, SeededEntropy, SharedKernel, VirtualClock};
use tidebox_vfs_backend::{
    BaseImage, Durability, Program, ProviderSettings, SandboxBuilder, SnapshotStore, VfsProvider,
};

use crate::stores::memory::MemoryObjects;
use crate::stores::objects::{Creation, ObjectPage, Objects};

#[derive(Debug)]
struct Idle;

impl Engine for Idle {
    fn drive<'a>(
        &'a self,
        _: &'a SharedKernel,
        _: ExecutionId,
        _: Duration,
        _: Option<&'a mut (dyn FnMut(OutputChunk) + Send)>,
    ) -> Pin<Box<dyn Future<Output = Result<(), EngineError>> + Send + 'a>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

/// Numbers of the sandboxes of all tests, so that their ids differ.
static SEEDS: AtomicU64 = AtomicU64::new(1);

pub(crate) fn provider(store: impl SnapshotStore + 'static) -> VfsProvider {
    provider_with(store, Limits::default())
}

pub(crate) fn provider_with(store: impl SnapshotStore + 'static, limits: Limits) -> VfsProvider {
    let base = BaseImage::new(&[Program::new(["bash", "sh"], b"\0asm\x01\0\0\0".to_vec())]).unwrap();
    let make = move || {
        let entropy = Box::new(SeededEntropy::new(SEEDS.fetch_add(1, Ordering::Relaxed)));
        let builder = SandboxBuilder::new(Arc::new(Idle), &base, Box::new(VirtualClock::new(0)), entropy);
        Ok(builder.limits(limits.clone()))
    };
    let mut settings = ProviderSettings::default();
    settings.store = Some(Arc::new(store));
    VfsProvider::with_settings(make, Box::new(VirtualClock::new(0)), settings)
}

pub(crate) fn thread() -> Selector {
    Selector::labels([("thread", "1")])
}

pub(crate) fn get(provider: &VfsProvider) -> Arc<dyn SandboxBackend> {
    block_on(provider.get_or_create(thread())).unwrap()
}

pub(crate) fn write(sandbox: &dyn SandboxBackend, name: &str, content: impl Into<Vec<u8>>) -> Result<()> {
    let path = SandboxPath::parse(format!("/workspace/{name}")).unwrap();
    block_on(sandbox.write(WriteRequest::new(path, content.into())))?.unwrap();
    Ok(())
}

pub(crate) fn read(sandbox: &dyn SandboxBackend, name: &str) -> Option<Vec<u8>> {
    let path = format!("/workspace/{name}").into_bytes();
    block_on(sandbox.download_files(vec![path])).unwrap().remove(0).result.ok()
}

/// Bytes that cannot be compressed.
pub(crate) fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    (0..len).map(|_| random.next() as u8).collect()
}

pub(crate) struct Random(pub(super) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 8
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }
}

/// Objects in memory whose next creations fail.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failing {
    pub(crate) objects: MemoryObjects,
    /// Creations that are done although an error is returned.
    pub(crate) lost: Arc<AtomicUsize>,
    /// Creations that are not done.
    pub(crate) refused: Arc<AtomicUsize>,
    /// A list of an earlier time, which is returned once for one sandbox.
    pub(crate) stale: Arc<Mutex<Option<ObjectPage>>>,
    /// A list of an earlier time, which is returned once for all sandboxes.
    pub(crate) stale_all: Arc<Mutex<Option<ObjectPage>>>,
}

impl Failing {
    fn take(counter: &AtomicUsize) -> bool {
        counter.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |count| count.checked_sub(1)).is_ok()
    }
}

impl Objects for Failing {
    fn durability(&self) -> Durability {
        Durability::Shared
    }

    fn create<'a>(&'a self, name: &'a str, bytes: Vec<u8>) -> BoxFuture<'a, Result<Creation>> {
        let failed = || Err(Error::new(ErrorKind::Storage, "create object", "the response was lost"));
        if Self::take(&self.refused) {
            return Box::pin(std::future::ready(failed()));
        }
        let created = self.objects.create_now(name, bytes);
        Box::pin(std::future::ready(if Self::take(&self.lost) { failed() } else { Ok(created) }))
    }

    fn read<'a>(&'a self, name: &'a str, max_bytes: u64) -> BoxFuture<'a, Result<Option<Vec<u8>>>> {
        self.objects.read(name, max_bytes)
    }

    fn list<'a>(&'a self, prefix: &'a str, after: &'a str) -> BoxFuture<'a, Result<ObjectPage>> {
        let stale = self.stale.lock().take_if(|_| prefix.ends_with('/'));
        let stale = stale.or_else(|| self.stale_all.lock().take_if(|_| prefix.is_empty()));
        if let Some(page) = stale {
            return Box::pin(std::future::ready(Ok(page)));
        }
        self.objects.list(prefix, after)
    }

    fn clear<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<()>> {
        self.objects.clear(name)
    }

    fn remove<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<()>> {
        self.objects.remove(name)
    }

    fn remove_interrupted(&self, before: u64) -> BoxFuture<'_, Result<()>> {
        self.objects.remove_interrupted(before)
    }
}
