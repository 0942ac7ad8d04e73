//! `zstd` and its aliases.

pub(crate) mod codec;
mod file;
mod options;

use crate::words::print_parts;

pub use options::main;

/// Operation on each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Compress,
    Decompress,
    Test,
}

/// Options and state of one run.
#[derive(Debug)]
pub(crate) struct Zstd {
    pub(crate) mode: Mode,
    pub(crate) to_stdout: bool,
    /// The single output file.
    pub(crate) output: Option<Vec<u8>>,
    /// The output directory.
    pub(crate) folder: Option<Vec<u8>>,
    pub(crate) force: bool,
    /// Copy uncompressed input through.
    pub(crate) passes_on: bool,
    pub(crate) remove: bool,
    pub(crate) recursive: bool,
    pub(crate) checks: bool,
    pub(crate) level: i32,
    /// Verbosity: 0 nothing, 1 errors, 2 results, 3 and more.
    pub(crate) verbosity: u8,
    pub(crate) code: i32,
}

impl Zstd {
    /// Default options.
    pub(crate) fn plain() -> Self {
        Self {
            mode: Mode::Compress,
            to_stdout: false,
            output: None,
            folder: None,
            force: false,
            passes_on: false,
            remove: false,
            recursive: false,
            checks: true,
            level: 3,
            verbosity: 2,
            code: 0,
        }
    }

    /// Prints an error in one of zstd's message formats.
    pub(crate) fn error(&mut self, parts: &[&[u8]]) {
        self.note(1, parts);
        self.code = 1;
    }

    pub(crate) fn note(&self, verbosity: u8, parts: &[&[u8]]) {
        if self.verbosity >= verbosity {
            print_parts(parts);
        }
    }
}
