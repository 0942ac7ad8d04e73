//! `gzip`, `gunzip` and `zcat`.

mod file;
mod list;
pub(crate) mod member;
mod options;

use tidebox_rt::Errno;

use crate::words::print_line;

pub use options::main;

/// Options and state of one run.
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
    /// Store or restore the name and the time; by default compression stores and decompression ignores them.
    pub(crate) names: Option<bool>,
    pub(crate) code: i32,
    /// Totals of `-l`: files, compressed bytes, bytes.
    pub(crate) listed: (u64, u64, u64),
    /// Size of header and trailer of the last listed file, in bytes.
    pub(crate) overhead: u64,
}

/// Immediate exit, as in gzip if a file is truncated or cannot be written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Abort;

impl Gzip {
    /// Prints an error about a file: the run continues and exits with 1.
    pub(crate) fn error(&mut self, parts: &[&[u8]]) {
        print_line(b"gzip: ", parts);
        self.code = 1;
    }

    /// Prints an error after a line end, because it may follow an incomplete line.
    pub(crate) fn error_apart(&mut self, parts: &[&[u8]]) {
        print_line(b"\ngzip: ", parts);
        self.code = 1;
    }

    /// Prints a warning: the run exits with 2 unless an error occurs.
    pub(crate) fn warn(&mut self, parts: &[&[u8]]) {
        if !self.quiet {
            print_line(b"gzip: ", parts);
        }
        if self.code == 0 {
            self.code = 2;
        }
    }

    pub(crate) fn system(&mut self, name: &[u8], errno: Errno) {
        self.error(&[name, b": ", errno.text().as_bytes()]);
    }
}
