//! Finding files by name and by content.

use crate::file::FileInfo;
use crate::path::SandboxPath;

/// What a list of results leaves out, and why. A search that looked at everything says `None` instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Truncation {
    /// There is at least one more result than was asked for.
    MaxCount,
    /// The work that one search may do, or the room for its results, was used up.
    Budget,
    /// A directory or file could not be read.
    Unreadable,
}

impl Truncation {
    /// The stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MaxCount => "max_count",
            Self::Budget => "budget",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Which lines to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GrepRequest {
    /// A literal string, case-sensitive, within one line.
    pub pattern: Vec<u8>,
    /// A directory to search with everything below, or one file.
    pub path: SandboxPath,
    /// Only files whose name (or, when it contains a slash, whose path below `path`) matches.
    pub glob: Option<Vec<u8>>,
    /// At most this many matching lines. `None` is the backend's own bound.
    pub max_count: Option<usize>,
}

impl GrepRequest {
    /// Looks for `pattern` in all files at or below `path`.
    pub fn new(pattern: impl Into<Vec<u8>>, path: SandboxPath) -> Self {
        Self { pattern: pattern.into(), path, glob: None, max_count: None }
    }

    /// Only in files that match.
    #[must_use]
    pub fn with_glob(mut self, glob: impl Into<Vec<u8>>) -> Self {
        self.glob = Some(glob.into());
        self
    }

    /// At most this many matching lines.
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
    /// The line without its end.
    pub text: Vec<u8>,
}

/// The matching lines, in the order of a walk: directory by directory, by name, then by line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GrepResponse {
    /// The matches.
    pub matches: Vec<GrepMatch>,
    /// Whether there may be more, and why they are not here.
    pub truncated: Option<Truncation>,
}

/// Which files to look for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobRequest {
    /// The pattern, see [`crate::glob::GlobPattern`].
    pub pattern: Vec<u8>,
    /// Where to look, with everything below.
    pub path: SandboxPath,
}

impl GlobRequest {
    /// Looks for `pattern` below `path`.
    pub fn new(pattern: impl Into<Vec<u8>>, path: SandboxPath) -> Self {
        Self { pattern: pattern.into(), path }
    }
}

/// The files found, in the order of a walk: directory by directory, by name. Whether paths are relative and directories included is the [`crate::Dialect`]'s.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GlobResponse {
    /// The files.
    pub files: Vec<FileInfo>,
    /// Whether there may be more, and why they are not here.
    pub truncated: Option<Truncation>,
}
