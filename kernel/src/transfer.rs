//! Byte transfers between a descriptor and guest memory or a host buffer.

#[cfg(test)]
mod tests;

use tidebox_core::StopReason;

use crate::errno::Errno;
use crate::fs::{Device, Ino};
use crate::kernel::Kernel;
use crate::open_file::{FileObject, flag};
use crate::pipe::ATOMIC_BYTES;
use crate::process::Pid;
use crate::procfs::{self, Text};
use crate::signal::Signal;
use crate::socket::Stream;
use crate::syscall::{SyscallError, run_syscall};
use crate::terminal::{read_terminal, write_terminal};

/// Destination of a read.
pub(crate) trait Target {
    /// Returns the capacity in bytes.
    fn total(&self) -> u32;

    /// Calls `source` to fill the destination and returns the number of bytes. `source` gets the number of bytes already delivered
    /// and a destination slice; a short count ends the read. `scratch` is for targets without direct slices.
    fn fill(
        &mut self,
        scratch: &mut Vec<u8>,
        source: impl FnMut(u64, &mut [u8]) -> Result<usize, Errno>,
    ) -> Result<u32, SyscallError>;
}

/// Source of a write.
pub(crate) trait Source {
    /// Returns the number of bytes.
    fn total(&self) -> u32;

    /// Calls `sink` with the bytes starting at `skip` and returns the number of bytes consumed, with the rules of
    /// [`Target::fill`].
    fn drain(
        &mut self,
        scratch: &mut Vec<u8>,
        skip: u32,
        sink: impl FnMut(u64, &[u8]) -> Result<usize, Errno>,
    ) -> Result<u32, SyscallError>;
}

/// Completion condition of a write that fits only in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WriteMode {
    /// After all bytes are written, as Unix programs expect. The process keeps the count between attempts.
    All,
    /// After at least one byte is written, for a caller that keeps its own count and may have several writes in flight.
    Partial,
}

/// Bytes of the host.
struct Buffer<T>(T);

/// Converts a byte count to the guest's type; the callers bound the length.
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
    ) -> Result<u32, SyscallError> {
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
    ) -> Result<u32, SyscallError> {
        Ok(count(sink(0, self.0.get(skip as usize..).unwrap_or_default())?))
    }
}

/// Maximum bytes of one transfer, so that counts stay positive as `i32`.
const MAX_BYTES: usize = i32::MAX as usize;

/// Descriptors of a process, for engines that serve another kind of stream than `wasi_snapshot_preview1`.
///
/// Several transfers of one process may be in flight. After [`SyscallError::Block`] the engine parks the process
/// ([`Kernel::park`]) under the same lock and retries when it is woken. An unfinished transfer leaves no state.
impl Kernel {
    /// Reads at the current offset; 0 is the end of file, or an empty `dst`.
    ///
    /// # Errors
    /// [`SyscallError`]: an errno (`BADF`, `ISDIR`), the reader has to wait, or the process must end.
    pub fn read(&mut self, pid: Pid, fd: u32, dst: &mut [u8]) -> Result<usize, SyscallError> {
        self.read_from(pid, fd, dst, None)
    }

    /// Reads at `offset` without changing the file's offset.
    ///
    /// # Errors
    /// As [`read`](Self::read), and `SPIPE` on a file without an offset.
    pub fn read_at(&mut self, pid: Pid, fd: u32, dst: &mut [u8], offset: u64) -> Result<usize, SyscallError> {
        self.read_from(pid, fd, dst, Some(offset))
    }

    /// Writes at the current offset, or at the end of a file opened for appending, and returns the number of bytes written: at
    /// least one unless `src` is empty. Up to 4,096 bytes are written to a pipe atomically.
    ///
    /// # Errors
    /// [`SyscallError`]: an errno (`BADF`, `NOSPC`, `FBIG`, and `PIPE` if the process ignores SIGPIPE), the writer has to wait,
    /// or the process must end, as after a write to a pipe without a reader.
    pub fn write(&mut self, pid: Pid, fd: u32, src: &[u8]) -> Result<usize, SyscallError> {
        self.write_to(pid, fd, src, None)
    }

    /// Writes at `offset` without changing the file's offset.
    ///
    /// # Errors
    /// As [`write`](Self::write), and `SPIPE` on a file without an offset.
    pub fn write_at(&mut self, pid: Pid, fd: u32, src: &[u8], offset: u64) -> Result<usize, SyscallError> {
        self.write_to(pid, fd, src, Some(offset))
    }

