//! Open files: the state that descriptors share after `dup`, `fork` and inheritance, such as the offset.

use std::sync::Arc;

use tidebox_core::OutputStream;

use crate::errno::Errno;
use crate::execution::ExecutionId;
use crate::fd::{Descriptors, Entry, to_unix};
use crate::fs::{Device, Ino};
use crate::kernel::Kernel;
use crate::process::Pid;
use crate::procfs::Text;
use crate::resolve::DirRef;

/// `fdflags` of preview1.
pub(crate) mod flag {
    pub(crate) const APPEND: u16 = 1;
    pub(crate) const NONBLOCK: u16 = 4;
    /// `append`, `dsync`, `nonblock`, `rsync` and `sync`.
    pub(crate) const ALL: u16 = 31;
}

/// The object that is open.
#[derive(Clone, Debug)]
pub(crate) enum FileObject {
    File(Ino),
    Dir(DirRef),
    /// The preopened directory `.` of plain guests, which has a special path rule.
    WorkDir(DirRef),
    Device(Device, Ino),
    /// The read end of a pipe, by the pipe's index.
    Reader(u32),
    /// The write end.
    Writer(u32),
    /// Both ends of a FIFO.
    Both(u32),
    /// A socket, by its index.
    Socket(u32),
    /// A terminal, by its index.
    Terminal(u32),
    /// Standard input of an execution.
    Stdin(Arc<[u8]>),
    /// A captured output stream of an execution.
    Output(ExecutionId, OutputStream),
    /// A file of `/proc`. Its content is generated at each read, so that an open one costs no memory.
    Text(Text),
}

impl FileObject {
    /// Returns the inode that stays alive while this is open.
    pub(crate) fn ino(&self) -> Option<Ino> {
        match self {
            Self::File(ino)
            | Self::Device(_, ino)
            | Self::Dir(DirRef::Node(ino))
            | Self::WorkDir(DirRef::Node(ino)) => Some(*ino),
            _ => None,
        }
    }
}

#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) what: FileObject,
    pub(crate) offset: u64,
    pub(crate) flags: u16,
    pub(crate) read: bool,
    pub(crate) write: bool,
    /// For a FIFO opened for reading without blocking: the number of opens for writing up to then. Until that number changes, a
    /// missing writer is not a hang-up.
    pub(crate) previous_open_count: Option<u64>,
    /// Number of descriptors that refer to it.
    pub(crate) refs: u32,
    /// Known directory cookies, see `fd_readdir`.
    pub(crate) cookies: [Option<DirCookie>; 2],
}

/// A directory cookie that a guest has received, and the name after which it continues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DirCookie {
    pub(crate) cookie: u64,
    pub(crate) after: Vec<u8>,
}

impl OpenFile {
    pub(crate) fn new(what: FileObject, read: bool, write: bool, flags: u16) -> Self {
        Self { what, offset: 0, flags, read, write, previous_open_count: None, refs: 0, cookies: [None, None] }
    }

    pub(crate) fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }
}

impl Kernel {
    /// Returns the inode of an open object, if it has one; for FIFO ends, the inode of the FIFO.
    pub(crate) fn ino_of(&self, what: &FileObject) -> Option<Ino> {
        match what {
            FileObject::Reader(pipe) | FileObject::Writer(pipe) | FileObject::Both(pipe) => self.pipes.get(*pipe)?.ino,
            other => other.ino(),
        }
    }

    /// Returns the index of a descriptor's open file.
    pub(crate) fn file_of(&self, pid: Pid, fd: u32) -> Result<u32, Errno> {
        self.process(pid)?.fds.get(fd).map(|entry| entry.file).ok_or(Errno::Badf)
    }

    /// Returns the open file of a descriptor.
    pub(crate) fn open_file(&self, pid: Pid, fd: u32) -> Result<&OpenFile, Errno> {
        self.files.get(self.file_of(pid, fd)?).ok_or(Errno::Badf)
    }

    pub(crate) fn open_file_mut(&mut self, pid: Pid, fd: u32) -> Result<&mut OpenFile, Errno> {
        let file = self.file_of(pid, fd)?;
        self.files.get_mut(file).ok_or(Errno::Badf)
    }

    /// Assigns `file` the lowest free descriptor that is at least `at_least`. On an error the file is unchanged.
    pub(crate) fn install_fd(&mut self, pid: Pid, file: u32, at_least: u32) -> Result<u32, Errno> {
        let limit = self.limits.descriptors;
        let process = self.process_mut(pid)?;
        let fd = process.fds.lowest_free(at_least, limit)?;
        process.fds.put(fd, Entry::new(file), limit)?;
        self.ref_file(file);
        Ok(fd)
    }

