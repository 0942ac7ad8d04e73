//! preview1's functions on sockets. How a socket gets an address is not in preview1: see `tidebox_v1`.

use crate::errno::Errno;
use crate::guest_memory::GuestMemory;
use crate::kernel::Kernel;
use crate::open_file::flag;
use crate::process::Pid;
use crate::socket::Shutdown;
use crate::syscall::{SyscallOutcome, blocking_call, call};
use crate::transfer::{Consume, WriteMode, read_socket, write};
use crate::wasi::arg::{Buffers, GuestBuffers, put_u32};

/// Flags of `sock_recv`: the bytes stay for the next read, and the read waits for all of them.
const PEEK: u32 = 1;
const WAIT_ALL: u32 = 2;

/// Directions of `sock_shutdown`.
const SHUT_READ: u32 = 1;
const SHUT_WRITE: u32 = 2;

/// Maximum bytes of one transfer: a fraction of a millisecond of copying. The guest sees the short count.
const MAX_BYTES: u32 = 1 << 20;

/// Accepts a connection and writes its descriptor. The only flag is `nonblock`.
pub fn sock_accept(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, fd: u32, flags: u32, out: u32) -> SyscallOutcome {
    blocking_call(k, pid, |k| {
        k.socket_of(pid, fd)?;
        let flags = u16::try_from(flags).ok().filter(|flags| flags & !flag::NONBLOCK == 0).ok_or(Errno::Inval)?;
        // Written once before, so that a bad address loses no connection.
        put_u32(m, out, 0)?;
        let accepted = k.accept_socket(pid, fd, flags)?;
        Ok(put_u32(m, out, accepted)?)
    })
}

/// Reads from a connection. `NOTSUP` for `recv_waitall`.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn sock_recv(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    iovs: u32,
    iovs_len: u32,
    flags: u32,
    size: u32,
    out_flags: u32,
) -> SyscallOutcome {
    blocking_call(k, pid, |k| {
        let (socket, nonblock) = k.socket_of(pid, fd)?;
        let consume = match flags {
            0 => Consume::Yes,
            PEEK => Consume::No,
            WAIT_ALL => return Err(Errno::Notsup.into()),
            _ => return Err(Errno::Inval.into()),
        };
        put_u32(m, size, 0)?;
        m.write(out_flags, &[0; 2])?;
        let list = Buffers::read(m, iovs, iovs_len)?.window(0, MAX_BYTES);
        let count = read_socket(k, pid, &mut GuestBuffers { m, list: &list }, socket, nonblock, consume)?;
        Ok(put_u32(m, size, count)?)
    })
}

/// Writes to a connection. preview1 defines no flags.
#[allow(clippy::too_many_arguments, reason = "the arguments are those of the witx")]
pub fn sock_send(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    fd: u32,
    iovs: u32,
    iovs_len: u32,
    flags: u32,
    size: u32,
) -> SyscallOutcome {
    blocking_call(k, pid, |k| {
        k.socket_of(pid, fd)?;
        if flags != 0 {
            return Err(Errno::Inval.into());
        }
        put_u32(m, size, 0)?;
        let file = k.file_of(pid, fd)?;
        let list = Buffers::read(m, iovs, iovs_len)?.window(0, MAX_BYTES);
        let count = write(k, pid, &mut GuestBuffers { m, list: &list }, file, None, WriteMode::All)?;
        Ok(put_u32(m, size, count)?)
    })
}

/// Closes one or both directions of a connection.
pub fn sock_shutdown(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, fd: u32, how: u32) -> SyscallOutcome {
    let _ = m;
    call(k, pid, |k| {
        k.socket_of(pid, fd)?;
        if how == 0 || how & !(SHUT_READ | SHUT_WRITE) != 0 {
            return Err(Errno::Inval.into());
        }
        let how = Shutdown { read: how & SHUT_READ != 0, write: how & SHUT_WRITE != 0 };
        Ok(k.shut_down_socket(pid, fd, how)?)
    })
}
