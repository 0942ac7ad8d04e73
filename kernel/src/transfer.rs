//! Moving bytes between a descriptor and whoever asks: a guest with its memory, or the host with a buffer.

#[cfg(test)]
mod tests;

use crate::errno::Errno;
use crate::fs::{Device, Ino};
use crate::kernel::Kernel;
use crate::open_file::{What, flag};
use crate::pipe::ATOMIC_BYTES;
use crate::process::Pid;
use crate::procfs::{self, Text};
use crate::signal::Signal;
use crate::wasi::{Halt, attempt};

/// Where a read puts its bytes.
pub(crate) trait Target {
    /// Bytes that fit.
    fn total(&self) -> u32;

    /// Has `source` put bytes in place and answers how many. `source` is told how many it has delivered so far and where
    /// to put more; fewer than there is room for end the read. `scratch` is for targets that cannot lend their memory.
    fn fill(
        &mut self,
        scratch: &mut Vec<u8>,
        source: impl FnMut(u64, &mut [u8]) -> Result<usize, Errno>,
    ) -> Result<u32, Halt>;
}

/// Where a write takes its bytes from.
pub(crate) trait Source {
    /// Bytes there are.
    fn total(&self) -> u32;

    /// Has `sink` take the bytes from `skip` on and answers how many it took, with the rules of [`Target::fill`].
    fn drain(
        &mut self,
        scratch: &mut Vec<u8>,
        skip: u32,
        sink: impl FnMut(u64, &[u8]) -> Result<usize, Errno>,
    ) -> Result<u32, Halt>;
}

/// When a write that fits only in part is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// When all bytes are written, as Unix programs expect. What was written is kept with the process in between.
    All,
    /// As soon as any are, for a caller that counts by itself and may have several writes under way.
    Some,
}

/// Bytes of the host.
struct Buffer<T>(T);

/// A count of bytes as guests know it; the callers bound what they pass.
fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl Target for Buffer<&mut [u8]> {
    fn total(&self) -> u32 {
        count(self.0.len())
    }

    fn fill(
        &mut self,
        _: &mut Vec<u8>,
        mut source: impl FnMut(u64, &mut [u8]) -> Result<usize, Errno>,
    ) -> Result<u32, Halt> {
        Ok(count(source(0, self.0)?))
    }
}

impl Source for Buffer<&[u8]> {
    fn total(&self) -> u32 {
        count(self.0.len())
    }

    fn drain(
        &mut self,
        _: &mut Vec<u8>,
        skip: u32,
        mut sink: impl FnMut(u64, &[u8]) -> Result<usize, Errno>,
    ) -> Result<u32, Halt> {
        Ok(count(sink(0, self.0.get(skip as usize..).unwrap_or_default())?))
    }
}

/// Most bytes of one transfer, so that counts stay positive as `i32`.
const MOST_BYTES: usize = i32::MAX as usize;

/// The descriptors of a process for its engine, which serves streams of another kind than `wasi_snapshot_preview1`.
///
/// Several transfers of one process may be under way. After [`Halt::Block`] the engine parks the process
/// ([`Kernel::park`]) under the same lock and tries again when it is woken. A transfer that was begun and not finished
/// leaves nothing behind.
impl Kernel {
    /// Reads from where the file stands; 0 is its end, or that `dst` is empty.
    ///
    /// # Errors
    /// [`Halt`]: an errno (`BADF`, `ISDIR`), that the reader has to wait, or that the process must end.
    pub fn read(&mut self, pid: Pid, fd: u32, dst: &mut [u8]) -> Result<usize, Halt> {
        self.read_from(pid, fd, dst, None)
    }

    /// Reads at `offset` and leaves where the file stands.
    ///
    /// # Errors
    /// As [`read`](Self::read), and `SPIPE` on what has no offset.
    pub fn read_at(&mut self, pid: Pid, fd: u32, dst: &mut [u8], offset: u64) -> Result<usize, Halt> {
        self.read_from(pid, fd, dst, Some(offset))
    }

