//! Byte transfers: `fd_read`, `fd_write` and their positioned forms, and offsets.

use crate::errno::Errno;
use crate::guest_memory::GuestMemory;
use crate::kernel::Kernel;
use crate::open_file::FileObject;
use crate::process::Pid;
use crate::syscall::{SyscallError, SyscallOutcome, blocking_call, call};
use crate::transfer::{WriteMode, read, write};
use crate::wasi::arg::{Buffers, GuestBuffers, put_u32, put_u64};

/// Maximum bytes of one chunk of a transfer: a fraction of a millisecond of copying.
const CHUNK_BYTES: u32 = 1 << 20;

/// Maximum bytes of one positioned transfer, which is not split into chunks: some milliseconds of copying. The guest sees the
/// short count.
const POSITIONED_BYTES: u32 = 16 << 20;

/// Progress of a transfer that the engine executes in chunks, so that other processes run in between and deadlines are kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    done: u32,
    more: bool,
}

impl Progress {
    /// Returns whether the call must be repeated to continue. If not, it has completed and its result is the guest's.
    pub fn more(&self) -> bool {
        self.more
    }
}

/// Transfers the next chunk. An error after progress is ignored; the next call reports it.
fn transfer_chunk(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    (fd, iovs, iovs_len, out): (u32, u32, u32, u32),
    progress: &mut Progress,
    run: impl FnOnce(&mut Kernel, &mut dyn GuestMemory, &Buffers, u32) -> Result<u32, SyscallError>,
) -> SyscallOutcome {
    progress.more = false;
    blocking_call(k, pid, |k| {
        let file = k.file_of(pid, fd)?;
        let all = Buffers::read(m, iovs, iovs_len)?;
        let left = all.total().saturating_sub(progress.done);
        let window = all.window(progress.done, CHUNK_BYTES);
        let moved = match run(k, m, &window, file) {
            Err(SyscallError::Errno(_)) if progress.done > 0 => 0,
            moved => moved?,
        };
        progress.done += moved;
        progress.more = moved == window.total() && left > moved;
        Ok(put_u32(m, out, progress.done)?)
    })
}

/// Like [`fd_read`], one chunk at a time.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn fd_read_chunk(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    iovs: u32,
    iovs_len: u32,
    out: u32,
    progress: &mut Progress,
) -> SyscallOutcome {
    let in_progress = progress.done > 0;
    transfer_chunk(k, pid, m, (fd, iovs, iovs_len, out), progress, |k, m, list, file| {
        match read(k, pid, &mut GuestBuffers { m, list }, file, None) {
            // All available bytes have been read.
            Err(SyscallError::Block(_)) if in_progress => Ok(0),
            read => read,
        }
    })
}

/// Like [`fd_write`], one chunk at a time.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn fd_write_chunk(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    iovs: u32,
    iovs_len: u32,
    out: u32,
    progress: &mut Progress,
) -> SyscallOutcome {
    transfer_chunk(k, pid, m, (fd, iovs, iovs_len, out), progress, |k, m, list, file| {
        write(k, pid, &mut GuestBuffers { m, list }, file, None, WriteMode::All)
    })
}

/// Reads at the file's offset. `ISDIR` on a directory.
pub fn fd_read(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    iovs: u32,
    iovs_len: u32,
    out: u32,
) -> SyscallOutcome {
    blocking_call(k, pid, |k| {
        let file = k.file_of(pid, fd)?;
        let buffers = Buffers::read(m, iovs, iovs_len)?;
        let n = read(k, pid, &mut GuestBuffers { m, list: &buffers }, file, None)?;
        Ok(put_u32(m, out, n)?)
    })
}

/// Reads at `offset` without changing the file's offset. `SPIPE` on a file without an offset. At most 16 MiB.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn fd_pread(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    iovs: u32,
    iovs_len: u32,
    offset: u64,
    out: u32,
) -> SyscallOutcome {
    call(k, pid, |k| {
        let file = k.file_of(pid, fd)?;
        let buffers = Buffers::read(m, iovs, iovs_len)?.window(0, POSITIONED_BYTES);
        let n = read(k, pid, &mut GuestBuffers { m, list: &buffers }, file, Some(offset))?;
        Ok(put_u32(m, out, n)?)
    })
}

/// Writes at the file's offset, or at the end of a file opened for appending.
pub fn fd_write(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    iovs: u32,
    iovs_len: u32,
    out: u32,
) -> SyscallOutcome {
    blocking_call(k, pid, |k| {
        let file = k.file_of(pid, fd)?;
        let buffers = Buffers::read(m, iovs, iovs_len)?;
        let n = write(k, pid, &mut GuestBuffers { m, list: &buffers }, file, None, WriteMode::All)?;
        Ok(put_u32(m, out, n)?)
    })
}

/// Writes at `offset` without changing the file's offset. At most 16 MiB.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn fd_pwrite(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    iovs: u32,
    iovs_len: u32,
    offset: u64,
    out: u32,
) -> SyscallOutcome {
    call(k, pid, |k| {
        let file = k.file_of(pid, fd)?;
        let buffers = Buffers::read(m, iovs, iovs_len)?.window(0, POSITIONED_BYTES);
        let n = write(k, pid, &mut GuestBuffers { m, list: &buffers }, file, Some(offset), WriteMode::All)?;
        Ok(put_u32(m, out, n)?)
    })
}

const FROM_START: u32 = 0;
const FROM_HERE: u32 = 1;
const FROM_END: u32 = 2;

/// Moves the file's offset. `SPIPE` on a file without an offset, `INVAL` before the start.
pub fn fd_seek(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    offset: i64,
    whence: u32,
    out: u32,
) -> SyscallOutcome {
    call(k, pid, |k| {
        let file = k.file_of(pid, fd)?;
        let open = k.files.get_mut(file).ok_or(Errno::Badf)?;
        let end = match &open.what {
            FileObject::File(ino) => k.fs.len(*ino)?,
            // As on Linux, its length is known only when it is read.
            FileObject::Text(_) => 0,
            FileObject::Device(..) => return Ok(put_u64(m, out, 0)?),
            FileObject::Dir(_) | FileObject::WorkDir(_) => return Err(Errno::Badf.into()),
            FileObject::Reader(_)
            | FileObject::Writer(_)
            | FileObject::Both(_)
            | FileObject::Socket(_)
            | FileObject::Terminal(_)
            | FileObject::Stdin(_)
            | FileObject::Output(..) => {
                return Err(Errno::Spipe.into());
            }
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

/// Writes the file's offset.
pub fn fd_tell(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, fd: u32, out: u32) -> SyscallOutcome {
    fd_seek(k, pid, m, fd, 0, FROM_HERE, out)
}
