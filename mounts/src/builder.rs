//! Mount methods of the sandbox builder.

#[cfg(all(test, unix))]
mod tests;

use std::path::Path;
use std::sync::Arc;

use tidebox_core::{Error, ErrorKind, Result};
use tidebox_kernel::fs::MountMode;
use tidebox_vfs_backend::SandboxBuilder;

/// Mounts of host directories and file systems of the `vfs` crate, for [`SandboxBuilder`].
pub trait MountExt: Sized {
    /// Mounts a host directory at a directory of the sandbox: [`HostDir`](crate::HostDir). The mode is mandatory, because it
    /// determines the effect of writes: they fail ([`MountMode::ReadOnly`]), change the host's files ([`MountMode::ReadWrite`]),
    /// or change a private view of the guest ([`MountMode::CopyOnWrite`]).
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] if the directory cannot be opened.
    #[cfg(unix)]
    fn mount_host(self, dir: impl AsRef<Path>, guest_path: impl Into<Vec<u8>>, mode: MountMode) -> Result<Self>;

    /// Mounts a file system of the `vfs` crate: see [`VfsMount`](crate::VfsMount) for its limitations.
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