    /// Writes where the file stands, or at its end when it was opened for appending, and answers how many bytes were
    /// taken: at least one when there are any. Up to 4,096 bytes go into a pipe together or not at all.
    ///
    /// # Errors
    /// [`Halt`]: an errno (`BADF`, `NOSPC`, `FBIG`, and `PIPE` when the process ignores SIGPIPE), that the writer has to
    /// wait, or that the process must end, as it must when nobody reads the pipe any more.
    pub fn write(&mut self, pid: Pid, fd: u32, src: &[u8]) -> Result<usize, Halt> {
        self.write_to(pid, fd, src, None)
    }

    /// Writes at `offset` and leaves where the file stands.
    ///
    /// # Errors
    /// As [`write`](Self::write), and `SPIPE` on what has no offset.
    pub fn write_at(&mut self, pid: Pid, fd: u32, src: &[u8], offset: u64) -> Result<usize, Halt> {
        self.write_to(pid, fd, src, Some(offset))
    }

    fn read_from(&mut self, pid: Pid, fd: u32, dst: &mut [u8], at: Option<u64>) -> Result<usize, Halt> {
        attempt(self, pid, |k| {
            let file = k.file_of(pid, fd)?;
            let most = dst.len().min(MOST_BYTES);
            let target = &mut Buffer(dst.get_mut(..most).unwrap_or_default());
            read(k, pid, target, file, at).map(|n| n as usize)
        })
    }

    fn write_to(&mut self, pid: Pid, fd: u32, src: &[u8], at: Option<u64>) -> Result<usize, Halt> {
        attempt(self, pid, |k| {
            let file = k.file_of(pid, fd)?;
            let source = &mut Buffer(src.get(..MOST_BYTES).unwrap_or(src));
            write(k, pid, source, file, at, Until::Some).map(|n| n as usize)
        })
    }
}

/// Reads an open file, at `at` or where it stands.
pub(crate) fn read(
    k: &mut Kernel,
    pid: Pid,
    target: &mut impl Target,
    file: u32,
    at: Option<u64>,
) -> Result<u32, Halt> {
    let open = k.files.get_mut(file).ok_or(Errno::Badf)?;
    let start = at.unwrap_or(open.offset);
    let scratch = &mut k.scratch;
    let n = match &open.what {
        What::Dir(_) | What::WorkDir(_) => return Err(Errno::Isdir.into()),
        _ if !open.read => return Err(Errno::Badf.into()),
        What::Reader(_) | What::Both(_) | What::Stdin(_) if at.is_some() => return Err(Errno::Spipe.into()),
        What::Reader(pipe) | What::Both(pipe) => {
            let (pipe, nonblock) = (*pipe, open.has(flag::NONBLOCK));
            return read_pipe(k, pid, target, pipe, nonblock);
        }
        What::File(ino) => {
            let ino = *ino;
            target.fill(scratch, |done, dst| k.fs.read_at(ino, start.saturating_add(done), dst))?
        }
        What::Text(text) => {
            let text = *text;
            return read_text(k, target, file, text, at);
        }
        What::Stdin(bytes) => {
            target.fill(scratch, |done, dst| Ok(copy_from(bytes, start.saturating_add(done), dst)))?
        }
        What::Device(Device::Null, _) => 0,
        What::Device(Device::Zero | Device::Full, _) => target.fill(scratch, |_, dst| {
            dst.fill(0);
            Ok(dst.len())
        })?,
        What::Device(Device::Random | Device::Urandom, _) => target.fill(scratch, |_, dst| {
            k.entropy.fill(dst);
            Ok(dst.len())
        })?,
        What::Device(Device::Tty, _) => return Err(Errno::Nxio.into()),
        What::Writer(_) | What::Output(..) => return Err(Errno::Badf.into()),
    };
    if at.is_none() && !matches!(open.what, What::Device(..)) {
        open.offset = start.saturating_add(u64::from(n));
    }
    Ok(n)
}

fn copy_from(bytes: &[u8], at: u64, dst: &mut [u8]) -> usize {
    let rest = usize::try_from(at).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
    let n = rest.len().min(dst.len());
    if let (Some(dst), Some(src)) = (dst.get_mut(..n), rest.get(..n)) {
        dst.copy_from_slice(src);
    }
    n
}

