//! `zstd` and its other names.

pub(crate) mod codec;
mod file;
mod list;
mod options;

use crate::words::tell;

pub(crate) use options::main;

/// What is done with each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Compress,
    Decompress,
    Test,
    List,
}

/// What compressing writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Zstd,
    Gzip,
    Xz,
    Lzma,
}

/// What one run of the tool was asked for, and what has gone wrong so far.
#[derive(Debug)]
pub(crate) struct Zstd {
    pub(crate) mode: Mode,
    pub(crate) format: Format,
    pub(crate) to_stdout: bool,
    /// The one file that takes the result.
    pub(crate) output: Option<Vec<u8>>,
    /// The folder that takes the results.
    pub(crate) folder: Option<Vec<u8>>,
    pub(crate) force: bool,
    /// What is not compressed passes as it is.
    pub(crate) passes_on: bool,
    pub(crate) remove: bool,
    pub(crate) recursive: bool,
    pub(crate) checks: bool,
    pub(crate) level: i32,
    /// 0 nothing, 1 errors, 2 what was done, 3 and more.
    pub(crate) verbosity: u8,
    pub(crate) code: i32,
}

impl Zstd {
    /// What is done when nothing is asked for.
    pub(crate) fn plain() -> Self {
        Self {
            mode: Mode::Compress,
            format: Format::Zstd,
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

    /// An error, in words of which zstd has many forms.
    pub(crate) fn error(&mut self, parts: &[&[u8]]) {
        self.note(1, parts);
        self.code = 1;
    }

    pub(crate) fn note(&self, verbosity: u8, parts: &[&[u8]]) {
        if self.verbosity >= verbosity {
            tell(parts);
        }
    }
}
