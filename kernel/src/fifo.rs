//! FIFOs (named pipes): the pipe of an inode while it is open, and opens that wait for the other end.
//!
//! The rules are those of Linux. An end counts as soon as its open starts, so that two processes that open both ends meet in any
//! order. A waiting open completes as soon as the other end was opened, even if that end has been closed again.
//!
//! With spooled pipes ([`Kernel::spool_pipes`]) a reader may start only after the writer has ended. A writer therefore does not
//! wait, and its data is kept for the first reader, at most until the last process of the sandbox has ended.

use crate::errno::Errno;
use crate::fs::Ino;
use crate::kernel::Kernel;
use crate::open_file::{FileObject, OpenFile, flag};
use crate::path_calls::OpenOptions;
use crate::process::Pid;
use crate::syscall::SyscallError;

/// The path call that opens the FIFO. A blocked call is repeated with the same arguments, and by then the path may lead to
/// something else, or not exist.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OpenRequest<'a> {
    pub(crate) dir: u32,
    pub(crate) path: &'a [u8],
    pub(crate) options: OpenOptions,
}

/// An open that waits for the other end.
#[derive(Debug)]
pub(crate) struct PendingOpen {
    dir: u32,
    path: Vec<u8>,
    options: OpenOptions,
    /// The open file, already an end of the pipe, though no descriptor refers to it.
    file: u32,
    /// Open count of the other end when the wait started.
    before: u64,
}

impl PendingOpen {
    fn is(&self, request: OpenRequest<'_>) -> bool {
        (self.dir, self.path.as_slice(), self.options) == (request.dir, request.path, request.options)
    }
}

impl Kernel {
    /// Returns the result of the process's pending open; `None` if it has no such open.
    ///
    /// # Errors
    /// [`SyscallError::Block`] if it is still waiting.
    pub(crate) fn poll_pending_open(
        &mut self,
        pid: Pid,
        request: OpenRequest<'_>,
    ) -> Option<Result<u32, SyscallError>> {
        let openings = &self.processes.get(pid)?.pending_opens;
        let at = openings.iter().position(|waiting| waiting.is(request))?;
        let waiting = openings.get(at)?;
        let end = self.files.get(waiting.file).map(|open| open.what.clone());
        let met = match end {
            Some(FileObject::Reader(pipe)) => self.pipes.get(pipe).map(|found| found.opened.writers != waiting.before),
            Some(FileObject::Writer(pipe)) => self.pipes.get(pipe).map(|found| found.opened.readers != waiting.before),
            _ => None,
        };
        if met == Some(false) {
            if let Some(FileObject::Reader(pipe) | FileObject::Writer(pipe)) = end
                && let Some(found) = self.pipes.get_mut(pipe)
            {
                found.add_waiter(pid);
            }
            return Some(Err(SyscallError::Block(None)));
        }
        let waiting = self.processes.get_mut(pid)?.pending_opens.remove(at);
        Some(Ok(waiting.file))
    }

    /// Opens a FIFO and returns the open file for a descriptor.
    ///
    /// # Errors
    /// [`SyscallError::Block`] if the other end is not open yet; `NXIO` for a non-blocking writer without a reader; `INVAL` if
    /// neither reading nor writing is requested; `NFILE` if the total pipe capacity is exceeded.
    pub(crate) fn open_fifo(&mut self, pid: Pid, ino: Ino, request: OpenRequest<'_>) -> Result<OpenFile, SyscallError> {
        let OpenRequest { dir, path, options } = request;
        let nonblock = options.flags & flag::NONBLOCK != 0;
        let pipe_state = self.fifos.get(&ino).and_then(|pipe| self.pipes.get(*pipe));
        let read_elsewhere = pipe_state.is_some_and(|found| found.readers > 0);
        // Only a spooled pipe can hold data without open ends.
        let written_elsewhere = pipe_state.is_some_and(|found| found.writers > 0 || found.len() > 0);
        match (options.read, options.write) {
            (false, false) => return Err(Errno::Inval.into()),
            (false, true) if nonblock && !read_elsewhere => return Err(Errno::Nxio.into()),
            _ => {}
        }
        let pipe = self.pipe_of(ino)?;
        let Some(found) = self.pipes.get_mut(pipe) else { return Err(Errno::Nfile.into()) };
        let before = found.opened;
        if options.read {
            found.readers = found.readers.saturating_add(1);
            found.opened.readers = before.readers.wrapping_add(1);
        }
        if options.write {
            found.writers = found.writers.saturating_add(1);
            found.opened.writers = before.writers.wrapping_add(1);
        }
        self.wake_pipe(pipe);
        let what = match (options.read, options.write) {
            (true, true) => FileObject::Both(pipe),
            (true, false) => FileObject::Reader(pipe),
            _ => FileObject::Writer(pipe),
        };
        let mut open = OpenFile::new(what, options.read, options.write, options.flags);
        let (alone, before) = match open.what {
            FileObject::Reader(_) => (!written_elsewhere, before.writers),
            FileObject::Writer(_) => (!read_elsewhere, before.readers),
            _ => (false, 0),
        };
        if !alone {
            return Ok(open);
        }
        if options.write && self.spool_bytes.is_some() {
            return Ok(open);
        }
        if nonblock {
            open.previous_open_count = Some(before);
            return Ok(open);
        }
        let file = self.insert_file(open);
        self.ref_file(file);
        if let Some(found) = self.pipes.get_mut(pipe) {
            found.add_waiter(pid);
        }
        match self.processes.get_mut(pid) {
            Some(process) => {
                process.pending_opens.push(PendingOpen { dir, path: path.to_vec(), options, file, before })
            }
            None => self.unref_file(file),
        }
        Err(SyscallError::Block(None))
    }

    /// Returns the pipe of an inode; a new one is charged like every pipe and has no ends yet.
    fn pipe_of(&mut self, ino: Ino) -> Result<u32, Errno> {
        if let Some(pipe) = self.fifos.get(&ino) {
            return Ok(*pipe);
        }
        let pipe = self.new_pipe()?;
        if let Some(found) = self.pipes.get_mut(pipe) {
            (found.readers, found.writers, found.ino) = (0, 0, Some(ino));
        }
        self.fs.hold(ino);
        self.fifos.insert(ino, pipe);
        Ok(pipe)
    }

    /// Drops unread data of FIFOs once no process remains that could read it.
    pub(crate) fn drain_fifos(&mut self) {
        let idle = |pipe: &u32| self.pipes.get(*pipe).is_some_and(|found| found.readers == 0 && found.writers == 0);
        let left: Vec<u32> = self.fifos.values().copied().filter(idle).collect();
        for pipe in left {
            self.free_pipe(pipe);
        }
    }

    /// Removes the pipe of a FIFO after its last end was closed; its data is lost.
    pub(crate) fn drop_fifo_pipe(&mut self, ino: Ino, pipe: u32) {
        // After a restored snapshot the inode may have another pipe.
        if self.fifos.get(&ino) == Some(&pipe) {
            self.fifos.remove(&ino);
        }
        self.fs.release(ino);
    }

    /// Cancels the pending opens of a process that has ended or was interrupted by a signal.
    pub(crate) fn cancel_pending_opens(&mut self, pid: Pid) {
        let Some(process) = self.processes.get_mut(pid) else { return };
        for waiting in std::mem::take(&mut process.pending_opens) {
            self.unref_file(waiting.file);
        }
    }
}
