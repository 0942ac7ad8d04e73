//! Progress of an installation.

use std::fmt;

/// An event of an installation: a step that starts, or more of a running download.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PackProgress<'a> {
    /// Description of the step. The same text until the next step starts.
    pub step: &'a str,
    /// Size of a download and how much of it is stored. `None` for steps of unknown size.
    pub bytes: Option<ByteCount>,
}

/// Amount of a download, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteCount {
    /// Bytes that are stored.
    pub done: u64,
    /// Size of the file. `None` if the server does not report it.
    pub total: Option<u64>,
}

impl<'a> PackProgress<'a> {
    /// Creates the event that a step starts.
    #[must_use]
    pub fn step(step: &'a str) -> Self {
        Self { step, bytes: None }
    }

    /// Creates an event of a download.
    #[must_use]
    pub fn download(step: &'a str, bytes: ByteCount) -> Self {
        Self { step, bytes: Some(bytes) }
    }
}

impl fmt::Display for PackProgress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.step)?;
        match self.bytes {
            Some(ByteCount { done, total: Some(total) }) => write!(f, " {:.1} of {:.1} MB", mb(done), mb(total)),
            Some(ByteCount { done, total: None }) => write!(f, " {:.1} MB", mb(done)),
            None => Ok(()),
        }
    }
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
