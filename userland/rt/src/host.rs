//! The same border over the operating system, so that what is built on this crate can be tested beside the real thing.
//! No sandbox: a program that runs here has all rights of its user.
#![allow(unsafe_code, reason = "system calls are unsafe; every pointer passed here comes from a live value")]

use std::ffi::CString;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{
    Entry, Errno, Fd, FileKind, Ids, Limits, Open, Readiness, Result, SpawnRequest, Started, Stat, Status, Time, Waited,
};

/// The same distance as in the sandbox, so that descriptors of scripts and of the shell itself stay apart here too.
pub(crate) const FD_SHIFT: u32 = 64;
/// Signals that arrived and were asked to be noted.
static NOTED: AtomicU64 = AtomicU64::new(0);

fn last_error() -> Errno {
    let code = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    errno_of(code)
}

fn errno_of(code: i32) -> Errno {
    match code {
        libc::E2BIG => Errno::TOOBIG,
        libc::EACCES => Errno::ACCES,
        libc::EAGAIN => Errno::AGAIN,
        libc::EBADF => Errno::BADF,
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

fn check(result: i32) -> Result<i32> {
    if result < 0 { Err(last_error()) } else { Ok(result) }
}

fn raw(fd: Fd) -> i32 {
    i32::try_from(fd).unwrap_or(-1)
}

fn fd(raw: i32) -> Fd {
    Fd::try_from(raw).unwrap_or(Fd::MAX)
}

/// Names of descriptors mean the scripts' numbers, which lie `FD_SHIFT` lower than those of the system.
fn system_path(path: &[u8]) -> Result<CString> {
    let shifted = path
        .strip_prefix(b"/dev/fd/")
        .and_then(|n| std::str::from_utf8(n).ok()?.parse::<u32>().ok())
        .filter(|&n| n >= 3)
        .map(|n| format!("/dev/fd/{}", n + FD_SHIFT).into_bytes());
    CString::new(shifted.unwrap_or_else(|| path.to_vec())).map_err(|_| Errno::INVAL)
}

pub(crate) fn open(path: &[u8], how: Open) -> Result<Fd> {
    let path = system_path(path)?;
    let mut flags = libc::O_CLOEXEC;
    flags |= match (how.read, how.write) {
        (true, true) => libc::O_RDWR,
        (false, true) => libc::O_WRONLY,
        _ => libc::O_RDONLY,
    };
    for (wanted, flag) in [
        (how.append, libc::O_APPEND),
        (how.create, libc::O_CREAT),
        (how.exclusive, libc::O_EXCL),
        (how.truncate, libc::O_TRUNC),
        (how.directory, libc::O_DIRECTORY),
        (how.nonblock, libc::O_NONBLOCK),
    ] {
        if wanted {
            flags |= flag;
        }
    }
    // SAFETY: the path is NUL-terminated and live.
    check(unsafe { libc::open(path.as_ptr(), flags, 0o666) }).map(fd)
}

pub(crate) fn read(fd: Fd, into: &mut [u8]) -> Result<usize> {
    // SAFETY: the buffer is a live slice.
    let got = unsafe { libc::read(raw(fd), into.as_mut_ptr().cast(), into.len()) };
    usize::try_from(got).map_err(|_| last_error())
}

pub(crate) fn write(fd: Fd, from: &[u8]) -> Result<usize> {
    // SAFETY: the buffer is a live slice.
    let put = unsafe { libc::write(raw(fd), from.as_ptr().cast(), from.len()) };
    usize::try_from(put).map_err(|_| last_error())
}

pub(crate) fn seek(fd: Fd, by: i64) -> Result<u64> {
    // SAFETY: no memory is passed.
    let at = unsafe { libc::lseek(raw(fd), by, libc::SEEK_CUR) };
    u64::try_from(at).map_err(|_| last_error())
}

pub(crate) fn seek_to(fd: Fd, to: u64) -> Result<u64> {
    let to = i64::try_from(to).map_err(|_| Errno::INVAL)?;
    // SAFETY: no memory is passed.
    let at = unsafe { libc::lseek(raw(fd), to, libc::SEEK_SET) };
    u64::try_from(at).map_err(|_| last_error())
}

pub(crate) fn set_size(fd: Fd, size: u64) -> Result<()> {
    let size = i64::try_from(size).map_err(|_| Errno::FBIG)?;
    // SAFETY: no memory is passed.
    check(unsafe { libc::ftruncate(raw(fd), size) }).map(drop)
}

pub(crate) fn close(fd: Fd) -> Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::close(raw(fd)) }).map(drop)
}

