//! Open files: what descriptors share after `dup`, `fork` and inheritance, the offset above all.

use std::sync::Arc;

use crate::fs::{Device, Ino};
use crate::kernel::Kernel;
use crate::resolve::Place;
use crate::session::{SessionId, Stream};

/// `fdflags` of preview1.
pub(crate) mod flag {
    pub(crate) const APPEND: u16 = 1;
    pub(crate) const NONBLOCK: u16 = 4;
    /// `append`, `dsync`, `nonblock`, `rsync` and `sync`.
    pub(crate) const ALL: u16 = 31;
}

/// What is open.
#[derive(Clone, Debug)]
pub(crate) enum What {
    File(Ino),
    Dir(Place),
    /// The preopened directory `.` of plain guests, with its own rule for paths.
    WorkDir(Place),
    Device(Device),
    /// The reading end of a pipe, by the pipe's number.
    Reader(u32),
    /// The writing end.
    Writer(u32),
    /// Standard input of a session.
    Stdin(Arc<[u8]>),
    /// A captured stream of a session.
    Output(SessionId, Stream),
    /// A file of `/proc`, as it was when opened.
    Text(Arc<[u8]>),
}

#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) what: What,
    pub(crate) offset: u64,
    pub(crate) flags: u16,
    pub(crate) read: bool,
    pub(crate) write: bool,
    /// Descriptors that name it.
    pub(crate) refs: u32,
    /// Where reads of a directory can go on, see `wasi::p1_dir`.
    pub(crate) marks: [Option<Mark>; 2],
}

/// A directory cookie that was given out, and the name after which it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) cookie: u64,
    pub(crate) after: Vec<u8>,
}

impl OpenFile {
    pub(crate) fn new(what: What, read: bool, write: bool, flags: u16) -> Self {
        Self { what, offset: 0, flags, read, write, refs: 0, marks: [None, None] }
    }

    pub(crate) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }
}

impl Kernel {
    /// Puts an open file on the table with no descriptor yet. A pipe end is counted by the pipe already; the inode of
    /// a file or directory is held here.
    pub(crate) fn add_file(&mut self, file: OpenFile) -> u32 {
        if let What::File(ino) | What::Dir(Place::Node(ino)) | What::WorkDir(Place::Node(ino)) = &file.what {
            self.fs.hold(*ino);
        }
        self.files.insert(file)
    }

    /// One descriptor more names the file.
    pub(crate) fn share_file(&mut self, file: u32) {
        if let Some(open) = self.files.get_mut(file) {
            open.refs += 1;
        }
    }

    /// One descriptor fewer names the file; the last one closes it.
    pub(crate) fn drop_file(&mut self, file: u32) {
        let Some(open) = self.files.get_mut(file) else {
            return;
        };
        open.refs = open.refs.saturating_sub(1);
        if open.refs > 0 {
            return;
        }
        let Some(open) = self.files.remove(file) else {
            return;
        };
        match open.what {
            What::File(ino) | What::Dir(Place::Node(ino)) | What::WorkDir(Place::Node(ino)) => self.fs.release(ino),
            What::Reader(pipe) => self.close_pipe_end(pipe, false),
            What::Writer(pipe) => self.close_pipe_end(pipe, true),
            What::Dir(_) | What::WorkDir(_) | What::Device(_) | What::Stdin(_) | What::Output(..) | What::Text(_) => {}
        }
    }
}
