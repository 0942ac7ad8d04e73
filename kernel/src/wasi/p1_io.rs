//! Moving bytes: `fd_read`, `fd_write` and their positioned forms, and offsets.

use super::arg::{Buffers, InGuest, put_u32, put_u64};
use super::{GuestMem, Halt, Sys, blocking_call, call};
use crate::errno::Errno;
use crate::kernel::Kernel;
use crate::open_file::What;
use crate::process::Pid;
use crate::transfer::{Until, read, write};

/// Most bytes of one piece of a transfer: a fraction of a millisecond of copying.
const PIECE_BYTES: u32 = 1 << 20;

/// Most bytes of one positioned transfer, which is not made in pieces: some milliseconds of copying. The count says how many
/// there were.
const POSITIONED_BYTES: u32 = 16 << 20;

/// How far a transfer has come that an engine makes in pieces, so that others have a turn in between and a deadline is kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    done: u32,
    more: bool,
}

impl Progress {
    /// Whether the call is to be made again to go on. If not, it is over and its answer the guest's.
    pub fn more(&self) -> bool {
        self.more
    }
}

/// The next piece of a transfer. What fails after something was moved is left for the next call to find.
fn piece(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMem,
    (fd, iovs, iovs_len, out): (u32, u32, u32, u32),
    progress: &mut Progress,
    run: impl FnOnce(&mut Kernel, &mut dyn GuestMem, &Buffers, u32) -> Result<u32, Halt>,
) -> Sys {
    progress.more = false;
    blocking_call(k, pid, |k| {
        let file = k.file_of(pid, fd)?;
        let all = Buffers::read(m, iovs, iovs_len)?;
        let left = all.total().saturating_sub(progress.done);
        let window = all.window(progress.done, PIECE_BYTES);
        let moved = match run(k, m, &window, file) {
            Err(Halt::Errno(_)) if progress.done > 0 => 0,
            moved => moved?,
        };
        progress.done += moved;
        progress.more = moved == window.total() && left > moved;
        Ok(put_u32(m, out, progress.done)?)
    })
}

/// As [`fd_read`], a piece at a time.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn fd_read_piece(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMem,
    fd: u32,
    iovs: u32,
    iovs_len: u32,
    out: u32,
    progress: &mut Progress,
) -> Sys {
    let begun = progress.done > 0;
    piece(k, pid, m, (fd, iovs, iovs_len, out), progress, |k, m, list, file| {
        match read(k, pid, &mut InGuest { m, list }, file, None) {
            // What there was has been read.
            Err(Halt::Block(_)) if begun => Ok(0),
            read => read,
        }
    })
}

/// As [`fd_write`], a piece at a time.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn fd_write_piece(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMem,
    fd: u32,
    iovs: u32,
    iovs_len: u32,
    out: u32,
    progress: &mut Progress,
) -> Sys {
    piece(k, pid, m, (fd, iovs, iovs_len, out), progress, |k, m, list, file| {
        write(k, pid, &mut InGuest { m, list }, file, None, Until::All)
    })
}

/// Reads from where the file stands. On a directory `ISDIR`.
pub fn fd_read(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, fd: u32, iovs: u32, iovs_len: u32, out: u32) -> Sys {
    blocking_call(k, pid, |k| {
        let file = k.file_of(pid, fd)?;
        let buffers = Buffers::read(m, iovs, iovs_len)?;
        let n = read(k, pid, &mut InGuest { m, list: &buffers }, file, None)?;
        Ok(put_u32(m, out, n)?)
    })
}

/// Reads at `offset`, and leaves where the file stands. `SPIPE` on what has no offset. At most 16 MiB.
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
        let buffers = Buffers::read(m, iovs, iovs_len)?.window(0, POSITIONED_BYTES);
        let n = read(k, pid, &mut InGuest { m, list: &buffers }, file, Some(offset))?;
        Ok(put_u32(m, out, n)?)
    })
}

/// Writes where the file stands, or at its end when it was opened for appending.
pub fn fd_write(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, fd: u32, iovs: u32, iovs_len: u32, out: u32) -> Sys {
    blocking_call(k, pid, |k| {
        let file = k.file_of(pid, fd)?;
        let buffers = Buffers::read(m, iovs, iovs_len)?;
        let n = write(k, pid, &mut InGuest { m, list: &buffers }, file, None, Until::All)?;
        Ok(put_u32(m, out, n)?)
    })
}

/// Writes at `offset`, and leaves where the file stands. At most 16 MiB.
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
        let buffers = Buffers::read(m, iovs, iovs_len)?.window(0, POSITIONED_BYTES);
        let n = write(k, pid, &mut InGuest { m, list: &buffers }, file, Some(offset), Until::All)?;
        Ok(put_u32(m, out, n)?)
    })
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
            What::Reader(_) | What::Writer(_) | What::Both(_) | What::Stdin(_) | What::Output(..) => {
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

/// Where the file stands.
pub fn fd_tell(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, fd: u32, out: u32) -> Sys {
    fd_seek(k, pid, m, fd, 0, FROM_HERE, out)
}
