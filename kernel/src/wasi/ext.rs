//! `tidebox_v1`: what preview1 lacks of a Unix. Meanings, layouts and errors are those of `docs/abi.md`.

use super::arg::{self, put_u32, put_u64};
use super::{GuestMem, Halt, Sys, call};
use crate::errno::Errno;
use crate::fd::{Descriptors, Entry, to_unix};
use crate::kernel::{Kernel, USER};
use crate::open_file::{OpenFile, What};
use crate::process::Pid;
use crate::procfs::Item;
use crate::resolve::{Found, Walk};
use crate::stat as describe;

pub use super::ext_process::{fork, getids, kill, setpgid, sig_set, sig_take, spawn, wait};
pub use super::ext_start::started;
pub use super::ext_state::{shell_state_read, shell_state_write};
pub use super::ext_talk::{listen, reply};

/// Paths of this module are those of Unix, not those of preview1.
const FOLLOW: Walk = Walk { follow: true, beneath: false };

/// Makes a pipe and writes its reading and its writing end.
pub fn pipe(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, out: u32) -> Sys {
    call(k, pid, |k| {
        let pipe = k.new_pipe()?;
        let reader = k.add_file(OpenFile::new(What::Reader(pipe), true, false, 0));
        let writer = k.add_file(OpenFile::new(What::Writer(pipe), false, true, 0));
        let ends = give_both(k, pid, reader, writer);
        let (read, write) = ends.inspect_err(|_| {
            k.drop_file(reader);
            k.drop_file(writer);
        })?;
        let [a, b, c, d] = read.to_le_bytes();
        let [e, f, g, h] = write.to_le_bytes();
        m.write(out, &[a, b, c, d, e, f, g, h]).map_err(|fault| {
            // The guest cannot learn the numbers, so they are not left open. Both were open a moment ago.
            let _ = (k.close_fd(pid, read), k.close_fd(pid, write));
            Halt::from(fault)
        })
    })
}

/// On an error neither has a descriptor.
fn give_both(k: &mut Kernel, pid: Pid, reader: u32, writer: u32) -> Result<(u32, u32), Errno> {
    let limit = k.limits.descriptors;
    let fds = &mut k.process_mut(pid)?.fds;
    let read = fds.lowest_free(0, limit)?;
    fds.put(read, Entry::new(reader), limit)?;
    let write = fds.lowest_free(0, limit).inspect_err(|_| {
        fds.remove(read);
    })?;
    fds.put(write, Entry::new(writer), limit)?;
    k.share_file(reader);
    k.share_file(writer);
    Ok((read, write))
}

/// Copies a descriptor to the lowest free one that is at least `at_least`.
pub fn dup(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, fd: u32, at_least: u32, out: u32) -> Sys {
    call(k, pid, |k| {
        let file = k.file_of(pid, fd)?;
        let new = k.give_fd(pid, file, at_least)?;
        put_u32(m, out, new).map_err(|fault| {
            let _ = k.close_fd(pid, new);
            Halt::from(fault)
        })
    })
}

/// Copies a descriptor to `target`, closing what was there.
pub fn dup_to(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, fd: u32, target: u32) -> Sys {
    let _ = m;
    call(k, pid, |k| {
        let file = k.file_of(pid, fd)?;
        let limit = k.limits.descriptors;
        if !Descriptors::admits(target, limit) {
            return Err(Errno::Badf.into());
        }
        to_unix(target).ok_or(Errno::Inval)?;
        if fd == target {
            return Ok(());
        }
        k.share_file(file);
        if let Some(old) = k.process_mut(pid)?.fds.put(target, Entry::new(file), limit)? {
            k.drop_file(old.file);
        }
        Ok(())
    })
}

/// Changes the working directory.
pub fn chdir(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, path: u32, len: u32) -> Sys {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        let place = k.find_dir(pid, &k.process(pid)?.cwd, &path)?;
        k.enter_place(&place);
        let old = std::mem::replace(&mut k.process_mut(pid)?.cwd, place);
        k.leave_place(old);
        Ok(())
    })
}

