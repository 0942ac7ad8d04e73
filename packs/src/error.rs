//! Errors of packs.

use std::fmt;
use std::io;
use std::path::Path;

/// A pack that cannot be fetched, verified or stored: one sentence with a remedy.
#[derive(Debug)]
pub struct PackError(String);

impl PackError {
    /// Creates an error with this message.
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
