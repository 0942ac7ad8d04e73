//! `bzip2`, `bunzip2` and `bzcat`.

pub(crate) mod codec;
mod file;
mod options;

use crate::words::say;

pub(crate) use options::main;

/// What is done with each file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Compress,
    Decompress,
    Test,
}

/// What one run of the tool was asked for, and what has gone wrong so far.
#[derive(Debug)]
pub(crate) struct Bzip2 {
    /// The name under which it was started, which begins every message.
    pub(crate) name: String,
    pub(crate) mode: Mode,
    pub(crate) to_stdout: bool,
    pub(crate) force: bool,
    pub(crate) keep: bool,
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    pub(crate) level: u8,
    /// The length of the longest name, so that what follows the names lines up.
    pub(crate) widest: usize,
    pub(crate) code: i32,
    /// A file that was tested is broken.
    pub(crate) failed: bool,
}

impl Bzip2 {
    /// An error about a file, which the code of the run tells.
    pub(crate) fn error(&mut self, code: i32, parts: &[&[u8]]) {
        say(format!("{}: ", self.name).as_bytes(), parts);
        self.code = self.code.max(code);
    }
}
