//! Moving bytes: `fd_read`, `fd_write` and their positioned forms, and offsets.

use super::arg::{Buffers, put_u32, put_u64};
use super::{GuestMem, Halt, Sys, blocking_call, call};
use crate::errno::Errno;
use crate::fs::{Device, Ino};
use crate::kernel::Kernel;
use crate::open_file::{What, flag};
use crate::pipe::ATOMIC_BYTES;
use crate::process::Pid;
use crate::procfs::{self, Text};
use crate::signal::Signal;

/// Reads from where the file stands. On a directory `ISDIR`.
pub fn fd_read(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, fd: u32, iovs: u32, iovs_len: u32, out: u32) -> Sys {
    blocking_call(k, pid, |k| {
        let file = k.file_of(pid, fd)?;
        let buffers = Buffers::read(m, iovs, iovs_len)?;
        let n = read(k, pid, m, file, &buffers, None)?;
        Ok(put_u32(m, out, n)?)
    })
}

/// Reads at `offset`, and leaves where the file stands. `SPIPE` on what has no offset.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn fd_pread(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMem,
    fd: u32,
    iovs: u32,
    iovs_len: u32,
    offset: u64,
    out: u32,
) -> Sys {
    call(k, pid, |k| {
        let file = k.file_of(pid, fd)?;
        let buffers = Buffers::read(m, iovs, iovs_len)?;
        let n = read(k, pid, m, file, &buffers, Some(offset))?;
        Ok(put_u32(m, out, n)?)
    })
}

/// Writes where the file stands, or at its end when it was opened for appending.
pub fn fd_write(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, fd: u32, iovs: u32, iovs_len: u32, out: u32) -> Sys {
    blocking_call(k, pid, |k| {
        let file = k.file_of(pid, fd)?;
        let buffers = Buffers::read(m, iovs, iovs_len)?;
        let n = write(k, pid, m, file, &buffers, None)?;
        Ok(put_u32(m, out, n)?)
    })
}

/// Writes at `offset`, and leaves where the file stands.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn fd_pwrite(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMem,
    fd: u32,
    iovs: u32,
    iovs_len: u32,
    offset: u64,
    out: u32,
) -> Sys {
    call(k, pid, |k| {
        let file = k.file_of(pid, fd)?;
        let buffers = Buffers::read(m, iovs, iovs_len)?;
        let n = write(k, pid, m, file, &buffers, Some(offset))?;
        Ok(put_u32(m, out, n)?)
    })
}

