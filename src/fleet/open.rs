//! Directories by URL.

use std::sync::Arc;

use tidebox_core::{Error, ErrorKind, Result};

use crate::fleet::directory::Directory;
use crate::fleet::objects::ObjectDirectory;
use crate::stores::Folder;

/// Schemes of object storage.
const OBJECT_STORES: [&str; 3] = ["s3", "gs", "az"];

/// Opens a directory of nodes by URL: `file:///path` is a directory of files that all nodes share, and with the feature
/// `object-store` `s3://bucket/path`, `gs://bucket/path` and `az://container/path` are a part of a bucket. It must not be that of a
/// store, or above or below it.
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] for another URL, and [`ErrorKind::Unsupported`] for object storage without the feature. Those of
/// [`Folder::open`] and of `ObjectStorage::from_url`.
pub fn open_directory(url: &str) -> Result<Arc<dyn Directory>> {
    match url.split_once("://") {
        Some(("file", path)) if path.starts_with('/') => Ok(Arc::new(ObjectDirectory::new(Folder::open(path)?))),
        Some((scheme, _)) if OBJECT_STORES.contains(&scheme) => open_object_directory(url),
        _ => {
            let message = format!(
                "cannot use '{url}' as a directory of nodes; give the URL of a directory, as in file:///mnt/shared/nodes, or of a bucket, as in s3://bucket/nodes"
            );
            Err(Error::new(ErrorKind::InvalidRequest, "open directory", message))
        }
    }
}

#[cfg(feature = "object-store")]
fn open_object_directory(url: &str) -> Result<Arc<dyn Directory>> {
    Ok(Arc::new(ObjectDirectory::new(crate::stores::ObjectStorage::from_url(url)?)))
}

#[cfg(not(feature = "object-store"))]
fn open_object_directory(url: &str) -> Result<Arc<dyn Directory>> {
    let message =
        format!("cannot open '{url}': this build has no object storage; build it with the feature object-store");
    Err(Error::new(ErrorKind::Unsupported, "open directory", message))
}
