//! Mounting file systems when a sandbox is built.

use std::fmt;
use std::sync::Arc;

use tidebox_core::{Error, ErrorKind, Result, SandboxPath};
use tidebox_kernel::fs::{Fs, Mount, MountMode};
use tidebox_kernel::{Errno, Kernel};

use crate::{SandboxBuilder, VfsBackend};

const OPERATION: &str = "mount";

/// A mount to create.
pub(crate) struct MountSpec {
    path: Vec<u8>,
    mount: Arc<dyn Mount>,
    pub(crate) mode: MountMode,
}

impl fmt::Debug for MountSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wanted")
            .field("path", &String::from_utf8_lossy(&self.path))
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

impl SandboxBuilder {
    /// Mounts a file system at a directory of the sandbox. The directory is created if missing, and must be empty
    /// unless it is in another mount. A relative path is resolved against the working directory. Mounts are created in
    /// the order of the calls, before initial files are written.
    ///
    /// Calls on the file system run under the sandbox's kernel lock, so a slow one blocks the other programs of this
    /// sandbox.
    #[must_use]
    pub fn mount(mut self, guest_path: impl Into<Vec<u8>>, mount: Arc<dyn Mount>, mode: MountMode) -> Self {
        self.mounts.push(MountSpec { path: guest_path.into(), mount, mode });
        self
    }
}

pub(crate) fn mount(kernel: &mut Kernel, cwd: &SandboxPath, mounts: Vec<MountSpec>) -> Result<()> {
    for spec in mounts {
        let path = cwd.resolve(&spec.path)?;
        let mounted = kernel.fs_mut().mount(path.as_bytes(), spec.mount, spec.mode);
        mounted.map_err(|errno| mount_error(&path, spec.mode, errno))?;
    }
    Ok(())
}

fn mount_error(path: &SandboxPath, mode: MountMode, errno: Errno) -> Error {
    let message = match errno {
        Errno::Busy => "cannot mount at '/', in /proc, or at an existing mount point; choose another directory (a \
             snapshot includes its mounts)"
            .to_owned(),
        Errno::Notempty => "the mount would hide files in the directory; choose an empty or new one".to_owned(),
        Errno::Notdir => "the path or the root of the file system is not a directory".to_owned(),
        Errno::Rofs if mode == MountMode::ReadWrite => {
            "the file system, or the mount that contains the mount point, is read-only; mount it read-only or \
             copy-on-write"
                .to_owned()
        }
        Errno::Rofs => "the mount point does not exist and is in a read-only mount".to_owned(),
        other => format!("cannot mount the file system: {other}"),
    };
    Error::new(ErrorKind::InvalidRequest, OPERATION, message).with_context("path", path.to_string())
}

impl VfsBackend {
    /// Works on the files directly, with the time of the sandbox's clock. Commands are blocked during the call.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Closed`].
    pub fn with_fs<T>(&self, work: impl FnOnce(&mut Fs, u64) -> T) -> Result<T> {
        let kernel = self.kernel("use files")?;
        let mut kernel = kernel.lock();
        let now = kernel.now();
        Ok(work(kernel.fs_mut(), now))
    }
}
