//! Makes WASI calls and writes one line for each, with arguments and results.
//!
//! Two hosts that behave the same write the same lines. Therefore descriptors appear under the name given by the scenario, inode
//! numbers by order of first appearance, and a time close to now as `now`.

mod descriptor;
mod environment;
mod listing;
mod open;
mod path;

use std::fmt::Display;

use crate::sys::{Errno, Record};
use crate::text;
use open::TIME_FLAGS;
pub(crate) use open::{
    APPEND, BOTH, CREAT, DIRECTORY, DSYNC, EXCL, FDFLAGS, FOLLOW, NOFOLLOW, NONBLOCK, READ, RSYNC, SYNC, TRUNC, WRITE,
};

const NO_DESCRIPTOR: u32 = 0x7fff_fff0;

/// A descriptor and its name in the lines.
#[derive(Clone)]
pub(crate) struct Fd {
    pub(crate) number: u32,
    pub(crate) name: String,
}

impl Fd {
    pub(crate) fn new(number: u32, name: impl Into<String>) -> Self {
        Self { number, name: name.into() }
    }

    /// A number that no host assigns, so that calls after a failed `path_open` return `badf` on every host.
    pub(crate) fn none(name: impl Into<String>) -> Self {
        Self::new(NO_DESCRIPTOR, name)
    }

    pub(crate) fn is_open(&self) -> bool {
        self.number != NO_DESCRIPTOR
    }
}

/// The `filestat` fields on which hosts agree.
#[derive(Clone, Copy)]
pub(crate) struct Stat(Record<64>);

impl Stat {
    pub(crate) fn ino(self) -> u64 {
        self.0.u64(8)
    }

    pub(crate) fn is_dir(self) -> bool {
        self.0.u8(16) == 3
    }

    pub(crate) fn size(self) -> u64 {
        self.0.u64(32)
    }

    pub(crate) fn atime(self) -> u64 {
        self.0.u64(40)
    }

    pub(crate) fn mtime(self) -> u64 {
        self.0.u64(48)
    }

    /// Size and links of a directory depend on the file system, so they are omitted.
    fn text(self) -> String {
        let kind = text::file_type(self.0.u8(16));
        if self.is_dir() { kind.to_owned() } else { format!("{kind} nlink={} size={}", self.0.u64(24), self.size()) }
    }
}

/// Makes the calls.
pub(crate) struct Journal {
    inos: Vec<u64>,
}

impl Journal {
    pub(crate) fn new() -> Self {
        Self { inos: Vec::new() }
    }

    /// Writes a line for a relation between results instead of a call.
    pub(crate) fn note(&self, what: impl Display, holds: impl Display) {
        println!("{what}: {holds}");
    }

    fn line(&self, call: impl Display, errno: Errno, result: impl Display) {
        match errno {
            0 => println!("{call} = ok {result}"),
            _ => println!("{call} = {}", text::errno(errno)),
        }
    }

    fn done(&self, call: impl Display, errno: Errno) -> bool {
        self.line(call, errno, "");
        errno == 0
    }

    /// Returns a short name for an inode: its order of first appearance in this journal.
    pub(crate) fn ino(&mut self, ino: u64) -> usize {
        let known = self.inos.iter().position(|seen| *seen == ino);
        known.unwrap_or_else(|| {
            self.inos.push(ino);
            self.inos.len() - 1
        })
    }
}
