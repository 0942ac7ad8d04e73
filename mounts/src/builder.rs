//! Mounting when a sandbox is made.

#[cfg(all(test, unix))]
mod tests;

use std::path::Path;
use std::sync::Arc;

use tidebox_core::{Error, ErrorKind, Result};
use tidebox_kernel::fs::MountMode;
use tidebox_vfs_backend::SandboxBuilder;

/// Mounting folders of the host and file systems of the `vfs` crate, for [`SandboxBuilder`].
pub trait MountExt: Sized {
    /// Shows a folder of the host at a directory of the sandbox: [`HostDir`](crate::HostDir). The mode has to be named,
    /// because it says who may change what: nobody ([`MountMode::ReadOnly`]), the guest the host's files
    /// ([`MountMode::ReadWrite`]), or the guest a view of its own ([`MountMode::CopyOnWrite`]).
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] when the folder cannot be opened.
    #[cfg(unix)]
    fn mount_host(self, dir: impl AsRef<Path>, guest_path: impl Into<Vec<u8>>, mode: MountMode) -> Result<Self>;

    /// Shows a file system of the `vfs` crate: [`VfsMount`](crate::VfsMount), whose rules apply.
    #[cfg(feature = "vfs")]
    #[must_use]
    fn mount_vfs(self, fs: Arc<dyn vfs::FileSystem>, guest_path: impl Into<Vec<u8>>, mode: MountMode) -> Self;
}

impl MountExt for SandboxBuilder {
    #[cfg(unix)]
    fn mount_host(self, dir: impl AsRef<Path>, guest_path: impl Into<Vec<u8>>, mode: MountMode) -> Result<Self> {
        let dir = crate::HostDir::open(dir)
            .map_err(|error| Error::new(ErrorKind::InvalidRequest, "mount", error.to_string()).with_source(error))?;
        Ok(self.mount(guest_path, Arc::new(dir), mode))
    }

    #[cfg(feature = "vfs")]
    fn mount_vfs(self, fs: Arc<dyn vfs::FileSystem>, guest_path: impl Into<Vec<u8>>, mode: MountMode) -> Self {
        self.mount(guest_path, Arc::new(crate::VfsMount::new(fs)), mode)
    }
}