fn read(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMem,
    file: u32,
    buffers: &Buffers,
    at: Option<u64>,
) -> Result<u32, Halt> {
    let open = k.files.get_mut(file).ok_or(Errno::Badf)?;
    let start = at.unwrap_or(open.offset);
    let scratch = &mut k.scratch;
    let n = match &open.what {
        What::Dir(_) | What::WorkDir(_) => return Err(Errno::Isdir.into()),
        _ if !open.read => return Err(Errno::Badf.into()),
        What::Reader(_) | What::Stdin(_) if at.is_some() => return Err(Errno::Spipe.into()),
        What::Reader(pipe) => {
            let (pipe, nonblock) = (*pipe, open.has(flag::NONBLOCK));
            return read_pipe(k, pid, m, pipe, nonblock, buffers);
        }
        What::File(ino) => {
            let ino = *ino;
            buffers.fill(m, scratch, |done, dst| k.fs.read_at(ino, start.saturating_add(done), dst))?
        }
        What::Text(text) => {
            let text = *text;
            return read_text(k, m, file, text, buffers, at);
        }
        What::Stdin(bytes) => {
            buffers.fill(m, scratch, |done, dst| Ok(copy_from(bytes, start.saturating_add(done), dst)))?
        }
        What::Device(Device::Null, _) => 0,
        What::Device(Device::Zero | Device::Full, _) => buffers.fill(m, scratch, |_, dst| {
            dst.fill(0);
            Ok(dst.len())
        })?,
        What::Device(Device::Random | Device::Urandom, _) => buffers.fill(m, scratch, |_, dst| {
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

fn read_text(
    k: &mut Kernel,
    m: &mut dyn GuestMem,
    file: u32,
    text: Text,
    buffers: &Buffers,
    at: Option<u64>,
) -> Result<u32, Halt> {
    let mut scratch = std::mem::take(&mut k.scratch);
    let start = at.unwrap_or(k.files.get(file).ok_or(Errno::Badf)?.offset);
    let read = procfs::text(k, text).map_err(Halt::from).and_then(|text| {
        buffers.fill(m, &mut scratch, |done, dst| Ok(copy_from(&text, start.saturating_add(done), dst)))
    });
    k.scratch = scratch;
    let n = read?;
    if at.is_none() {
        k.files.get_mut(file).ok_or(Errno::Badf)?.offset = start.saturating_add(u64::from(n));
    }
    Ok(n)
}

fn read_pipe(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMem,
    pipe: u32,
    nonblock: bool,
    buffers: &Buffers,
) -> Result<u32, Halt> {
    let found = k.pipes.get_mut(pipe).ok_or(Errno::Badf)?;
    if buffers.total == 0 {
        return Ok(0);
    }
    if found.len() == 0 {
        return match (found.writers, nonblock) {
            (0, _) => Ok(0),
            (_, true) => Err(Errno::Again.into()),
            (_, false) => {
                found.wait(pid);
                Err(Halt::Block(None))
            }
        };
    }
    // Taken only after it is where the guest wants it, so that a bad address loses nothing.
    let n = buffers.fill(m, &mut k.scratch, |done, dst| Ok(found.peek(done, dst)))?;
    found.skip(n as usize);
    // A writer is woken for a page or more, not for every few bytes: each wake-up is a switch of processes.
    if found.room() >= ATOMIC_BYTES || found.len() == 0 {
        k.wake_pipe(pipe);
    }
    Ok(n)
}

fn write(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMem,
    file: u32,
    buffers: &Buffers,
    at: Option<u64>,
) -> Result<u32, Halt> {
    let open = k.files.get_mut(file).ok_or(Errno::Badf)?;
    if !open.write {
        return Err(Errno::Badf.into());
    }
    match &open.what {
        What::File(ino) => {
            let ino = *ino;
            write_file(k, m, file, ino, buffers, at)
        }
        What::Writer(_) | What::Output(..) if at.is_some() => Err(Errno::Spipe.into()),
        What::Writer(pipe) => {
            let (pipe, nonblock) = (*pipe, open.has(flag::NONBLOCK));
            write_pipe(k, pid, m, pipe, nonblock, buffers)
        }
        What::Output(session, stream) => {
            let session = k.sessions.get_mut(session).ok_or(Errno::Io)?;
            buffers.drain(m, &mut k.scratch, 0, |_, src| {
                session.print(*stream, src);
                Ok(src.len())
            })
        }
        What::Device(Device::Full, _) if buffers.total > 0 => Err(Errno::Nospc.into()),
        // What is written to the others is gone; it is still read, so that a bad address is told.
        What::Device(..) => buffers.drain(m, &mut k.scratch, 0, |_, src| Ok(src.len())),
        What::Dir(_) | What::WorkDir(_) | What::Reader(_) | What::Stdin(_) | What::Text(_) => Err(Errno::Badf.into()),
    }
}

/// Appending finds the end and writes there in one step, so two writers never overwrite each other.
fn write_file(
    k: &mut Kernel,
    m: &mut dyn GuestMem,
    file: u32,
    ino: Ino,
    buffers: &Buffers,
    at: Option<u64>,
) -> Result<u32, Halt> {
    let now = k.clock.realtime();
    let open = k.files.get_mut(file).ok_or(Errno::Badf)?;
    let start = match at {
        Some(at) => at,
        None if open.has(flag::APPEND) => k.fs.len(ino)?,
        None => open.offset,
    };
    let n = buffers.drain(m, &mut k.scratch, 0, |done, src| {
        let at = start.checked_add(done).ok_or(Errno::Fbig)?;
        k.fs.write_at(ino, at, src, now)
    })?;
    if at.is_none() {
        open.offset = start.saturating_add(u64::from(n));
    }
    Ok(n)
}

/// Waits until all is written, as a pipe of Unix does; a short write stays whole.
fn write_pipe(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMem,
    pipe: u32,
    nonblock: bool,
    buffers: &Buffers,
) -> Result<u32, Halt> {
    let process = k.processes.get_mut(pid).ok_or(Errno::Srch)?;
    let found = k.pipes.get_mut(pipe).ok_or(Errno::Badf)?;
    let before = process.blocked.written.min(buffers.total);
    if found.readers == 0 {
        process.signal(Signal::Pipe);
        return match process.fatal() {
            Some(signal) => Err(Halt::Kill(signal)),
            None => Err(Errno::Pipe.into()),
        };
    }
    let rest = (buffers.total - before) as usize;
    if rest == 0 {
        return Ok(buffers.total);
    }
    let short = buffers.total as usize <= ATOMIC_BYTES;
    let fits = found.room() > 0 && (!short || found.room() >= rest);
    let mut written = before;
    if fits {
        written += buffers.drain(m, &mut k.scratch, before, |_, src| Ok(found.push(src)))?;
        k.wake_pipe(pipe);
    }
    if written == buffers.total || (written > 0 && (nonblock || process_interrupted(k, pid))) {
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

/// A noted signal ends a write that has delivered something with the count, not with `INTR`.
fn process_interrupted(k: &mut Kernel, pid: Pid) -> bool {
    k.processes.get_mut(pid).is_some_and(|process| std::mem::take(&mut process.interrupted))
}

const FROM_START: u32 = 0;
const FROM_HERE: u32 = 1;
const FROM_END: u32 = 2;

/// Moves where the file stands. `SPIPE` on what has no offset, `INVAL` before the start.
pub fn fd_seek(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, fd: u32, offset: i64, whence: u32, out: u32) -> Sys {
    call(k, pid, |k| {
        let file = k.file_of(pid, fd)?;
        let open = k.files.get_mut(file).ok_or(Errno::Badf)?;
        let end = match &open.what {
            What::File(ino) => k.fs.len(*ino)?,
            // As on Linux, how long it is shows only when it is read.
            What::Text(_) => 0,
            What::Device(..) => return Ok(put_u64(m, out, 0)?),
            What::Dir(_) | What::WorkDir(_) => return Err(Errno::Badf.into()),
            What::Reader(_) | What::Writer(_) | What::Stdin(_) | What::Output(..) => return Err(Errno::Spipe.into()),
        };
        let base = match whence {
            FROM_START => 0,
            FROM_HERE => open.offset,
            FROM_END => end,
            _ => return Err(Errno::Inval.into()),
        };
        let target = base.checked_add_signed(offset).filter(|to| i64::try_from(*to).is_ok()).ok_or(Errno::Inval)?;
        put_u64(m, out, target)?;
        open.offset = target;
        Ok(())
    })
}

/// Where the file stands.
pub fn fd_tell(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, fd: u32, out: u32) -> Sys {
    fd_seek(k, pid, m, fd, 0, FROM_HERE, out)
}
