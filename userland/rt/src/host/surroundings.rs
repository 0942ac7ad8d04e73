//! Startup information of a program: arguments, environment, shell session, clock and randomness.

use super::errno::{errno_of, last_error};
use super::process::is_ignored;
use super::{FD_SHIFT, inherit};
use crate::{Errno, Result, StartupInfo};

/// Path of the file that stores the shell session. Without it no session exists.
const SHELL_STATE: &str = "TIDEBOX_SHELL_STATE";
/// Default session size limit of a sandbox.
const SHELL_STATE_BYTES: usize = 4 << 20;

pub(crate) fn shell_state_read(into: &mut [u8]) -> core::result::Result<usize, (Errno, usize)> {
    let file = std::env::var_os(SHELL_STATE).ok_or((Errno::NOTSUP, 0))?;
    // Version 1, no flags, no variables of the request, and the state. A new session has no file.
    let mut encoded = vec![1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    encoded.extend(std::fs::read(file).unwrap_or_default());
    let room = into.get_mut(..encoded.len()).ok_or((Errno::RANGE, encoded.len()))?;
    room.copy_from_slice(&encoded);
    Ok(encoded.len())
}

pub(crate) fn shell_state_write(state: &[u8]) -> Result<()> {
    let file = std::env::var_os(SHELL_STATE).ok_or(Errno::NOTSUP)?;
    if state.len() > SHELL_STATE_BYTES {
        return Err(Errno::TOOBIG);
    }
    std::fs::write(file, state).map_err(|error| errno_of(error.raw_os_error().unwrap_or(0)))
}

pub(crate) fn startup_info() -> StartupInfo {
    // Only the descriptors that scripts can address with one digit: higher ones belong to the test runner.
    let open = (3..10).filter(|&n| inherit(n, n + FD_SHIFT)).fold(0b111, |set, n| set | 1 << n);
    let list = |strings: Vec<Vec<u8>>| strings.into_iter().flat_map(|string| string.into_iter().chain([0])).collect();
    StartupInfo {
        keeps_state: std::env::var_os(SHELL_STATE).is_some(),
        at_ns: clock(1),
        ignored: (1..32).filter(|&signal| is_ignored(signal)).fold(0, |set, signal| set | 1 << signal),
        descriptors: open,
        cwd: crate::getcwd().unwrap_or_default(),
        args: list(args()),
        environ: list(environ()),
    }
}

pub(crate) fn args() -> Vec<Vec<u8>> {
    use std::os::unix::ffi::OsStringExt;
    std::env::args_os().map(OsStringExt::into_vec).collect()
}

pub(crate) fn environ() -> Vec<Vec<u8>> {
    use std::os::unix::ffi::OsStringExt;
    // The session file belongs to this ABI implementation, not to its callers.
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
