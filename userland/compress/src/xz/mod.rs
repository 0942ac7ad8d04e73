//! `xz`, `lzma` and their other names.

pub(crate) mod codec;
mod file;
mod list;
mod options;

use lzma_rust2::XzOptions;

use crate::words::say;

pub(crate) use options::main;

/// What is done with each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Compress,
    Decompress,
    Test,
    List,
}

/// The kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// Told by the first bytes; to compress it means [`Self::Xz`].
    Auto,
    Xz,
    Lzma,
}

/// What one run of the tool was asked for, and what has gone wrong so far.
#[derive(Debug)]
pub(crate) struct Xz {
    /// The name under which it was started, which begins every message.
    pub(crate) name: String,
    pub(crate) mode: Mode,
    pub(crate) format: Format,
    pub(crate) to_stdout: bool,
    pub(crate) force: bool,
    pub(crate) keep: bool,
    /// 0 nothing, 1 errors, 2 warnings, 3 what was done.
    pub(crate) verbosity: u8,
    /// Warnings do not show in the exit code.
    pub(crate) no_warn: bool,
    pub(crate) robot: bool,
    pub(crate) single_stream: bool,
    pub(crate) suffix: Option<Vec<u8>>,
    pub(crate) how: XzOptions,
    /// KiB of memory that unpacking may take.
    pub(crate) memory_kib: u32,
    pub(crate) code: i32,
    pub(crate) sums: list::Sums,
}

impl Xz {
    pub(crate) fn error(&mut self, parts: &[&[u8]]) {
        if self.verbosity > 0 {
            say(format!("{}: ", self.name).as_bytes(), parts);
        }
        self.code = 1;
    }

    /// A warning: the run ends with 2 unless something worse happens.
    pub(crate) fn warn(&mut self, parts: &[&[u8]]) {
        if self.verbosity > 1 {
            say(format!("{}: ", self.name).as_bytes(), parts);
        }
        if self.code == 0 && !self.no_warn {
            self.code = 2;
        }
    }
}