/// Writes the working directory's path and its length. `NOENT` when it was removed.
pub fn getcwd(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, buffer: u32, len: u32, len_out: u32) -> Sys {
    call(k, pid, |k| {
        let path = k.path_of(&k.process(pid)?.cwd).ok_or(Errno::Noent)?;
        put_u32(m, len_out, u32::try_from(path.len()).map_err(|_| Errno::Overflow)?)?;
        if path.len() > len as usize {
            return Err(Errno::Range.into());
        }
        Ok(m.write(buffer, &path)?)
    })
}

/// Sets the mask for new files and writes the old one.
pub fn umask(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, mask: u32, out: u32) -> Sys {
    call(k, pid, |k| {
        let process = k.process_mut(pid)?;
        if mask > 0o777 && mask != u32::MAX {
            return Err(Errno::Inval.into());
        }
        put_u32(m, out, process.umask)?;
        if mask != u32::MAX {
            process.umask = mask;
        }
        Ok(())
    })
}

fn find(k: &Kernel, pid: Pid, path: &[u8], walk: Walk) -> Result<Found, Errno> {
    k.find(pid, &k.process(pid)?.cwd, path, walk)
}

/// Changes mode bits, following links, those of open descriptors in `/proc` among them.
pub fn chmod(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, path: u32, len: u32, mode: u32) -> Sys {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        let ino = match find(k, pid, &path, FOLLOW)? {
            Found::Node(ino) => ino,
            Found::Proc(Item::Descriptor(owner, fd)) => k.open_file(owner, fd)?.what.ino().ok_or(Errno::Perm)?,
            Found::Proc(_) => return Err(Errno::Perm.into()),
        };
        let now = k.now();
        Ok(k.fs.chmod(&USER, ino, mode & 0o7777, now)?)
    })
}

/// Makes a named pipe with this mode, as far as the mask for new files leaves it.
pub fn mkfifo(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, path: u32, len: u32, mode: u32) -> Sys {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        let process = k.process(pid)?;
        let at = k.start(&process.cwd, FOLLOW)?;
        let (mode, now) = (mode & 0o777 & !process.umask, k.now());
        k.fs.mkfifo(&USER, at, &path, mode, now)?;
        Ok(())
    })
}

/// What a path names.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of docs/abi.md")]
pub fn stat(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, path: u32, len: u32, flags: u32, out: u32) -> Sys {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        let follow = flags & 1 != 0;
        let found = find(k, pid, &path, Walk { follow, ..FOLLOW })?;
        let description = describe::of_found(k, &found, follow)?;
        Ok(m.write(out, &description.posix())?)
    })
}

/// What a descriptor names.
pub fn fstat(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, fd: u32, out: u32) -> Sys {
    call(k, pid, |k| {
        let description = k.stat(pid, fd)?;
        Ok(m.write(out, &description.posix())?)
    })
}

/// Whether the caller may read (4), write (2) or execute (1) what a path names; 0 asks whether it is there.
pub fn access(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, path: u32, len: u32, mode: u32) -> Sys {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        if mode > 7 {
            return Err(Errno::Inval.into());
        }
        let allowed = match find(k, pid, &path, FOLLOW)? {
            Found::Node(ino) => return Ok(k.fs.access(&USER, ino, mode)?),
            Found::Proc(Item::Descriptor(owner, fd)) => {
                let open = k.open_file(owner, fd)?;
                (if open.read { 4 } else { 0 }) | (if open.write { 2 } else { 0 })
            }
            Found::Proc(Item::Text(_)) => 4,
            Found::Proc(Item::Dir(_) | Item::Link(_)) => 5,
        };
        if mode & !allowed == 0 { Ok(()) } else { Err(Errno::Acces.into()) }
    })
}

/// The bounds that a program may want to know: see `docs/abi.md` for the layout.
pub fn limits(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, out: u32) -> Sys {
    call(k, pid, |k| {
        let limits = &k.limits;
        put_u64(m, out, limits.process_memory_bytes)?;
        put_u64(m, arg::address(out, 8)?, limits.file_bytes)?;
        for (n, value) in (0..).zip([limits.descriptors, limits.processes, limits.nesting, 0]) {
            put_u32(m, arg::address(out, 16 + 4 * n)?, value)?;
        }
        Ok(())
    })
}
