//! Processes and their signals.

use std::ffi::CString;
use std::sync::atomic::{AtomicU64, Ordering};

use super::errno::{check, last_error};
use super::{close, dup, dup_to, pipe, read, write};
use crate::{ChildChange, CpuTimes, Errno, ExitStatus, Fd, Ids, Limits, Result, SpawnRequest, WaitResult};

/// Caught signals that are pending.
static NOTED: AtomicU64 = AtomicU64::new(0);

/// Starts a program as the sandbox does: the child gets only the descriptors listed in the request.
pub(crate) fn spawn(request: &SpawnRequest<'_>) -> Result<u32> {
    let path = CString::new(request.path).map_err(|_| Errno::INVAL)?;
    let args = c_strings(request.args)?;
    let env = c_strings(request.env)?;
    let argv = pointers(&args);
    let envp = pointers(&env);
    let folder = CString::new(request.cwd).map_err(|_| Errno::INVAL)?;
    let (report_read, report_low) = pipe()?;
    // If the caller has closed a standard descriptor, the pipe could get its number, which the child's own descriptor needs.
    let report_write = dup(report_low, 300)?;
    let _ = close(report_low);
    // SAFETY: tests that reach this run a single thread, so the child may run until it executes the program.
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
        // The parent waits at the other end for an error number, or for the end of the pipe when the program has started.
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

/// Moves the child's descriptors to their numbers. Copies first, so that none is overwritten before it is copied.
fn place_descriptors(fds: &[(Fd, Fd)]) -> Result<()> {
    let mut copies = Vec::with_capacity(fds.len());
    for &(child, own) in fds {
        copies.push((crate::unix_of_fd(child).ok_or(Errno::BADF)?, dup(own, 300)?));
    }
    // SAFETY: no memory is passed; what is closed here belongs to the shell and was copied above if the child needs it.
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

/// The pid is 0 if no child has changed.
fn wait_raw(pid: i32, block: bool, options: i32) -> Result<(u32, i32)> {
    let mut status = 0;
    let options = options | if block { 0 } else { libc::WNOHANG };
    // SAFETY: `status` is a live local.
    let changed = check(unsafe { libc::waitpid(pid, &mut status, options) })?;
    Ok((changed as u32, status))
}

fn decode(status: i32) -> ExitStatus {
    if libc::WIFSIGNALED(status) {
        ExitStatus::Killed(libc::WTERMSIG(status) as u8)
    } else {
        ExitStatus::Exited(libc::WEXITSTATUS(status) as u8)
    }
}

pub(crate) fn wait(pid: i32, block: bool) -> Result<Option<WaitResult>> {
    let (pid, status) = wait_raw(pid, block, 0)?;
    Ok((pid > 0).then_some(WaitResult { pid, status: decode(status) }))
}

pub(crate) fn wait_change(pid: i32, block: bool) -> Result<Option<(u32, ChildChange)>> {
    let (pid, status) = wait_raw(pid, block, libc::WUNTRACED)?;
    let change = if libc::WIFSTOPPED(status) {
        ChildChange::Stopped(libc::WSTOPSIG(status) as u8)
    } else {
        ChildChange::Ended(decode(status))
    };
    Ok((pid > 0).then_some((pid, change)))
}

pub(crate) fn getids() -> Result<Ids> {
    // SAFETY: none of these takes memory or fails.
    let (pid, ppid, pgid, uid, gid) =
        unsafe { (libc::getpid(), libc::getppid(), libc::getpgrp(), libc::getuid(), libc::getgid()) };
    Ok(Ids { pid: pid as u32, ppid: ppid as u32, pgid: pgid as u32, uid, gid })
}

pub(crate) fn cpu_times() -> CpuTimes {
    let used = |who| {
        // SAFETY: the structure is a live local, and all of its bytes may be zero.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `usage` is a live local.
        unsafe { libc::getrusage(who, &mut usage) };
        let nanos = |time: libc::timeval| (time.tv_sec as u64) * 1_000_000_000 + (time.tv_usec as u64) * 1000;
        nanos(usage.ru_utime) + nanos(usage.ru_stime)
    };
    CpuTimes { own: used(libc::RUSAGE_SELF), children: used(libc::RUSAGE_CHILDREN) }
}

/// Only a sandbox records it.
pub(crate) fn nesting_reached() {}

pub(crate) fn nice(increment: i32) -> Result<i32> {
    if increment < 0 {
        return Err(Errno::PERM);
    }
    // SAFETY: no memory is passed. Raising the niceness does not fail.
    Ok(unsafe { libc::nice(increment) })
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

pub(super) fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: a query changes nothing, and zeroes are a valid action if the number is not a signal.
    let action = unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr());
        action.assume_init()
    };
    action.sa_sigaction == libc::SIG_IGN
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