    fn read_from(&mut self, pid: Pid, fd: u32, dst: &mut [u8], at: Option<u64>) -> Result<usize, SyscallError> {
        run_syscall(self, pid, |k| {
            let file = k.file_of(pid, fd)?;
            let limit = dst.len().min(MAX_BYTES);
            let target = &mut Buffer(dst.get_mut(..limit).unwrap_or_default());
            read(k, pid, target, file, at).map(|n| n as usize)
        })
    }

    fn write_to(&mut self, pid: Pid, fd: u32, src: &[u8], at: Option<u64>) -> Result<usize, SyscallError> {
        run_syscall(self, pid, |k| {
            let file = k.file_of(pid, fd)?;
            let source = &mut Buffer(src.get(..MAX_BYTES).unwrap_or(src));
            write(k, pid, source, file, at, WriteMode::Partial).map(|n| n as usize)
        })
    }
}

/// Reads an open file, at `at` or at its offset.
pub(crate) fn read(
    k: &mut Kernel,
    pid: Pid,
    target: &mut impl Target,
    file: u32,
    at: Option<u64>,
) -> Result<u32, SyscallError> {
    let open = k.files.get_mut(file).ok_or(Errno::Badf)?;
    let start = at.unwrap_or(open.offset);
    let scratch = &mut k.scratch;
    let n = match &open.what {
        FileObject::Dir(_) | FileObject::WorkDir(_) => return Err(Errno::Isdir.into()),
        _ if !open.read => return Err(Errno::Badf.into()),
        FileObject::Reader(_) | FileObject::Both(_) | FileObject::Stdin(_) if at.is_some() => {
            return Err(Errno::Spipe.into());
        }
        FileObject::Reader(pipe) | FileObject::Both(pipe) => {
            let (pipe, nonblock) = (*pipe, open.has(flag::NONBLOCK));
            return read_pipe(k, pid, target, pipe, nonblock, Consume::Yes);
        }
        FileObject::Socket(_) | FileObject::Terminal(_) if at.is_some() => return Err(Errno::Spipe.into()),
        FileObject::Terminal(terminal) => {
            let (terminal, nonblock) = (*terminal, open.has(flag::NONBLOCK));
            return read_terminal(k, pid, target, terminal, nonblock);
        }
        FileObject::Socket(socket) => {
            let (socket, nonblock) = (*socket, open.has(flag::NONBLOCK));
            return read_socket(k, pid, target, socket, nonblock, Consume::Yes);
        }
        FileObject::File(ino) => {
            let ino = *ino;
            target.fill(scratch, |done, dst| k.fs.read_at(ino, start.saturating_add(done), dst))?
        }
        FileObject::Text(text) => {
            let text = *text;
            return read_text(k, target, file, text, at);
        }
        FileObject::Stdin(bytes) => {
            target.fill(scratch, |done, dst| Ok(copy_from(bytes, start.saturating_add(done), dst)))?
        }
        FileObject::Device(Device::Null, _) => 0,
        FileObject::Device(Device::Zero | Device::Full, _) => target.fill(scratch, |_, dst| {
            dst.fill(0);
            Ok(dst.len())
        })?,
        FileObject::Device(Device::Random | Device::Urandom, _) => target.fill(scratch, |_, dst| {
            k.entropy.fill(dst);
            Ok(dst.len())
        })?,
        FileObject::Device(Device::Tty, _) => return Err(Errno::Nxio.into()),
        FileObject::Writer(_) | FileObject::Output(..) => return Err(Errno::Badf.into()),
    };
    if at.is_none() && !matches!(open.what, FileObject::Device(..)) {
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

fn read_text(
    k: &mut Kernel,
    target: &mut impl Target,
    file: u32,
    text: Text,
    at: Option<u64>,
) -> Result<u32, SyscallError> {
    let mut scratch = std::mem::take(&mut k.scratch);
    let start = at.unwrap_or(k.files.get(file).ok_or(Errno::Badf)?.offset);
    let read = procfs::text(k, text)
        .map_err(SyscallError::from)
        .and_then(|text| target.fill(&mut scratch, |done, dst| Ok(copy_from(&text, start.saturating_add(done), dst))));
    k.scratch = scratch;
    let n = read?;
    if at.is_none() {
        k.files.get_mut(file).ok_or(Errno::Badf)?.offset = start.saturating_add(u64::from(n));
    }
    Ok(n)
}

/// Effect of a read on the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Consume {
    Yes,
    /// They stay for the next read.
    No,
}

pub(crate) fn read_socket(
    k: &mut Kernel,
    pid: Pid,
    target: &mut impl Target,
    socket: u32,
    nonblock: bool,
    consume: Consume,
) -> Result<u32, SyscallError> {
    match k.incoming(socket) {
        Stream::Pipe(pipe) => read_pipe(k, pid, target, pipe, nonblock, consume),
        Stream::Shut => Ok(0),
        Stream::Missing => Err(Errno::Notconn.into()),
    }
}

fn read_pipe(
    k: &mut Kernel,
    pid: Pid,
    target: &mut impl Target,
    pipe: u32,
    nonblock: bool,
    consume: Consume,
) -> Result<u32, SyscallError> {
    let found = k.pipes.get_mut(pipe).ok_or(Errno::Badf)?;
    if target.total() == 0 {
        return Ok(0);
    }
    if found.len() == 0 {
        return match (found.writers, nonblock) {
            (0, _) if found.truncated => Err(report_truncation(k, pid)),
            (0, _) if found.take_reset() => Err(Errno::Connreset.into()),
            (0, _) => Ok(0),
            (_, true) => Err(Errno::Again.into()),
            (_, false) => {
                found.add_waiter(pid);
                Err(SyscallError::Block(None))
            }
        };
    }
    // Consumed only after the copy to the guest, so that a bad address loses no data.
    let n = target.fill(&mut k.scratch, |done, dst| Ok(found.peek(done, dst)))?;
    if consume == Consume::No {
        return Ok(n);
    }
    found.skip(n as usize);
    if k.spool_bytes.is_some() {
        k.pipe_bytes = k.pipe_bytes.saturating_sub(n as usize);
    }
    // Wake a writer for a page or more, not for every few bytes: each wake-up is a context switch.
    if found.available() >= ATOMIC_BYTES || found.len() == 0 {
        k.wake_pipe(pipe);
    }
    Ok(n)
}

/// Writes an open file, at `at` or at its offset.
pub(crate) fn write(
    k: &mut Kernel,
    pid: Pid,
    source: &mut impl Source,
    file: u32,
    at: Option<u64>,
    until: WriteMode,
) -> Result<u32, SyscallError> {
    let open = k.files.get_mut(file).ok_or(Errno::Badf)?;
    if !open.write {
        return Err(Errno::Badf.into());
    }
    match &open.what {
        FileObject::File(ino) => {
            let ino = *ino;
            write_file(k, source, file, ino, at)
        }
        FileObject::Writer(_) | FileObject::Both(_) | FileObject::Output(..) if at.is_some() => {
            Err(Errno::Spipe.into())
        }
        FileObject::Writer(pipe) | FileObject::Both(pipe) => {
            let (pipe, nonblock) = (*pipe, open.has(flag::NONBLOCK));
            let written = write_pipe(k, pid, source, pipe, nonblock, until)?;
            if let Some(ino) = k.pipes.get(pipe).and_then(|found| found.ino) {
                let now = k.now();
                k.fs.touch_mtime(ino, now);
            }
            Ok(written)
        }
        FileObject::Socket(_) | FileObject::Terminal(_) if at.is_some() => Err(Errno::Spipe.into()),
        FileObject::Terminal(terminal) => {
            let terminal = *terminal;
            write_terminal(k, pid, source, terminal)
        }
        FileObject::Socket(socket) => {
            let (socket, nonblock) = (*socket, open.has(flag::NONBLOCK));
            match k.outgoing(socket) {
                Stream::Pipe(pipe) => write_pipe(k, pid, source, pipe, nonblock, until),
                Stream::Shut => Err(signal_broken_pipe(k, pid)),
                Stream::Missing => Err(Errno::Notconn.into()),
            }
        }
        FileObject::Output(execution, stream) => {
            let (execution, stream) = (*execution, *stream);
            let found = k.executions.get_mut(&execution).ok_or(Errno::Io)?;
            let mut continues = true;
            let written = source.drain(&mut k.scratch, 0, |_, src| {
                continues &= found.push_output(stream, src);
                Ok(src.len())
            });
            if !continues {
                k.stop_execution(execution, StopReason::Output);
            }
            written
        }
        FileObject::Device(Device::Full, _) if source.total() > 0 => Err(Errno::Nospc.into()),
        // Writes to other devices are discarded. Read the source anyway so that a bad address is reported.
        FileObject::Device(..) => source.drain(&mut k.scratch, 0, |_, src| Ok(src.len())),
        FileObject::Dir(_)
        | FileObject::WorkDir(_)
        | FileObject::Reader(_)
        | FileObject::Stdin(_)
        | FileObject::Text(_) => Err(Errno::Badf.into()),
    }
}

/// Appending finds the end and writes there in one step, so two writers never overwrite each other.
fn write_file(
    k: &mut Kernel,
    source: &mut impl Source,
    file: u32,
    ino: Ino,
    at: Option<u64>,
) -> Result<u32, SyscallError> {
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

/// Sends SIGPIPE to a writer; if that does not end it, its call fails with `PIPE`.
fn signal_broken_pipe(k: &mut Kernel, pid: Pid) -> SyscallError {
    let Some(process) = k.processes.get_mut(pid) else { return Errno::Srch.into() };
    process.signal(Signal::Pipe);
    process.fatal().map_or(Errno::Pipe.into(), SyscallError::Kill)
}

/// Writes to a pipe. A short write is atomic. Without a reader, the writer gets SIGPIPE, or `PIPE` if it ignores that.
fn write_pipe(
    k: &mut Kernel,
    pid: Pid,
    source: &mut impl Source,
    pipe: u32,
    nonblock: bool,
    until: WriteMode,
) -> Result<u32, SyscallError> {
    let total = source.total();
    let process = k.processes.get_mut(pid).ok_or(Errno::Srch)?;
    let found = k.pipes.get_mut(pipe).ok_or(Errno::Badf)?;
    let before = if until == WriteMode::All { process.blocked.written.min(total) } else { 0 };
    if found.readers == 0 && !(k.spool_bytes.is_some() && found.lacks_reader()) {
        return Err(signal_broken_pipe(k, pid));
    }
    let rest = (total - before) as usize;
    if rest == 0 {
        return Ok(total);
    }
    if let Some(available) = k.spool_room(pipe) {
        return spool(k, pid, source, pipe, available.min(rest));
    }
    let Some(found) = k.pipes.get_mut(pipe) else { return Err(Errno::Badf.into()) };
    let short = total as usize <= ATOMIC_BYTES;
    let fits = found.available() > 0 && (!short || found.available() >= rest);
    let mut written = before;
    if fits {
        written += source.drain(&mut k.scratch, before, |_, src| Ok(found.push(src)))?;
        k.wake_pipe(pipe);
    }
    if written == total || (written > 0 && (nonblock || until == WriteMode::Partial || process_interrupted(k, pid))) {
        return Ok(written);
    }
    if nonblock {
        return Err(Errno::Again.into());
    }
    if let (Some(process), Some(found)) = (k.processes.get_mut(pid), k.pipes.get_mut(pipe)) {
        process.blocked.written = written;
        found.add_waiter(pid);
    }
    Err(SyscallError::Block(None))
}

/// Writes to a pipe whose reader has not started. A writer that overflows it is killed, as by a reader that stops early; the
/// truncation is reported when the reader reaches it.
fn spool(k: &mut Kernel, pid: Pid, source: &mut impl Source, pipe: u32, available: usize) -> Result<u32, SyscallError> {
    let found = k.pipes.get_mut(pipe).ok_or(Errno::Badf)?;
    if available == 0 {
        found.truncated = true;
        return Err(signal_broken_pipe(k, pid));
    }
    let written = source.drain(&mut k.scratch, 0, |done, src| {
        let left = available.saturating_sub(usize::try_from(done).unwrap_or(available));
        Ok(found.push(src.get(..left).unwrap_or(src)))
    })?;
    k.pipe_bytes = k.pipe_bytes.saturating_add(written as usize);
    k.wake_pipe(pipe);
    Ok(written)
}

/// Reports the truncation point of a pipe to its reader, which must not treat it as EOF.
fn report_truncation(k: &mut Kernel, pid: Pid) -> SyscallError {
    let spool = k.spool_bytes.unwrap_or(0) >> 20;
    let name = k.program_name(pid);
    k.write_stderr(
        pid,
        &format!(
            "{name}: the pipe was truncated: this engine runs the programs of a pipeline one after the other, with at most \
             {spool} MiB in a pipe; write the data to a file, or use an engine that can suspend WebAssembly\n"
        ),
    );
    SyscallError::Errno(Errno::Io)
}

/// A caught signal ends a partial write with its count, not with `INTR`.
fn process_interrupted(k: &mut Kernel, pid: Pid) -> bool {
    k.processes.get_mut(pid).is_some_and(|process| std::mem::take(&mut process.interrupted))
}
