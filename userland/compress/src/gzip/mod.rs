//! `gzip`, `gunzip` and `zcat`.

mod file;
mod list;
pub(crate) mod member;
mod options;

use tidebox_rt::Errno;

use crate::words::say;

pub(crate) use options::main;

/// What one run of the tool was asked for, and what has gone wrong so far.
#[derive(Debug)]
pub(crate) struct Gzip {
    pub(crate) to_stdout: bool,
    pub(crate) decompress: bool,
    pub(crate) force: bool,
    pub(crate) keep: bool,
    pub(crate) list: bool,
    pub(crate) quiet: bool,
    pub(crate) recursive: bool,
    pub(crate) test: bool,
    pub(crate) verbose: bool,
    pub(crate) level: u32,
    pub(crate) suffix: Vec<u8>,
    /// Keep or restore the name and the time; without it compressing does and decompressing does not.
    pub(crate) names: Option<bool>,
    pub(crate) code: i32,
    /// Sums of what `-l` lists: files, compressed bytes, bytes.
    pub(crate) listed: (u64, u64, u64),
    /// Bytes of the last listed file that are header and end.
    pub(crate) overhead: u64,
}

/// The program ends at once, as gzip does when a file breaks off or cannot be written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Abort;

impl Gzip {
    /// An error about a file: the run goes on and ends with 1.
    pub(crate) fn error(&mut self, parts: &[&[u8]]) {
        say(b"gzip: ", parts);
        self.code = 1;
    }

    /// An error that may follow a half-written line, so that a line end comes first.
    pub(crate) fn error_apart(&mut self, parts: &[&[u8]]) {
        say(b"\ngzip: ", parts);
        self.code = 1;
    }

    /// A warning: the run ends with 2 unless something worse happens.
    pub(crate) fn warn(&mut self, parts: &[&[u8]]) {
        if !self.quiet {
            say(b"gzip: ", parts);
        }
        if self.code == 0 {
            self.code = 2;
        }
    }

    pub(crate) fn system(&mut self, name: &[u8], errno: Errno) {
        self.error(&[name, b": ", errno.text().as_bytes()]);
    }
}
