//! `xz`, `lzma` and their aliases.

pub(crate) mod codec;
mod file;
mod list;
mod options;

use lzma_rust2::XzOptions;

use crate::words::print_line;

pub use options::main;

/// Operation on each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Compress,
    Decompress,
    Test,
    List,
}

/// File formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Detected by magic bytes; when compressing, [`Self::Xz`].
    Auto,
    Xz,
    Lzma,
}

/// Options and state of one run.
#[derive(Debug)]
pub(crate) struct Xz {
    /// Process name, the prefix of every message.
    pub(crate) name: String,
    pub(crate) mode: Mode,
    pub(crate) format: Format,
    pub(crate) to_stdout: bool,
    pub(crate) force: bool,
    pub(crate) keep: bool,
    /// Verbosity: 0 nothing, 1 errors, 2 warnings, 3 results.
    pub(crate) verbosity: u8,
    /// Warnings do not affect the exit code.
    pub(crate) no_warn: bool,
    pub(crate) suffix: Option<Vec<u8>>,
    pub(crate) how: XzOptions,
    pub(crate) code: i32,
    pub(crate) sums: list::Sums,
}

impl Xz {
    pub(crate) fn error(&mut self, parts: &[&[u8]]) {
        if self.verbosity > 0 {
            print_line(format!("{}: ", self.name).as_bytes(), parts);
        }
        self.code = 1;
    }

    /// Prints a warning: the run exits with 2 unless an error occurs.
    pub(crate) fn warn(&mut self, parts: &[&[u8]]) {
        if self.verbosity > 1 {
            print_line(format!("{}: ", self.name).as_bytes(), parts);
        }
        if self.code == 0 && !self.no_warn {
            self.code = 2;
        }
    }
}
