//! Host and sandbox exchanging files, by the caller.

use std::fmt;

use crate::backend::FileResult;

/// The closed set of reasons that the transfer protocol knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransferCode {
    /// Nothing is there.
    FileNotFound,
    /// The sandbox does not permit it.
    PermissionDenied,
    /// A directory is there.
    IsDirectory,
    /// The path cannot be used.
    InvalidPath,
}

impl TransferCode {
    /// The stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::FileNotFound => "file_not_found",
            Self::PermissionDenied => "permission_denied",
            Self::IsDirectory => "is_directory",
            Self::InvalidPath => "invalid_path",
        }
    }
}

impl fmt::Display for TransferCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A file for the sandbox.
///
/// The path is not parsed yet: one that is invalid is the result of this file, and the others still go.
#[derive(Clone, PartialEq, Eq)]
pub struct Upload {
    /// Where it goes. Relative paths are `invalid_path`: who transfers is outside and has no working directory.
    pub path: Vec<u8>,
    /// What it holds.
    pub content: Vec<u8>,
}

impl Upload {
    /// A file for the sandbox.
    pub fn new(path: impl Into<Vec<u8>>, content: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), content: content.into() }
    }
}

/// A file may hold secrets: what it holds is counted and not shown.
impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upload")
            .field("path", &String::from_utf8_lossy(&self.path))
            .field("content_bytes", &self.content.len())
            .finish()
    }
}

/// What became of an upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadResult {
    /// The path as it was given.
    pub path: Vec<u8>,
    /// The reason when it failed; [`crate::FileErrorCode::transfer_code`] maps it to the protocol's four.
    pub result: FileResult<()>,
}

/// What became of a download.
#[derive(Clone, PartialEq, Eq)]
pub struct Download {
    /// The path as it was given.
    pub path: Vec<u8>,
    /// The content, or the reason when it failed.
    pub result: FileResult<Vec<u8>>,
}

/// As of an [`Upload`].
impl fmt::Debug for Download {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = String::from_utf8_lossy(&self.path);
        let mut shown = f.debug_struct("Download");
        shown.field("path", &path);
        match &self.result {
            Ok(content) => shown.field("content_bytes", &content.len()),
            Err(reason) => shown.field("failed", reason),
        };
        shown.finish()
    }
}
