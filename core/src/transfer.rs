//! Transfers of files between host and sandbox.

use std::fmt;

use crate::backend::FileResult;

/// The closed set of error codes of the transfer protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TransferCode {
    /// The path does not exist.
    FileNotFound,
    /// The sandbox does not permit it.
    PermissionDenied,
    /// The path is a directory.
    IsDirectory,
    /// The path is invalid.
    InvalidPath,
}

impl TransferCode {
    /// Returns the stable name.
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

/// A file to upload.
///
/// The path is not parsed yet: an invalid one is an error of this file only, and the others are still transferred.
#[derive(Clone, PartialEq, Eq)]
pub struct Upload {
    /// Destination path. Relative paths are `invalid_path`: a transfer has no working directory.
    pub path: Vec<u8>,
    /// The content.
    pub content: Vec<u8>,
}

impl Upload {
    /// Creates an upload.
    pub fn new(path: impl Into<Vec<u8>>, content: impl Into<Vec<u8>>) -> Self {
        Self { path: path.into(), content: content.into() }
    }
}

/// The content may contain secrets, so only its length is shown.
impl fmt::Debug for Upload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upload")
            .field("path", &String::from_utf8_lossy(&self.path))
            .field("content_bytes", &self.content.len())
            .finish()
    }
}

/// Result of an upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadResult {
    /// The requested path.
    pub path: Vec<u8>,
    /// The error, if it failed; [`crate::FileErrorCode::transfer_code`] maps it to the protocol's four codes.
    pub result: FileResult<()>,
}

/// Result of a download.
#[derive(Clone, PartialEq, Eq)]
pub struct Download {
    /// The requested path.
    pub path: Vec<u8>,
    /// The content, or the error if it failed.
    pub result: FileResult<Vec<u8>>,
}

/// Shows only the length, as for [`Upload`].
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