fn read_text(k: &mut Kernel, target: &mut impl Target, file: u32, text: Text, at: Option<u64>) -> Result<u32, Halt> {
    let mut scratch = std::mem::take(&mut k.scratch);
    let start = at.unwrap_or(k.files.get(file).ok_or(Errno::Badf)?.offset);
    let read = procfs::text(k, text)
        .map_err(Halt::from)
        .and_then(|text| target.fill(&mut scratch, |done, dst| Ok(copy_from(&text, start.saturating_add(done), dst))));
    k.scratch = scratch;
    let n = read?;
    if at.is_none() {
        k.files.get_mut(file).ok_or(Errno::Badf)?.offset = start.saturating_add(u64::from(n));
    }
    Ok(n)
}

fn read_pipe(k: &mut Kernel, pid: Pid, target: &mut impl Target, pipe: u32, nonblock: bool) -> Result<u32, Halt> {
    let found = k.pipes.get_mut(pipe).ok_or(Errno::Badf)?;
    if target.total() == 0 {
        return Ok(0);
    }
    if found.len() == 0 {
        return match (found.writers, nonblock) {
            (0, _) if found.cut => Err(tell_of_cut(k, pid)),
            (0, _) => Ok(0),
            (_, true) => Err(Errno::Again.into()),
            (_, false) => {
                found.wait(pid);
                Err(Halt::Block(None))
            }
        };
    }
    // Taken only after it is where the guest wants it, so that a bad address loses nothing.
    let n = target.fill(&mut k.scratch, |done, dst| Ok(found.peek(done, dst)))?;
    found.skip(n as usize);
    if k.spool_bytes.is_some() {
        k.pipe_bytes = k.pipe_bytes.saturating_sub(n as usize);
    }
    // A writer is woken for a page or more, not for every few bytes: each wake-up is a switch of processes.
    if found.room() >= ATOMIC_BYTES || found.len() == 0 {
        k.wake_pipe(pipe);
    }
    Ok(n)
}

/// Writes an open file, at `at` or where it stands.
pub(crate) fn write(
    k: &mut Kernel,
    pid: Pid,
    source: &mut impl Source,
    file: u32,
    at: Option<u64>,
    until: Until,
) -> Result<u32, Halt> {
    let open = k.files.get_mut(file).ok_or(Errno::Badf)?;
    if !open.write {
        return Err(Errno::Badf.into());
    }
    match &open.what {
        What::File(ino) => {
            let ino = *ino;
            write_file(k, source, file, ino, at)
        }
        What::Writer(_) | What::Both(_) | What::Output(..) if at.is_some() => Err(Errno::Spipe.into()),
        What::Writer(pipe) | What::Both(pipe) => {
            let (pipe, nonblock) = (*pipe, open.has(flag::NONBLOCK));
            let written = write_pipe(k, pid, source, pipe, nonblock, until)?;
            if let Some(ino) = k.pipes.get(pipe).and_then(|found| found.ino) {
                let now = k.now();
                k.fs.written(ino, now);
            }
            Ok(written)
        }
        What::Output(session, stream) => {
            let session = k.sessions.get_mut(session).ok_or(Errno::Io)?;
            source.drain(&mut k.scratch, 0, |_, src| {
                session.print(*stream, src);
                Ok(src.len())
            })
        }
        What::Device(Device::Full, _) if source.total() > 0 => Err(Errno::Nospc.into()),
        // What is written to the others is gone; it is still read, so that a bad address is told.
        What::Device(..) => source.drain(&mut k.scratch, 0, |_, src| Ok(src.len())),
        What::Dir(_) | What::WorkDir(_) | What::Reader(_) | What::Stdin(_) | What::Text(_) => Err(Errno::Badf.into()),
    }
}

/// Appending finds the end and writes there in one step, so two writers never overwrite each other.
fn write_file(k: &mut Kernel, source: &mut impl Source, file: u32, ino: Ino, at: Option<u64>) -> Result<u32, Halt> {
    let now = k.clock.realtime();
    let open = k.files.get_mut(file).ok_or(Errno::Badf)?;
    let start = match at {
        Some(at) => at,
        None if open.has(flag::APPEND) => k.fs.len(ino)?,
        None => open.offset,
    };
    let n = source.drain(&mut k.scratch, 0, |done, src| {
        let at = start.checked_add(done).ok_or(Errno::Fbig)?;
        k.fs.write_at(ino, at, src, now)
    })?;
    if at.is_none() {
        open.offset = start.saturating_add(u64::from(n));
    }
    Ok(n)
}

