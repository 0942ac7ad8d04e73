//! The files of the sandbox that calls.

use std::fmt;

use crate::backend::{BoxFuture, FileResult};
use crate::error::{FileError, FileErrorCode};
use crate::path::SandboxPath;

/// What a backend does for [`HostFiles`].
pub trait FileAccess: Send + Sync {
    /// The content of the regular file at `path`. More than `most` bytes are [`FileErrorCode::TooLarge`].
    fn read<'a>(&'a self, path: &'a SandboxPath, most: u64) -> BoxFuture<'a, FileResult<Vec<u8>>>;

    /// Creates the file at `path`, and the directories above it, or replaces its content.
    fn write<'a>(&'a self, path: &'a SandboxPath, content: &'a [u8]) -> BoxFuture<'a, FileResult<()>>;
}

/// The files of the sandbox that calls, and no others: whatever path a guest passes, nothing of the host is reached.
///
/// They are used as the sandbox's user: a tool neither reads nor changes what the guest could not have read or changed by
/// itself, and what it writes counts towards the sandbox's limits. Relative paths are below the working directory of the
/// call.
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
    /// The files that `access` reaches.
    pub fn new(cwd: SandboxPath, access: impl FileAccess + 'static) -> Self {
        Self { cwd, access: Box::new(access) }
    }

    /// No files at all: whatever is asked for is not there.
    pub fn none() -> Self {
        Self::new(SandboxPath::root(), NoFiles)
    }

    /// The content of a regular file, if it is at most `most` bytes long. A guest can make a file as long as its limits
    /// allow, so say what the tool can use.
    ///
    /// # Errors
    /// [`FileErrorCode::TooLarge`]; those of a path that leads to no file the user may read.
    pub async fn read(&self, path: impl AsRef<[u8]> + Send, most: u64) -> FileResult<Vec<u8>> {
        let path = self.cwd.resolve(path)?;
        self.access.read(&path, most).await
    }

    /// Creates a file, and the directories above it, or replaces its content.
    ///
    /// # Errors
    /// [`FileErrorCode::NoSpace`] and [`FileErrorCode::TooLarge`] at the sandbox's limits; those of a path where the user
    /// may not write.
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
        let message = format!("Permission denied: '{path}'; this call was made without files");
        Box::pin(async move { Err(FileError::new(FileErrorCode::PermissionDenied, message)) })
    }
}
