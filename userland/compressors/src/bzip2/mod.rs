//! `bzip2`, `bunzip2` and `bzcat`.

pub(crate) mod codec;
mod file;
mod options;

use crate::words::print_line;

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
pub(crate) struct Bzip2 {
    /// Process name, the prefix of every message.
    pub(crate) name: String,
    pub(crate) mode: Mode,
    pub(crate) to_stdout: bool,
    pub(crate) force: bool,
    pub(crate) keep: bool,
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    pub(crate) level: u8,
    /// Length of the longest name, for alignment.
    pub(crate) widest: usize,
    pub(crate) code: i32,
    /// A tested file is damaged.
    pub(crate) failed: bool,
}

impl Bzip2 {
    /// Prints an error about a file and sets the exit code.
    pub(crate) fn error(&mut self, code: i32, parts: &[&[u8]]) {
        print_line(format!("{}: ", self.name).as_bytes(), parts);
        self.code = self.code.max(code);
    }
}
