//! What goes wrong with packs.

use std::fmt;
use std::io;
use std::path::Path;

/// Why a pack could not be fetched, verified or kept: one sentence that says what to do.
#[derive(Debug)]
pub struct PackError(String);

impl PackError {
    /// An error with this text.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    pub(crate) fn file(path: &Path, error: &io::Error) -> Self {
        Self(format!("{}: {error}", path.display()))
    }
}

impl fmt::Display for PackError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for PackError {}
