//! Maps error numbers of the operating system to those of the sandbox.

use crate::{Errno, Result};

pub(super) fn last_error() -> Errno {
    let code = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    errno_of(code)
}

pub(super) fn errno_of(code: i32) -> Errno {
    match code {
        libc::E2BIG => Errno::TOOBIG,
        libc::EACCES => Errno::ACCES,
        libc::EAGAIN => Errno::AGAIN,
        libc::EBADF => Errno::BADF,
        libc::EADDRINUSE => Errno::ADDRINUSE,
        libc::ECONNREFUSED => Errno::CONNREFUSED,
        libc::ECONNRESET => Errno::CONNRESET,
        libc::ECHILD => Errno::CHILD,
        libc::EEXIST => Errno::EXIST,
        libc::EFBIG => Errno::FBIG,
        libc::EINTR => Errno::INTR,
        libc::EINVAL => Errno::INVAL,
        libc::EISDIR => Errno::ISDIR,
        libc::ELOOP => Errno::LOOP,
        libc::EMFILE => Errno::MFILE,
        libc::ENAMETOOLONG => Errno::NAMETOOLONG,
        libc::ENOENT => Errno::NOENT,
        libc::ENOEXEC => Errno::NOEXEC,
        libc::ENOMEM => Errno::NOMEM,
        libc::ENOSPC => Errno::NOSPC,
        libc::ENOTDIR => Errno::NOTDIR,
        libc::EPERM => Errno::PERM,
        libc::EPIPE => Errno::PIPE,
        libc::ERANGE => Errno::RANGE,
        libc::EROFS => Errno::ROFS,
        libc::ESPIPE => Errno::SPIPE,
        libc::ESRCH => Errno::SRCH,
        libc::ETXTBSY => Errno::TXTBSY,
        libc::EMLINK => Errno::MLINK,
        libc::ENOTEMPTY => Errno::NOTEMPTY,
        libc::ENXIO => Errno::NXIO,
        libc::EXDEV => Errno::XDEV,
        _ => Errno::IO,
    }
}

pub(super) fn check(result: i32) -> Result<i32> {
    if result < 0 { Err(last_error()) } else { Ok(result) }
}