    /// Opens `file` at the lowest free descriptor; if none is free, the file is closed again.
    pub(crate) fn open_fd(&mut self, pid: Pid, file: OpenFile) -> Result<u32, Errno> {
        let file = self.insert_file(file);
        self.install_fd(pid, file, 0).inspect_err(|_| self.unref_file(file))
    }

    /// Creates a pipe and returns its read and write descriptors. On an error neither is open.
    pub(crate) fn open_pipe(&mut self, pid: Pid) -> Result<(u32, u32), Errno> {
        let pipe = self.new_pipe()?;
        let reader = self.insert_file(OpenFile::new(FileObject::Reader(pipe), true, false, 0));
        let writer = self.insert_file(OpenFile::new(FileObject::Writer(pipe), false, true, 0));
        self.install_pipe(pid, reader, writer).inspect_err(|_| {
            self.unref_file(reader);
            self.unref_file(writer);
        })
    }

    /// Assigns descriptors to both ends of a pipe. On an error neither has one.
    fn install_pipe(&mut self, pid: Pid, reader: u32, writer: u32) -> Result<(u32, u32), Errno> {
        let limit = self.limits.descriptors;
        let fds = &mut self.process_mut(pid)?.fds;
        let read = fds.lowest_free(0, limit)?;
        fds.put(read, Entry::new(reader), limit)?;
        let write = fds.lowest_free(0, limit).inspect_err(|_| {
            fds.remove(read);
        })?;
        fds.put(write, Entry::new(writer), limit)?;
        self.ref_file(reader);
        self.ref_file(writer);
        Ok((read, write))
    }

    /// Copies a descriptor to `target`, closing a descriptor that was open there.
    pub(crate) fn duplicate_to(&mut self, pid: Pid, fd: u32, target: u32) -> Result<(), Errno> {
        let file = self.file_of(pid, fd)?;
        let limit = self.limits.descriptors;
        if !Descriptors::admits(target, limit) {
            return Err(Errno::Badf);
        }
        to_unix(target).ok_or(Errno::Inval)?;
        if fd == target {
            return Ok(());
        }
        self.ref_file(file);
        if let Some(old) = self.process_mut(pid)?.fds.put(target, Entry::new(file), limit)? {
            self.unref_file(old.file);
        }
        Ok(())
    }

    pub(crate) fn close_fd(&mut self, pid: Pid, fd: u32) -> Result<(), Errno> {
        let entry = self.process_mut(pid)?.fds.remove(fd).ok_or(Errno::Badf)?;
        let stored = self.flush_on_close(entry.file);
        self.unref_file(entry.file);
        stored
    }

    /// Flushes a buffered file of a mount, so that `close` can report the error.
    fn flush_on_close(&mut self, file: u32) -> Result<(), Errno> {
        match self.files.get(file) {
            Some(OpenFile { what: FileObject::File(ino), write: true, .. }) => {
                let ino = *ino;
                self.fs.flush(ino)
            }
            _ => Ok(()),
        }
    }

    /// Inserts an open file without a descriptor. The pipe must already count a pipe end; the inode of a file or directory is
    /// held here, and
    /// a terminal is counted.
    pub(crate) fn insert_file(&mut self, file: OpenFile) -> u32 {
        if let Some(ino) = file.what.ino() {
            self.fs.hold(ino);
        }
        if let FileObject::Terminal(terminal) = file.what {
            self.open_terminal(terminal);
        }
        self.files.insert(file)
    }

    /// Increments the reference count of an open file.
    pub(crate) fn ref_file(&mut self, file: u32) {
        if let Some(open) = self.files.get_mut(file) {
            open.refs += 1;
        }
    }

    /// Decrements the reference count of an open file; the last reference closes it.
    pub(crate) fn unref_file(&mut self, file: u32) {
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
            FileObject::Reader(pipe) => self.close_pipe_end(pipe, false),
            FileObject::Writer(pipe) => self.close_pipe_end(pipe, true),
            FileObject::Both(pipe) => {
                // The pipe still exists for the second call: while both ends are open, neither is the last.
                self.close_pipe_end(pipe, false);
                self.close_pipe_end(pipe, true);
            }
            FileObject::Socket(socket) => self.close_socket(socket),
            FileObject::Terminal(terminal) => self.close_terminal(terminal),
            _ => {}
        }
    }
}
