//! Open files: what descriptors share after `dup`, `fork` and inheritance, the offset above all.

use std::sync::Arc;

use crate::errno::Errno;
use crate::fd::Entry;
use crate::fs::{Device, Ino};
use crate::kernel::Kernel;
use crate::process::Pid;
use crate::procfs::Text;
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
    Device(Device, Ino),
    /// The reading end of a pipe, by the pipe's number.
    Reader(u32),
    /// The writing end.
    Writer(u32),
    /// Both ends of a named pipe.
    Both(u32),
    /// Standard input of a session.
    Stdin(Arc<[u8]>),
    /// A captured stream of a session.
    Output(SessionId, Stream),
    /// A file of `/proc`. What it says is made at each read, so that an open one costs no memory.
    Text(Text),
}

impl What {
    /// The inode that stays alive while this is open.
    pub(crate) fn ino(&self) -> Option<Ino> {
        match self {
            Self::File(ino) | Self::Device(_, ino) | Self::Dir(Place::Node(ino)) | Self::WorkDir(Place::Node(ino)) => {
                Some(*ino)
            }
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) what: What,
    pub(crate) offset: u64,
    pub(crate) flags: u16,
    pub(crate) read: bool,
    pub(crate) write: bool,
    /// Of a named pipe that was opened for reading without waiting: how often it had been opened for writing by then. As
    /// long as nobody else does, that there is no writer is no hang-up.
    pub(crate) before: Option<u64>,
    /// Descriptors that name it.
    pub(crate) refs: u32,
    /// Where reads of a directory can go on, see `fd_readdir`.
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
        Self { what, offset: 0, flags, read, write, before: None, refs: 0, marks: [None, None] }
    }

    pub(crate) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }
}

impl Kernel {
    /// The inode of what is open, if it has one: that of a named pipe's ends, too.
    pub(crate) fn ino_of(&self, what: &What) -> Option<Ino> {
        match what {
            What::Reader(pipe) | What::Writer(pipe) | What::Both(pipe) => self.pipes.get(*pipe)?.ino,
            other => other.ino(),
        }
    }

    /// The number of the open file behind a descriptor.
    pub(crate) fn file_of(&self, pid: Pid, fd: u32) -> Result<u32, Errno> {
        self.process(pid)?.fds.get(fd).map(|entry| entry.file).ok_or(Errno::Badf)
    }

    /// The open file behind a descriptor.
    pub(crate) fn open_file(&self, pid: Pid, fd: u32) -> Result<&OpenFile, Errno> {
        self.files.get(self.file_of(pid, fd)?).ok_or(Errno::Badf)
    }

    pub(crate) fn open_file_mut(&mut self, pid: Pid, fd: u32) -> Result<&mut OpenFile, Errno> {
        let file = self.file_of(pid, fd)?;
        self.files.get_mut(file).ok_or(Errno::Badf)
    }

    /// Gives `file` the lowest free descriptor that is at least `at_least`. On an error the file is as before.
    pub(crate) fn give_fd(&mut self, pid: Pid, file: u32, at_least: u32) -> Result<u32, Errno> {
        let limit = self.limits.descriptors;
        let process = self.process_mut(pid)?;
        let fd = process.fds.lowest_free(at_least, limit)?;
        process.fds.put(fd, Entry::new(file), limit)?;
        self.share_file(file);
        Ok(fd)
    }

    /// Opens `file` at the lowest free descriptor; without one the file is closed again.
    pub(crate) fn open_fd(&mut self, pid: Pid, file: OpenFile) -> Result<u32, Errno> {
        let file = self.add_file(file);
        self.give_fd(pid, file, 0).inspect_err(|_| self.drop_file(file))
    }

    pub(crate) fn close_fd(&mut self, pid: Pid, fd: u32) -> Result<(), Errno> {
        let entry = self.process_mut(pid)?.fds.remove(fd).ok_or(Errno::Badf)?;
        let stored = self.store_written(entry.file);
        self.drop_file(entry.file);
        stored
    }

    /// Who closes a file that a mount takes as a whole learns whether it took it.
    fn store_written(&mut self, file: u32) -> Result<(), Errno> {
        match self.files.get(file) {
            Some(OpenFile { what: What::File(ino), write: true, .. }) => {
                let ino = *ino;
                self.fs.flush(ino)
            }
            _ => Ok(()),
        }
    }

    /// Puts an open file on the table with no descriptor yet. A pipe end is counted by the pipe already; the inode of
    /// a file or directory is held here.
    pub(crate) fn add_file(&mut self, file: OpenFile) -> u32 {
        if let Some(ino) = file.what.ino() {
            self.fs.hold(ino);
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
        if let Some(ino) = open.what.ino() {
            self.fs.release(ino);
        }
        match open.what {
            What::Reader(pipe) => self.close_pipe_end(pipe, false),
            What::Writer(pipe) => self.close_pipe_end(pipe, true),
            What::Both(pipe) => {
                // The pipe lives on for the second call: of one whose both ends are open no end is the last.
                self.close_pipe_end(pipe, false);
                self.close_pipe_end(pipe, true);
            }
            _ => {}
        }
    }
}
