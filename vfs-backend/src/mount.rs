//! Mounting file systems when a sandbox is made.

use std::fmt;
use std::sync::Arc;

use tidebox_core::{Error, ErrorKind, Result, SandboxPath};
use tidebox_kernel::fs::{Fs, Mount, MountMode};
use tidebox_kernel::{Errno, Kernel};

use crate::backend::lock;
use crate::{SandboxBuilder, VfsBackend};

const OPERATION: &str = "mount";

/// What to mount, and where.
pub(crate) struct Wanted {
    path: Vec<u8>,
    mount: Arc<dyn Mount>,
    pub(crate) mode: MountMode,
}

impl fmt::Debug for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wanted")
            .field("path", &String::from_utf8_lossy(&self.path))
            .field("mode", &self.mode)
            .finish_non_exhaustive()
    }
}

impl SandboxBuilder {
    /// Shows a file system at a directory of the sandbox. The directory is made where it is missing, and has to be empty
    /// unless it lies in another mount. A relative path is below the working directory. Mounts are made in the order in
    /// which they are given, before files are put in.
    ///
    /// Calls on the file system run while the sandbox's kernel is locked, so one that takes long keeps the other programs
    /// of this sandbox waiting.
    #[must_use]
    pub fn mount(mut self, guest_path: impl Into<Vec<u8>>, mount: Arc<dyn Mount>, mode: MountMode) -> Self {
        self.mounts.push(Wanted { path: guest_path.into(), mount, mode });
        self
    }
}

pub(crate) fn mount(kernel: &mut Kernel, cwd: &SandboxPath, mounts: Vec<Wanted>) -> Result<()> {
    for wanted in mounts {
        let path = cwd.resolve(&wanted.path)?;
        let mounted = kernel.fs_mut().mount(path.as_bytes(), wanted.mount, wanted.mode);
        mounted.map_err(|errno| refused(&path, wanted.mode, errno))?;
    }
    Ok(())
}

fn refused(path: &SandboxPath, mode: MountMode, errno: Errno) -> Error {
    let message = match errno {
        Errno::Busy => {
            "nothing can be mounted at '/', in /proc, or where something is mounted already; choose another directory (a \
             snapshot brings its mounts along)"
                .to_owned()
        }
        Errno::Notempty => "the directory has files in it that would be hidden; choose an empty or new one".to_owned(),
        Errno::Notdir => "the path leads to a file, or what is to be mounted is no directory".to_owned(),
        Errno::Rofs if mode == MountMode::ReadWrite => {
            "the file system cannot be written, or its place lies in a mount that cannot; mount it read-only or \
             copy-on-write"
                .to_owned()
        }
        Errno::Rofs => "its place does not exist and lies in a mount that cannot be changed".to_owned(),
        other => format!("the file system cannot be mounted: {other}"),
    };
    Error::new(ErrorKind::InvalidRequest, OPERATION, message).with_context("path", path.to_string())
}

impl VfsBackend {
    /// Works on the files directly, with the time of the sandbox's clock. Commands wait meanwhile.
    ///
    /// # Errors
    /// [`ErrorKind::Closed`].
    pub fn with_files<T>(&self, work: impl FnOnce(&mut Fs, u64) -> T) -> Result<T> {
        let kernel = self.kernel("use files")?;
        let mut kernel = lock(&kernel);
        let now = kernel.now();
        Ok(work(kernel.fs_mut(), now))
    }
}
