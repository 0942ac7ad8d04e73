//! The files of the calling sandbox.

use std::fmt;

use crate::backend::{BoxFuture, FileResult};
use crate::error::{FileError, FileErrorCode};
use crate::path::SandboxPath;

/// Operations that a backend implements for [`HostFiles`].
pub trait FileAccess: Send + Sync {
    /// Returns the content of the regular file at `path`. More than `max_bytes` bytes are [`FileErrorCode::TooLarge`].
    fn read<'a>(&'a self, path: &'a SandboxPath, max_bytes: u64) -> BoxFuture<'a, FileResult<Vec<u8>>>;

    /// Creates the file at `path` and its parent directories, or replaces its content.
    fn write<'a>(&'a self, path: &'a SandboxPath, content: &'a [u8]) -> BoxFuture<'a, FileResult<()>>;
}

/// The files of the calling sandbox. No path that a guest passes reaches the host.
///
/// Access has the permissions of the sandbox's user: a tool can read and change only what the guest itself can, and its writes
/// count towards the sandbox's limits. Relative paths are resolved against the working directory of the call.
pub struct HostFiles {
    cwd: SandboxPath,
    access: Box<dyn FileAccess>,
}

impl fmt::Debug for HostFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostFiles").field("cwd", &self.cwd).finish_non_exhaustive()
    }
}

impl HostFiles {
    /// Wraps the implementation `access`.
    pub fn new(cwd: SandboxPath, access: impl FileAccess + 'static) -> Self {
        Self { cwd, access: Box::new(access) }
    }

    /// Creates an empty file system: every path is missing.
    pub fn none() -> Self {
        Self::new(SandboxPath::root(), NoFiles)
    }

    /// Returns the content of a regular file of at most `max_bytes` bytes. A guest can create a file up to its limits, so choose
    /// a limit that the tool can handle.
    ///
    /// # Errors
    /// [`FileErrorCode::TooLarge`], and those of a path that is not a readable file.
    pub async fn read(&self, path: impl AsRef<[u8]> + Send, max_bytes: u64) -> FileResult<Vec<u8>> {
        let path = self.cwd.resolve(path)?;
        self.access.read(&path, max_bytes).await
    }

    /// Creates a file and its parent directories, or replaces its content.
    ///
    /// # Errors
    /// [`FileErrorCode::NoSpace`] and [`FileErrorCode::TooLarge`] at the sandbox's limits, and those of a path that is not
    /// writable.
    pub async fn write(&self, path: impl AsRef<[u8]> + Send, content: impl AsRef<[u8]> + Send) -> FileResult<()> {
        let path = self.cwd.resolve(path)?;
        self.access.write(&path, content.as_ref()).await
    }
}

struct NoFiles;

impl FileAccess for NoFiles {
    fn read<'a>(&'a self, path: &'a SandboxPath, _: u64) -> BoxFuture<'a, FileResult<Vec<u8>>> {
        Box::pin(async move { Err(FileError::not_found(path.as_bytes())) })
    }

    fn write<'a>(&'a self, path: &'a SandboxPath, _: &'a [u8]) -> BoxFuture<'a, FileResult<()>> {
        let message = format!("Permission denied: '{path}'; this call has no file access");
        Box::pin(async move { Err(FileError::new(FileErrorCode::PermissionDenied, message)) })
    }
}
