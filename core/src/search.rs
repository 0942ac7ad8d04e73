//! Finding files by name and by content.

use crate::file::FileInfo;
use crate::path::SandboxPath;

/// Reason for which results are incomplete. Complete results have `None` instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Truncation {
    /// At least one more result than requested exists.
    MaxCount,
    /// The limit on the work of one search, or on its results, was reached.
    Budget,
    /// A directory or file could not be read.
    Unreadable,
}

impl Truncation {
    /// Returns the stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MaxCount => "max_count",
            Self::Budget => "budget",
            Self::Unreadable => "unreadable",
        }
    }
}

/// A search for lines.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GrepRequest {
    /// A literal string, case-sensitive, within one line.
    pub pattern: Vec<u8>,
    /// A directory to search recursively, or one file.
    pub path: SandboxPath,
    /// Only files whose name (or, when it contains a slash, whose path below `path`) matches.
    pub glob: Option<Vec<u8>>,
    /// Maximum number of matching lines. `None` is the backend's limit.
    pub max_count: Option<usize>,
}

impl GrepRequest {
    /// Creates a search for `pattern` in all files at or below `path`.
    pub fn new(pattern: impl Into<Vec<u8>>, path: SandboxPath) -> Self {
        Self { pattern: pattern.into(), path, glob: None, max_count: None }
    }

    /// Searches only files that match.
    #[must_use]
    pub fn with_glob(mut self, glob: impl Into<Vec<u8>>) -> Self {
        self.glob = Some(glob.into());
        self
    }

    /// Sets the maximum number of matching lines.
    #[must_use]
    pub fn with_max_count(mut self, max_count: usize) -> Self {
        self.max_count = Some(max_count);
        self
    }
}

/// One matching line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GrepMatch {
    /// The absolute path of the file.
    pub path: Vec<u8>,
    /// The line's number, from 1.
    pub line: u64,
    /// The line without its newline.
    pub text: Vec<u8>,
}

/// The matching lines, in the order of a walk: directory by directory, by name, then by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrepResponse {
    /// The matches.
    pub matches: Vec<GrepMatch>,
    /// Set if there may be more matches, with the reason.
    pub truncated: Option<Truncation>,
}

/// A search for files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobRequest {
    /// The pattern, see [`crate::glob::GlobPattern`].
    pub pattern: Vec<u8>,
    /// The directory to search recursively.
    pub path: SandboxPath,
}

impl GlobRequest {
    /// Creates a search for `pattern` below `path`.
    pub fn new(pattern: impl Into<Vec<u8>>, path: SandboxPath) -> Self {
        Self { pattern: pattern.into(), path }
    }
}

/// The matching files, in the order of a walk: directory by directory, by name. The [`crate::Dialect`] determines whether paths
/// are relative and directories are included.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobResponse {
    /// The files.
    pub files: Vec<FileInfo>,
    /// Set if there may be more files, with the reason.
    pub truncated: Option<Truncation>,
}
