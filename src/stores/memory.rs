//! Objects in memory, for tests and for sandboxes that end with the process.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use tidebox_core::lock::Mutex;
use tidebox_core::{BoxFuture, Result};
use tidebox_vfs_backend::Durability;

use crate::stores::log::GenerationLog;
use crate::stores::objects::{Creation, ObjectInfo, ObjectPage, Objects};
use crate::system::unix_nanos;

/// A log in memory. Clones share it, as several programs share a directory.
pub type MemoryLog = GenerationLog<MemoryObjects>;

impl GenerationLog<MemoryObjects> {
    /// Creates an empty log.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::new(MemoryObjects::default())
    }
}

/// Bytes and time of the last change, in nanoseconds since the Unix epoch.
type MemoryObject = (Vec<u8>, u64);

/// Objects in memory. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct MemoryObjects {
    objects: Arc<Mutex<BTreeMap<String, MemoryObject>>>,
}

impl MemoryObjects {
    pub(crate) fn create_now(&self, name: &str, bytes: Vec<u8>) -> Creation {
        let mut objects = self.objects.lock();
        if objects.contains_key(name) {
            return Creation::Exists;
        }
        objects.insert(name.to_owned(), (bytes, unix_nanos()));
        Creation::Created
    }

    fn page(&self, prefix: &str, after: &str) -> ObjectPage {
        let objects = self.objects.lock();
        let start = if after < prefix { Bound::Included(prefix) } else { Bound::Excluded(after) };
        let all = objects.range::<str, _>((start, Bound::Unbounded)).take_while(|(name, _)| name.starts_with(prefix));
        let info = |(name, (bytes, modified)): (&String, &MemoryObject)| ObjectInfo {
            name: name.clone(),
            len: bytes.len() as u64,
            modified: *modified,
        };
        ObjectPage { objects: all.map(info).collect(), has_more: false }
    }
}

impl Objects for MemoryObjects {
    fn durability(&self) -> Durability {
        Durability::Memory
    }

    fn create<'a>(&'a self, name: &'a str, bytes: Vec<u8>) -> BoxFuture<'a, Result<Creation>> {
        Box::pin(async move { Ok(self.create_now(name, bytes)) })
    }

    fn read<'a>(&'a self, name: &'a str, max_bytes: u64) -> BoxFuture<'a, Result<Option<Vec<u8>>>> {
        let bytes = self.objects.lock().get(name).map(|(bytes, _)| {
            let end = usize::try_from(max_bytes).unwrap_or(usize::MAX).min(bytes.len());
            bytes.get(..end).unwrap_or_default().to_vec()
        });
        Box::pin(std::future::ready(Ok(bytes)))
    }

    fn list<'a>(&'a self, prefix: &'a str, after: &'a str) -> BoxFuture<'a, Result<ObjectPage>> {
        Box::pin(std::future::ready(Ok(self.page(prefix, after))))
    }

    fn clear<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<()>> {
        if let Some(object) = self.objects.lock().get_mut(name) {
            *object = (Vec::new(), unix_nanos());
        }
        Box::pin(std::future::ready(Ok(())))
    }

    fn remove<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<()>> {
        self.objects.lock().remove(name);
        Box::pin(std::future::ready(Ok(())))
    }

    fn remove_interrupted(&self, _: u64) -> BoxFuture<'_, Result<()>> {
        Box::pin(std::future::ready(Ok(())))
    }
}
