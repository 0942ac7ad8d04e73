//! `tidebox_v1`: Unix functions that preview1 lacks. `docs/abi.md` specifies meanings, layouts and errors.

mod interactive;
mod process;
mod shell_state;
mod socket;
mod startup;
mod terminal;

use super::arg::{self, put_u32, put_u64};
use crate::errno::Errno;
use crate::guest_memory::GuestMemory;
use crate::kernel::{Kernel, USER};
use crate::process::Pid;
use crate::procfs::ProcEntry;
use crate::resolve::{ResolvedPath, Walk};
use crate::stat as describe;
use crate::syscall::{SyscallError, SyscallOutcome, call};

pub use interactive::{listen, reply, rest, restored};
pub use process::{cpu_times, fork, getids, kill, nesting_reached, nice, setpgid, sig_set, sig_take, spawn, wait};
pub use shell_state::{shell_state_read, shell_state_write};
pub use socket::{sock_bind, sock_connect, sock_listen, sock_name, sock_open, sock_pair};
pub use startup::startup_info;
pub use terminal::{tty_get, tty_group, tty_set};

/// Paths of this module follow the rules of Unix, not those of preview1.
const FOLLOW: Walk = Walk { follow: true, beneath: false };

/// Creates a pipe and writes its read and write descriptors.
pub fn pipe(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, out: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        let (read, write) = k.open_pipe(pid)?;
        let [a, b, c, d] = read.to_le_bytes();
        let [e, f, g, h] = write.to_le_bytes();
        m.write(out, &[a, b, c, d, e, f, g, h]).map_err(|fault| {
            // The guest did not get the numbers, so they are closed. Both are known to be open.
            let _ = (k.close_fd(pid, read), k.close_fd(pid, write));
            SyscallError::from(fault)
        })
    })
}

/// Copies a descriptor to the lowest free one that is at least `at_least`.
pub fn dup(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, fd: u32, at_least: u32, out: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        let file = k.file_of(pid, fd)?;
        let new = k.install_fd(pid, file, at_least)?;
        put_u32(m, out, new).map_err(|fault| {
            let _ = k.close_fd(pid, new);
            SyscallError::from(fault)
        })
    })
}

/// Copies a descriptor to `target`, closing a descriptor that was open there.
pub fn dup_to(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, fd: u32, target: u32) -> SyscallOutcome {
    let _ = m;
    call(k, pid, |k| Ok(k.duplicate_to(pid, fd, target)?))
}

/// Changes the working directory.
pub fn chdir(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, path: u32, len: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        let dir = k.find_dir(pid, &k.process(pid)?.cwd, &path)?;
        k.hold_dir(&dir);
        let old = std::mem::replace(&mut k.process_mut(pid)?.cwd, dir);
        k.release_dir(old);
        Ok(())
    })
}

/// Writes the working directory's path and its length. `NOENT` if it was removed.
pub fn getcwd(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    buffer: u32,
    len: u32,
    len_out: u32,
) -> SyscallOutcome {
    call(k, pid, |k| {
        let path = k.path_of(&k.process(pid)?.cwd).ok_or(Errno::Noent)?;
        put_u32(m, len_out, u32::try_from(path.len()).map_err(|_| Errno::Overflow)?)?;
        if path.len() > len as usize {
            return Err(Errno::Range.into());
        }
        Ok(m.write(buffer, &path)?)
    })
}

/// Sets the umask and writes the old one.
pub fn umask(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, mask: u32, out: u32) -> SyscallOutcome {
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

fn find(k: &Kernel, pid: Pid, path: &[u8], walk: Walk) -> Result<ResolvedPath, Errno> {
    k.find(pid, &k.process(pid)?.cwd, path, walk)
}

/// Changes mode bits, following links, including those of open descriptors in `/proc`.
pub fn chmod(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, path: u32, len: u32, mode: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        let ino = match find(k, pid, &path, FOLLOW)? {
            ResolvedPath::Node(ino) => ino,
            ResolvedPath::Proc(ProcEntry::Descriptor(owner, fd)) => {
                k.open_file(owner, fd)?.what.ino().ok_or(Errno::Perm)?
            }
            ResolvedPath::Proc(_) => return Err(Errno::Perm.into()),
        };
        let now = k.now();
        Ok(k.fs.chmod(&USER, ino, mode & 0o7777, now)?)
    })
}

/// Creates a FIFO with mode `mode & !umask`.
pub fn mkfifo(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, path: u32, len: u32, mode: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        let process = k.process(pid)?;
        let at = k.parent_start(&process.cwd, FOLLOW)?;
        let (mode, now) = (mode & 0o777 & !process.umask, k.now());
        k.fs.mkfifo(&USER, at, &path, mode, now)?;
        Ok(())
    })
}

/// Writes the status of the file at a path.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of docs/abi.md")]
pub fn stat(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    path: u32,
    len: u32,
    flags: u32,
    out: u32,
) -> SyscallOutcome {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        let follow = flags & 1 != 0;
        let found = find(k, pid, &path, Walk { follow, ..FOLLOW })?;
        let description = describe::from_path(k, &found, follow)?;
        Ok(m.write(out, &description.posix())?)
    })
}

/// Writes the status of a descriptor's file.
pub fn fstat(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, fd: u32, out: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        let description = k.stat(pid, fd)?;
        Ok(m.write(out, &description.posix())?)
    })
}

/// Checks whether the caller may read (4), write (2) or execute (1) the file at a path; 0 checks that it exists.
pub fn access(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, path: u32, len: u32, mode: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        let path = arg::path(k, m, path, len)?;
        if mode > 7 {
            return Err(Errno::Inval.into());
        }
        let allowed = match find(k, pid, &path, FOLLOW)? {
            ResolvedPath::Node(ino) => return Ok(k.fs.access(&USER, ino, mode)?),
            ResolvedPath::Proc(ProcEntry::Descriptor(owner, fd)) => {
                let open = k.open_file(owner, fd)?;
                (if open.read { 4 } else { 0 }) | (if open.write { 2 } else { 0 })
            }
            ResolvedPath::Proc(ProcEntry::Text(_)) => 4,
            ResolvedPath::Proc(ProcEntry::Dir(_) | ProcEntry::Link(_)) => 5,
        };
        if mode & !allowed == 0 { Ok(()) } else { Err(Errno::Acces.into()) }
    })
}

/// Writes the limits that a program may query, in the layout of `docs/abi.md`.
pub fn limits(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, out: u32) -> SyscallOutcome {
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
