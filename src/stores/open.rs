//! Logs by URL.

use std::sync::Arc;

use tidebox_core::{Error, ErrorKind, Result};

use crate::stores::folder::FolderLog;
use crate::stores::log::SaveLog;

/// Schemes of object storage.
const OBJECT_STORES: [&str; 3] = ["s3", "gs", "az"];

/// Opens a log by URL: `file:///path` is a [`FolderLog`], and with the feature `object-store` `s3://bucket/path`, `gs://bucket/path`
/// and `az://container/path` are an `ObjectLog`, which needs a Tokio runtime.
///
/// A directory is [`Durability::Local`](tidebox_vfs_backend::Durability), also on a network file system, which the URL does not show:
/// use [`Folder::shared`](crate::stores::Folder::shared) where the difference counts. The path is used as it is, without `%` escapes.
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] for another URL, and [`ErrorKind::Unsupported`] for object storage without the feature. Those of
/// [`FolderLog::open`] and of `ObjectLog::from_url`.
pub fn open_log(url: &str) -> Result<Arc<dyn SaveLog>> {
    match url.split_once("://") {
        Some(("file", path)) if path.starts_with('/') => Ok(Arc::new(FolderLog::open(path)?)),
        Some((scheme, _)) if OBJECT_STORES.contains(&scheme) => open_object_log(url),
        _ => {
            let message = format!(
                "cannot use '{url}' as a store; give the URL of a directory, as in file:///mnt/shared, or of a bucket, as in s3://bucket/path"
            );
            Err(Error::new(ErrorKind::InvalidRequest, "open store", message))
        }
    }
}

#[cfg(feature = "object-store")]
fn open_object_log(url: &str) -> Result<Arc<dyn SaveLog>> {
    Ok(Arc::new(crate::stores::ObjectLog::from_url(url)?))
}

#[cfg(not(feature = "object-store"))]
fn open_object_log(url: &str) -> Result<Arc<dyn SaveLog>> {
    let message =
        format!("cannot open '{url}': this build has no object storage; build it with the feature object-store");
    Err(Error::new(ErrorKind::Unsupported, "open store", message))
}
