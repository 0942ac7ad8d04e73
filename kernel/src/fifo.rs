//! Named pipes: the pipe that an inode has while somebody has it open, and opens that wait for the other end.
//!
//! The rules are Linux's. Whoever opens an end counts as one from then on, so that two who open both ends meet, in whatever
//! order they come. An open that waits is over as soon as the other end was opened, even when it is closed again by then.
//!
//! Where pipes are spooled ([`Kernel::spool_pipes`]) a reader may not have begun before the writer ends. So a writer does not
//! wait there, and what it leaves is kept for the first reader, at the longest until no command runs any more.

use crate::at::Opening;
use crate::errno::Errno;
use crate::fs::Ino;
use crate::kernel::Kernel;
use crate::open_file::{OpenFile, What, flag};
use crate::process::Pid;
use crate::wasi::Halt;

/// Which call on a path it is. A call that waits is made again with the same arguments, and by then the path may lead to
/// something else, or nowhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub(crate) dir: u32,
    pub(crate) path: &'a [u8],
    pub(crate) how: Opening,
}

/// An open that waits for the other end.
#[derive(Debug)]
pub(crate) struct Waiting {
    dir: u32,
    path: Vec<u8>,
    how: Opening,
    /// The open file, an end already, though no descriptor names it.
    file: u32,
    /// How often the other end had been opened when it began to wait.
    before: u64,
}

impl Waiting {
    fn is(&self, request: Request<'_>) -> bool {
        (self.dir, self.path.as_slice(), self.how) == (request.dir, request.path, request.how)
    }
}

impl Kernel {
    /// What has become of the open that the process waits for; `None` when it waits for no such one.
    ///
    /// # Errors
    /// [`Halt::Block`] when it still waits.
    pub(crate) fn waited_for(&mut self, pid: Pid, request: Request<'_>) -> Option<Result<u32, Halt>> {
        let openings = &self.processes.get(pid)?.openings;
        let at = openings.iter().position(|waiting| waiting.is(request))?;
        let waiting = openings.get(at)?;
        let end = self.files.get(waiting.file).map(|open| open.what.clone());
        let met = match end {
            Some(What::Reader(pipe)) => self.pipes.get(pipe).map(|found| found.opened.writers != waiting.before),
            Some(What::Writer(pipe)) => self.pipes.get(pipe).map(|found| found.opened.readers != waiting.before),
            _ => None,
        };
        if met == Some(false) {
            if let Some(What::Reader(pipe) | What::Writer(pipe)) = end
                && let Some(found) = self.pipes.get_mut(pipe)
            {
                found.wait(pid);
            }
            return Some(Err(Halt::Block(None)));
        }
        let waiting = self.processes.get_mut(pid)?.openings.remove(at);
        Some(Ok(waiting.file))
    }

    /// Opens a named pipe: the open file that is to get a descriptor.
    ///
    /// # Errors
    /// [`Halt::Block`] when the other end is not there yet; `NXIO` for a writer that does not want to wait for a reader;
    /// `INVAL` for who wants neither to read nor to write; `NFILE` when all pipes together are too many.
    pub(crate) fn open_fifo(&mut self, pid: Pid, ino: Ino, request: Request<'_>) -> Result<OpenFile, Halt> {
        let Request { dir, path, how } = request;
        let nonblock = how.flags & flag::NONBLOCK != 0;
        let there = self.fifos.get(&ino).and_then(|pipe| self.pipes.get(*pipe));
        let read_elsewhere = there.is_some_and(|found| found.readers > 0);
        // Only where pipes are spooled there is something in one without ends.
        let written_elsewhere = there.is_some_and(|found| found.writers > 0 || found.len() > 0);
        match (how.read, how.write) {
            (false, false) => return Err(Errno::Inval.into()),
            (false, true) if nonblock && !read_elsewhere => return Err(Errno::Nxio.into()),
            _ => {}
        }
        let pipe = self.pipe_of(ino)?;
        let Some(found) = self.pipes.get_mut(pipe) else { return Err(Errno::Nfile.into()) };
        let before = found.opened;
        if how.read {
            found.readers = found.readers.saturating_add(1);
            found.opened.readers = before.readers.wrapping_add(1);
        }
        if how.write {
            found.writers = found.writers.saturating_add(1);
            found.opened.writers = before.writers.wrapping_add(1);
        }
        self.wake_pipe(pipe);
        let what = match (how.read, how.write) {
            (true, true) => What::Both(pipe),
            (true, false) => What::Reader(pipe),
            _ => What::Writer(pipe),
        };
        let mut open = OpenFile::new(what, how.read, how.write, how.flags);
        let (alone, before) = match open.what {
            What::Reader(_) => (!written_elsewhere, before.writers),
            What::Writer(_) => (!read_elsewhere, before.readers),
            _ => (false, 0),
        };
        if !alone {
            return Ok(open);
        }
        if how.write && self.spool_bytes.is_some() {
            return Ok(open);
        }
        if nonblock {
            open.before = Some(before);
            return Ok(open);
        }
        let file = self.add_file(open);
        self.share_file(file);
        if let Some(found) = self.pipes.get_mut(pipe) {
            found.wait(pid);
        }
        match self.processes.get_mut(pid) {
            Some(process) => process.openings.push(Waiting { dir, path: path.to_vec(), how, file, before }),
            None => self.drop_file(file),
        }
        Err(Halt::Block(None))
    }

    /// The pipe of an inode, which is charged as every other. A new one has no ends yet.
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

    /// Lets go of what was written into named pipes and never read, once nobody is left who could read it.
    pub(crate) fn drain_fifos(&mut self) {
        let idle = |pipe: &u32| self.pipes.get(*pipe).is_some_and(|found| found.readers == 0 && found.writers == 0);
        let left: Vec<u32> = self.fifos.values().copied().filter(idle).collect();
        for pipe in left {
            self.free_pipe(pipe);
        }
    }

    /// The last end of a named pipe was closed, and what was in it is gone.
    pub(crate) fn leave_fifo(&mut self, ino: Ino, pipe: u32) {
        // After a restored snapshot the inode may have another pipe by now.
        if self.fifos.get(&ino) == Some(&pipe) {
            self.fifos.remove(&ino);
        }
        self.fs.release(ino);
    }

    /// Takes back the opens that a process waits for: it ended, or a signal let it go on.
    pub(crate) fn forget_openings(&mut self, pid: Pid) {
        let Some(process) = self.processes.get_mut(pid) else { return };
        for waiting in std::mem::take(&mut process.openings) {
            self.drop_file(waiting.file);
        }
    }
}