/// A short write stays whole. Nobody reading is SIGPIPE for the writer, or `PIPE` if it ignores that.
fn write_pipe(
    k: &mut Kernel,
    pid: Pid,
    source: &mut impl Source,
    pipe: u32,
    nonblock: bool,
    until: Until,
) -> Result<u32, Halt> {
    let total = source.total();
    let process = k.processes.get_mut(pid).ok_or(Errno::Srch)?;
    let found = k.pipes.get_mut(pipe).ok_or(Errno::Badf)?;
    let before = if until == Until::All { process.blocked.written.min(total) } else { 0 };
    if found.readers == 0 && !(k.spool_bytes.is_some() && found.is_left()) {
        process.signal(Signal::Pipe);
        return match process.fatal() {
            Some(signal) => Err(Halt::Kill(signal)),
            None => Err(Errno::Pipe.into()),
        };
    }
    let rest = (total - before) as usize;
    if rest == 0 {
        return Ok(total);
    }
    if let Some(room) = k.spool_room(pipe) {
        return spool(k, pid, source, pipe, room.min(rest));
    }
    let Some(found) = k.pipes.get_mut(pipe) else { return Err(Errno::Badf.into()) };
    let short = total as usize <= ATOMIC_BYTES;
    let fits = found.room() > 0 && (!short || found.room() >= rest);
    let mut written = before;
    if fits {
        written += source.drain(&mut k.scratch, before, |_, src| Ok(found.push(src)))?;
        k.wake_pipe(pipe);
    }
    if written == total || (written > 0 && (nonblock || until == Until::Some || process_interrupted(k, pid))) {
        return Ok(written);
    }
    if nonblock {
        return Err(Errno::Again.into());
    }
    if let (Some(process), Some(found)) = (k.processes.get_mut(pid), k.pipes.get_mut(pipe)) {
        process.blocked.written = written;
        found.wait(pid);
    }
    Err(Halt::Block(None))
}

/// Writes into a pipe whose reader has not begun to run. What does not fit ends the writer, as it would be ended by a
/// reader that has seen enough; whether that was so shows when the reader comes to the end.
fn spool(k: &mut Kernel, pid: Pid, source: &mut impl Source, pipe: u32, room: usize) -> Result<u32, Halt> {
    let found = k.pipes.get_mut(pipe).ok_or(Errno::Badf)?;
    if room == 0 {
        found.cut = true;
        let process = k.processes.get_mut(pid).ok_or(Errno::Srch)?;
        process.signal(Signal::Pipe);
        return match process.fatal() {
            Some(signal) => Err(Halt::Kill(signal)),
            None => Err(Errno::Pipe.into()),
        };
    }
    let written = source.drain(&mut k.scratch, 0, |done, src| {
        let left = room.saturating_sub(usize::try_from(done).unwrap_or(room));
        Ok(found.push(src.get(..left).unwrap_or(src)))
    })?;
    k.pipe_bytes = k.pipe_bytes.saturating_add(written as usize);
    k.wake_pipe(pipe);
    Ok(written)
}

/// The reader of a pipe that was cut has seen all there is of it, and must not take that for all there was.
fn tell_of_cut(k: &mut Kernel, pid: Pid) -> Halt {
    let spool = k.spool_bytes.unwrap_or(0) >> 20;
    let name = k.program_name(pid);
    k.message(
        pid,
        &format!(
            "{name}: the pipe was cut: the programs of a pipeline run one after the other here, and what is between them may \
             have {spool} MiB; put it into a file, or use an engine that can suspend WebAssembly\n"
        ),
    );
    Halt::Errno(Errno::Io)
}

/// A noted signal ends a write that has delivered something with the count, not with `INTR`.
fn process_interrupted(k: &mut Kernel, pid: Pid) -> bool {
    k.processes.get_mut(pid).is_some_and(|process| std::mem::take(&mut process.interrupted))
}
