//! Directories by URL.

use std::sync::Arc;

use tidebox_core::{Error, ErrorKind, Result};

use crate::fleet::directory::Directory;
use crate::fleet::objects::ObjectDirectory;
use crate::stores::Folder;

/// Schemes of object storage.
const OBJECT_STORES: [&str; 3] = ["s3", "gs", "az"];

/// Schemes of NATS.
const NATS: [&str; 2] = ["nats", "tls"];

/// Opens a directory of nodes by URL: `file:///path` is a directory of files that all nodes share. With the feature `object-store`
/// `s3://bucket/path`, `gs://bucket/path` and `az://container/path` are a part of a bucket. Such a directory must not be that of a
/// store, or above or below it. With the feature `nats` `nats://host:port,host:port/BUCKET` is a `NatsDirectory`.
///
/// # Errors
/// [`ErrorKind::InvalidRequest`] for another URL, and [`ErrorKind::Unsupported`] for one whose feature is missing. Those of
/// [`Folder::open`], of `ObjectStorage::from_url` and of `NatsDirectory::from_url`.
pub fn open_directory(url: &str) -> Result<Arc<dyn Directory>> {
    match url.split_once("://") {
        Some(("file", path)) if path.starts_with('/') => Ok(Arc::new(ObjectDirectory::new(Folder::open(path)?))),
        Some((scheme, _)) if OBJECT_STORES.contains(&scheme) => open_object_directory(url),
        Some((scheme, _)) if NATS.contains(&scheme) => open_nats_directory(url),
        _ => {
            let message = format!(
                "cannot use '{url}' as a directory of nodes; give the URL of a directory, as in file:///mnt/shared/nodes, of a bucket, as in s3://bucket/nodes, or of NATS, as in nats://host:4222/nodes"
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

#[cfg(feature = "nats")]
fn open_nats_directory(url: &str) -> Result<Arc<dyn Directory>> {
    Ok(Arc::new(crate::fleet::NatsDirectory::from_url(url)?))
}

#[cfg(not(feature = "nats"))]
fn open_nats_directory(_: &str) -> Result<Arc<dyn Directory>> {
    // The URL may contain a password.
    let message = "cannot open a directory over NATS: this build has no client of NATS; build it with the feature nats";
    Err(Error::new(ErrorKind::Unsupported, "open directory", message))
}
