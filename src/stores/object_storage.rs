//! Objects in object storage.

mod http;

use std::sync::Arc;

use futures_util::StreamExt as _;
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectStore, ObjectStoreExt as _, PutMode, PutOptions};
use tidebox_core::{BoxFuture, Error, ErrorKind, Result};
use tidebox_vfs_backend::Durability;

use crate::stores::log::GenerationLog;
use crate::stores::objects::{Creation, ObjectInfo, ObjectPage, Objects};

/// A log in object storage, for programs on many hosts.
pub type ObjectLog = GenerationLog<ObjectStorage>;

/// Objects per page of a list, as the protocols of S3, GCS and Azure have it.
const PAGE: usize = 1000;

/// Objects in object storage.
///
/// It must have conditional creation (`PutMode::Create`) and list in the order of names, as S3, GCS, Azure and
/// `object_store::memory` do. Clients over HTTP need a Tokio runtime.
#[derive(Clone, Debug)]
pub struct ObjectStorage {
    store: Arc<dyn ObjectStore>,
    prefix: String,
    durability: Durability,
}

impl ObjectStorage {
    /// Uses an object store below a path; an empty path is its root. Durability is what [`Objects::durability`] reports.
    pub fn new(store: Arc<dyn ObjectStore>, path: &str, durability: Durability) -> Self {
        let path = path.trim_matches('/');
        let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
        Self { store, prefix, durability }
    }

    fn path(&self, name: &str) -> Result<Path> {
        Path::parse(format!("{}{name}", self.prefix)).map_err(|error| failed("name", name, error.into()))
    }

    async fn put(&self, name: &str, bytes: Vec<u8>, mode: PutMode) -> Result<Creation> {
        let options = PutOptions { mode, ..PutOptions::default() };
        match self.store.put_opts(&self.path(name)?, bytes.into(), options).await {
            Ok(_) => Ok(Creation::Created),
            Err(object_store::Error::AlreadyExists { .. }) => Ok(Creation::Exists),
            Err(error) => Err(failed("save", name, error)),
        }
    }

    async fn read_start(&self, name: &str, max_bytes: u64) -> Result<Option<Vec<u8>>> {
        let path = self.path(name)?;
        if max_bytes == 0 {
            return Ok(Some(Vec::new()));
        }
        let range = (max_bytes < u64::from(u32::MAX)).then_some(GetRange::Bounded(0..max_bytes));
        let options = GetOptions { range, ..GetOptions::default() };
        let read = async { self.store.get_opts(&path, options).await?.bytes().await };
        match read.await {
            Ok(bytes) => Ok(Some(bytes.into())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => match self.store.head(&path).await {
                // Stores reject a range of an empty object.
                Ok(meta) if meta.size == 0 => Ok(Some(Vec::new())),
                _ => Err(failed("read", name, error)),
            },
        }
    }

    async fn list_page(&self, prefix: &str, after: &str) -> Result<ObjectPage> {
        // The store knows whole parts of a path only.
        let dir = prefix.rsplit_once('/').map_or("", |(dir, _)| dir);
        let dir = self.path(dir.trim_end_matches('/'))?;
        let dir = (!dir.as_ref().is_empty()).then_some(&dir);
        let start = if after > prefix { after } else { prefix.trim_end_matches('/') };
        let mut found = match start {
            "" => self.store.list(dir),
            start => self.store.list_with_offset(dir, &self.path(start)?),
        };
        let mut page = ObjectPage::default();
        while let Some(object) = found.next().await {
            let meta = object.map_err(|error| failed("list", prefix, error))?;
            let Some(name) = meta.location.as_ref().strip_prefix(self.prefix.as_str()) else { continue };
            if !name.starts_with(prefix) {
                if name > prefix {
                    break;
                }
                continue;
            }
            if page.objects.len() == PAGE {
                page.has_more = true;
                break;
            }
            let modified = meta.last_modified.timestamp_nanos_opt().and_then(|time| u64::try_from(time).ok());
            let (name, modified) = (name.to_owned(), modified.unwrap_or_default());
            page.objects.push(ObjectInfo { name, len: meta.size, modified });
        }
        Ok(page)
    }
}

impl Objects for ObjectStorage {
    fn durability(&self) -> Durability {
        self.durability
    }

    fn create<'a>(&'a self, name: &'a str, bytes: Vec<u8>) -> BoxFuture<'a, Result<Creation>> {
        Box::pin(self.put(name, bytes, PutMode::Create))
    }

    fn read<'a>(&'a self, name: &'a str, max_bytes: u64) -> BoxFuture<'a, Result<Option<Vec<u8>>>> {
        Box::pin(self.read_start(name, max_bytes))
    }

    fn list<'a>(&'a self, prefix: &'a str, after: &'a str) -> BoxFuture<'a, Result<ObjectPage>> {
        Box::pin(self.list_page(prefix, after))
    }

    fn clear<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.put(name, Vec::new(), PutMode::Overwrite).await.map(|_| ()) })
    }

    fn remove<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            match self.store.delete(&self.path(name)?).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
                Err(error) => Err(failed("remove", name, error)),
            }
        })
    }

    /// Nothing: an object store shows no part of an object.
    fn remove_interrupted(&self, _: u64) -> BoxFuture<'_, Result<()>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

fn failed(verb: &str, name: &str, error: object_store::Error) -> Error {
    let message =
        format!("cannot {verb} {name} in the object store: {error}; check its address, credentials and state");
    Error::new(ErrorKind::Storage, "keep sandboxes", message).with_source(error)
}