pub(crate) fn pipe() -> Result<(Fd, Fd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` is a live local.
    check(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) })?;
    Ok((fd(ends[0]), fd(ends[1])))
}

pub(crate) fn dup(from: Fd, at_least: Fd) -> Result<Fd> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::fcntl(raw(from), libc::F_DUPFD_CLOEXEC, raw(at_least)) }).map(fd)
}

pub(crate) fn dup_to(fd: Fd, target: Fd) -> Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::dup2(raw(fd), raw(target)) }).map(drop)
}

/// Puts a descriptor that the process was started with where its number lies in the sandbox; says whether there is one.
pub(crate) fn inherit(n: u32, target: Fd) -> bool {
    // SAFETY: no memory is passed, and what is marked is closed only where another program starts.
    let flags = unsafe { libc::fcntl(raw(n), libc::F_GETFD) };
    let open = flags >= 0 && flags & libc::FD_CLOEXEC == 0 && dup_to(n, target).is_ok();
    if open {
        // SAFETY: as above.
        unsafe { libc::fcntl(raw(n), libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    open
}

pub(crate) fn is_terminal(fd: Fd) -> bool {
    // SAFETY: no memory is passed.
    unsafe { libc::isatty(raw(fd)) == 1 }
}

pub(crate) fn poll_read(fd: Fd, timeout_ns: u64) -> Result<Readiness> {
    let mut wanted = libc::pollfd { fd: raw(fd), events: libc::POLLIN, revents: 0 };
    let timeout_ms = i32::try_from(timeout_ns.div_ceil(1_000_000)).unwrap_or(i32::MAX);
    // SAFETY: `wanted` is one live entry.
    let ready = check(unsafe { libc::poll(&mut wanted, 1, timeout_ms) })?;
    Ok(if ready > 0 { Readiness::Ready } else { Readiness::TimedOut })
}

pub(crate) fn poll_both(read: Fd, write: Fd) -> Result<(bool, bool)> {
    let wanted = |fd, events| libc::pollfd { fd: raw(fd), events, revents: 0 };
    let mut both = [wanted(read, libc::POLLIN), wanted(write, libc::POLLOUT)];
    // SAFETY: `both` is two live entries.
    check(unsafe { libc::poll(both.as_mut_ptr(), 2, -1) })?;
    Ok((both[0].revents != 0, both[1].revents != 0))
}

fn stat_of(system: &libc::stat) -> Stat {
    let ns = |seconds: i64, nanoseconds: i64| {
        u64::try_from(seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)).unwrap_or(0)
    };
    Stat {
        ino: system.st_ino,
        nlink: system.st_nlink,
        size: u64::try_from(system.st_size).unwrap_or(0),
        atime_ns: ns(system.st_atime, system.st_atime_nsec),
        mtime_ns: ns(system.st_mtime, system.st_mtime_nsec),
        ctime_ns: ns(system.st_ctime, system.st_ctime_nsec),
        mode: system.st_mode,
        uid: system.st_uid,
        gid: system.st_gid,
        dev: system.st_dev as u32,
    }
}

pub(crate) fn stat(path: &[u8], follow: bool) -> Result<Stat> {
    let path = system_path(path)?;
    let mut out = std::mem::MaybeUninit::<libc::stat>::zeroed();
    let call = if follow { libc::stat } else { libc::lstat };
    // SAFETY: the path is NUL-terminated and live, `out` a live local.
    check(unsafe { call(path.as_ptr(), out.as_mut_ptr()) })?;
    // SAFETY: zeroed at first and written by the call.
    Ok(stat_of(&unsafe { out.assume_init() }))
}

pub(crate) fn fstat(fd: Fd) -> Result<Stat> {
    let mut out = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: `out` is a live local.
    check(unsafe { libc::fstat(raw(fd), out.as_mut_ptr()) })?;
    // SAFETY: zeroed at first and written by the call.
    Ok(stat_of(&unsafe { out.assume_init() }))
}

pub(crate) fn access(path: &[u8], mode: u32) -> Result<()> {
    let path = system_path(path)?;
    // SAFETY: the path is NUL-terminated and live.
    check(unsafe { libc::access(path.as_ptr(), mode as i32) }).map(drop)
}

pub(crate) fn chmod(path: &[u8], mode: u32) -> Result<()> {
    let path = system_path(path)?;
    // SAFETY: the path is NUL-terminated and live.
    check(unsafe { libc::chmod(path.as_ptr(), mode) }).map(drop)
}

pub(crate) fn umask(mask: u32) -> Result<u32> {
    // SAFETY: no memory is passed.
    let old = unsafe { libc::umask(mask & 0o777) };
    if mask == u32::MAX {
        // SAFETY: no memory is passed. The system has no way to ask without setting, so the old one is put back.
        unsafe { libc::umask(old) };
    }
    Ok(old)
}

pub(crate) fn chdir(path: &[u8]) -> Result<()> {
    let path = system_path(path)?;
    // SAFETY: the path is NUL-terminated and live.
    check(unsafe { libc::chdir(path.as_ptr()) }).map(drop)
}

pub(crate) fn getcwd(into: &mut [u8]) -> core::result::Result<usize, (Errno, usize)> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::env::current_dir().map_err(|_| (Errno::NOENT, 0))?;
    let bytes = path.as_os_str().as_bytes();
    let room = into.get_mut(..bytes.len()).ok_or((Errno::RANGE, bytes.len()))?;
    room.copy_from_slice(bytes);
    Ok(bytes.len())
}

/// Names the file that stands for the sandbox's memory of a shell session. Without it there is no session.
const SHELL_STATE: &str = "TIDEBOX_SHELL_STATE";
/// As much as a sandbox keeps unless it is told otherwise.
const SHELL_STATE_BYTES: usize = 4 << 20;

pub(crate) fn shell_state_read(into: &mut [u8]) -> core::result::Result<usize, (Errno, usize)> {
    let file = std::env::var_os(SHELL_STATE).ok_or((Errno::NOTSUP, 0))?;
    // Version 1, no flags, no variables of the request, and the state; a session begins without the file.
    let mut told = vec![1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    told.extend(std::fs::read(file).unwrap_or_default());
    let room = into.get_mut(..told.len()).ok_or((Errno::RANGE, told.len()))?;
    room.copy_from_slice(&told);
    Ok(told.len())
}

pub(crate) fn shell_state_write(state: &[u8]) -> Result<()> {
    let file = std::env::var_os(SHELL_STATE).ok_or(Errno::NOTSUP)?;
    if state.len() > SHELL_STATE_BYTES {
        return Err(Errno::TOOBIG);
    }
    std::fs::write(file, state).map_err(|error| errno_of(error.raw_os_error().unwrap_or(0)))
}

pub(crate) fn read_dir(path: &[u8]) -> Result<Vec<Entry>> {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::FileTypeExt;
    let failed = |error: std::io::Error| errno_of(error.raw_os_error().unwrap_or(0));
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(crate::path_of_bytes(path)).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let kind = match entry.file_type() {
            Ok(kind) if kind.is_dir() => FileKind::Dir,
            Ok(kind) if kind.is_file() => FileKind::File,
            Ok(kind) if kind.is_symlink() => FileKind::Symlink,
            Ok(kind) if kind.is_fifo() => FileKind::Pipe,
            _ => FileKind::Unknown,
        };
        entries.push(Entry { name: entry.file_name().as_bytes().to_vec(), kind });
    }
    Ok(entries)
}

pub(crate) fn read_link(path: &[u8]) -> Result<Vec<u8>> {
    use std::os::unix::ffi::OsStringExt;
    let target = std::fs::read_link(crate::path_of_bytes(path));
    target.map(|t| t.into_os_string().into_vec()).map_err(|e| errno_of(e.raw_os_error().unwrap_or(0)))
}

pub(crate) fn unlink(path: &[u8]) -> Result<()> {
    let path = system_path(path)?;
    // SAFETY: the path is NUL-terminated and live.
    check(unsafe { libc::unlink(path.as_ptr()) }).map(drop)
}

pub(crate) fn make_dir(path: &[u8]) -> Result<()> {
    let path = system_path(path)?;
    // SAFETY: the path is NUL-terminated and live.
    check(unsafe { libc::mkdir(path.as_ptr(), 0o777) }).map(drop)
}

pub(crate) fn remove_dir(path: &[u8]) -> Result<()> {
    let path = system_path(path)?;
    // SAFETY: the path is NUL-terminated and live.
    check(unsafe { libc::rmdir(path.as_ptr()) }).map(drop)
}

pub(crate) fn symlink(text: &[u8], path: &[u8]) -> Result<()> {
    let text = CString::new(text).map_err(|_| Errno::INVAL)?;
    let path = system_path(path)?;
    // SAFETY: both strings are NUL-terminated and live.
    check(unsafe { libc::symlink(text.as_ptr(), path.as_ptr()) }).map(drop)
}

pub(crate) fn make_fifo(path: &[u8], mode: u32) -> Result<()> {
    let path = system_path(path)?;
    // SAFETY: the path is NUL-terminated and live.
    check(unsafe { libc::mkfifo(path.as_ptr(), mode) }).map(drop)
}

pub(crate) fn link(existing: &[u8], path: &[u8]) -> Result<()> {
    let (existing, path) = (system_path(existing)?, system_path(path)?);
    // SAFETY: both paths are NUL-terminated and live.
    check(unsafe { libc::link(existing.as_ptr(), path.as_ptr()) }).map(drop)
}

pub(crate) fn rename(from: &[u8], to: &[u8]) -> Result<()> {
    let (from, to) = (system_path(from)?, system_path(to)?);
    // SAFETY: both paths are NUL-terminated and live.
    check(unsafe { libc::rename(from.as_ptr(), to.as_ptr()) }).map(drop)
}

pub(crate) fn set_times(path: &[u8], follow: bool, accessed: Time, changed: Time) -> Result<()> {
    let path = system_path(path)?;
    let system = |time| match time {
        Time::Keep => libc::timespec { tv_sec: 0, tv_nsec: libc::UTIME_OMIT },
        Time::At(ns) => libc::timespec {
            tv_sec: i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(ns % 1_000_000_000).unwrap_or(0),
        },
    };
    let times = [system(accessed), system(changed)];
    let flags = if follow { 0 } else { libc::AT_SYMLINK_NOFOLLOW };
    // SAFETY: the path is NUL-terminated and live, `times` are the two entries that the call reads.
    check(unsafe { libc::utimensat(libc::AT_FDCWD, path.as_ptr(), times.as_ptr(), flags) }).map(drop)
}

/// Starts a program in the way of the sandbox: the child gets the descriptors that the request names and no others.
pub(crate) fn spawn(request: &SpawnRequest<'_>) -> Result<u32> {
    let path = CString::new(request.path).map_err(|_| Errno::INVAL)?;
    let args = c_strings(request.args)?;
    let env = c_strings(request.env)?;
    let argv = pointers(&args);
    let envp = pointers(&env);
    let folder = CString::new(request.cwd).map_err(|_| Errno::INVAL)?;
    let (report_read, report_low) = pipe()?;
    // Where the caller has closed a standard descriptor the pipe could have its number, which the child's own takes.
    let report_write = dup(report_low, 300)?;
    let _ = close(report_low);
    // SAFETY: tests that reach this run a single thread, so the child may go on until it executes the program.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        // SAFETY: the string is NUL-terminated and live.
        let there = request.cwd.is_empty() || unsafe { libc::chdir(folder.as_ptr()) } == 0;
        if there && place_descriptors(request.fds).is_ok() {
            if request.group == 1 {
                // SAFETY: no memory is passed.
                unsafe { libc::setpgid(0, 0) };
            }
            for signal in 1..32 {
                let how = if request.ignored >> signal & 1 == 1 { libc::SIG_IGN } else { libc::SIG_DFL };
                // SAFETY: both dispositions are the system's own.
                unsafe { libc::signal(signal, how) };
            }
            // SAFETY: all strings are NUL-terminated and live, and both lists end with a null pointer.
            unsafe { libc::execve(path.as_ptr(), argv.as_ptr(), envp.as_ptr()) };
        }
        // The parent waits at the other end for an error number, or for the end of the pipe when the program started.
        let code = last_error().0.to_le_bytes();
        let _ = write(report_write, &code);
        exit(127);
    }
    let _ = close(report_write);
    let mut code = [0; 2];
    let failed = pid < 0 || read(report_read, &mut code) == Ok(2);
    let _ = close(report_read);
    if failed {
        if pid > 0 {
            let _ = wait(pid, true);
        }
        return Err(Errno(u16::from_le_bytes(code)));
    }
    Ok(pid as u32)
}

fn c_strings(list: &[&[u8]]) -> Result<Vec<CString>> {
    list.iter().map(|s| CString::new(*s).map_err(|_| Errno::INVAL)).collect()
}

fn pointers(list: &[CString]) -> Vec<*const libc::c_char> {
    list.iter().map(|s| s.as_ptr()).chain([core::ptr::null()]).collect()
}

/// Puts the child's descriptors where its own numbers are. Copies first, so that none is overwritten before its turn.
fn place_descriptors(fds: &[(Fd, Fd)]) -> Result<()> {
    let mut copies = Vec::with_capacity(fds.len());
    for &(child, own) in fds {
        copies.push((crate::unix_of_fd(child).ok_or(Errno::BADF)?, dup(own, 300)?));
    }
    // SAFETY: no memory is passed; what is closed here belongs to the shell and was copied above when the child wants it.
    unsafe { libc::close_range(0, 2, 0) };
    for (target, copy) in copies {
        dup_to(copy, target)?;
    }
    Ok(())
}

pub(crate) fn fork<'a>(child: Box<dyn FnOnce() + 'a>) -> Result<u32> {
    // SAFETY: tests that reach this run a single thread.
    match unsafe { libc::fork() } {
        0 => {
            child();
            exit(0)
        }
        pid if pid > 0 => Ok(pid as u32),
        _ => Err(last_error()),
    }
}

pub(crate) fn wait(pid: i32, block: bool) -> Result<Option<Waited>> {
    let mut status = 0;
    // SAFETY: `status` is a live local.
    let ended = check(unsafe { libc::waitpid(pid, &mut status, if block { 0 } else { libc::WNOHANG }) })?;
    let status = if libc::WIFSIGNALED(status) {
        Status::Killed(libc::WTERMSIG(status) as u8)
    } else {
        Status::Exited(libc::WEXITSTATUS(status) as u8)
    };
    Ok((ended > 0).then_some(Waited { pid: ended as u32, status }))
}

pub(crate) fn getids() -> Result<Ids> {
    // SAFETY: none of these takes memory or fails.
    let (pid, ppid, pgid, uid, gid) =
        unsafe { (libc::getpid(), libc::getppid(), libc::getpgrp(), libc::getuid(), libc::getgid()) };
    Ok(Ids { pid: pid as u32, ppid: ppid as u32, pgid: pgid as u32, uid, gid })
}

pub(crate) fn setpgid(pid: u32, pgid: u32) -> Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::setpgid(pid as i32, pgid as i32) }).map(drop)
}

pub(crate) fn kill(pid: i32, signal: u32) -> Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { libc::kill(pid, signal as i32) }).map(drop)
}

extern "C" fn note(signal: i32) {
    NOTED.fetch_or(1 << (signal & 63), Ordering::SeqCst);
}

pub(crate) fn sig_set(signal: u32, disposition: u32) -> Result<()> {
    // SAFETY: the all-zero value is a valid `sigaction`: no flags (so that blocking calls end with `INTR`), empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = match disposition {
        0 => libc::SIG_DFL,
        1 => libc::SIG_IGN,
        _ => note as *const () as usize,
    };
    // SAFETY: `action` is a live local whose handler only touches an atomic.
    check(unsafe { libc::sigaction(signal as i32, &action, core::ptr::null_mut()) }).map(drop)
}

pub(crate) fn sig_take() -> Result<u64> {
    Ok(NOTED.swap(0, Ordering::SeqCst))
}

pub(crate) fn limits() -> Result<Limits> {
    Ok(Limits {
        process_memory_bytes: 512 << 20,
        file_bytes: 512 << 20,
        descriptors: 1024,
        processes: 256,
        nesting: 1000,
    })
}

pub(crate) fn exit(code: u8) -> ! {
    // SAFETY: the call does not return; no exit functions run, as in the sandbox.
    unsafe { libc::_exit(i32::from(code)) }
}

pub(crate) fn started() -> Started {
    // Only those that scripts can name by one digit: higher ones are those of whoever runs the tests.
    let open = (3..10).filter(|&n| inherit(n, n + FD_SHIFT)).fold(0b111, |set, n| set | 1 << n);
    let list = |strings: Vec<Vec<u8>>| strings.into_iter().flat_map(|string| string.into_iter().chain([0])).collect();
    Started {
        keeps_state: std::env::var_os(SHELL_STATE).is_some(),
        at_ns: clock(1),
        ignored: (1..32).filter(|&signal| is_ignored(signal)).fold(0, |set, signal| set | 1 << signal),
        descriptors: open,
        cwd: crate::getcwd().unwrap_or_default(),
        args: list(args()),
        environ: list(environ()),
    }
}

fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: asking changes nothing, and zeroes are a valid action where the number is none of a signal.
    let action = unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    action.sa_sigaction == libc::SIG_IGN
}

pub(crate) fn args() -> Vec<Vec<u8>> {
    use std::os::unix::ffi::OsStringExt;
    std::env::args_os().map(OsStringExt::into_vec).collect()
}

pub(crate) fn environ() -> Vec<Vec<u8>> {
    use std::os::unix::ffi::OsStringExt;
    // The file of the session belongs to this border and not to what runs on it.
    std::env::vars_os()
        .filter(|(name, _)| name != SHELL_STATE)
        .map(|(name, value)| {
            let mut line = name.into_vec();
            line.push(b'=');
            line.extend_from_slice(&value.into_vec());
            line
        })
        .collect()
}

pub(crate) fn clock(id: u32) -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a live local.
    unsafe { libc::clock_gettime(if id == 0 { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC }, &mut now) };
    (now.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(now.tv_nsec as u64)
}

pub(crate) fn random(into: &mut [u8]) -> Result<()> {
    // SAFETY: the buffer is a live slice.
    let got = unsafe { libc::getrandom(into.as_mut_ptr().cast(), into.len(), 0) };
    if usize::try_from(got) == Ok(into.len()) { Ok(()) } else { Err(last_error()) }
}
