//! Startup information of a program: arguments, environment, shell session, clock and randomness.

use super::exit;
use super::raw::{tidebox, wasi};
use crate::errno::check;
use crate::{Errno, Result, StartupInfo};

pub(crate) fn startup_info() -> StartupInfo {
    let mut bytes = vec![0; StartupInfo::FIRST_BYTES];
    loop {
        let mut len = 0;
        // SAFETY: the buffer is a live slice, `len` a live local.
        let code = unsafe { tidebox::startup_info(bytes.as_mut_ptr(), bytes.len(), &mut len) };
        if check(code) != Err(Errno::RANGE) || len <= bytes.len() {
            let encoded = StartupInfo::decode(bytes.get(..len).unwrap_or_default());
            return encoded.unwrap_or_else(|| another_version());
        }
        bytes.resize(len, 0);
    }
}

/// Exits the program: without its arguments it would do something other than requested.
fn another_version() -> ! {
    let message =
        b"tidebox: this program and the sandbox around it are of different versions: build or install both anew\n";
    // A failure to write the message cannot be reported.
    let _ = crate::write_all(2, message);
    exit(126)
}

/// Returns the length written, or the error together with the length needed.
pub(crate) fn shell_state_read(into: &mut [u8]) -> core::result::Result<usize, (Errno, usize)> {
    let mut len = 0;
    // SAFETY: the buffer is a live slice, `len` a live local.
    let code = unsafe { tidebox::shell_state_read(into.as_mut_ptr(), into.len(), &mut len) };
    check(code).map(|()| len.min(into.len())).map_err(|errno| (errno, len))
}

pub(crate) fn shell_state_write(state: &[u8]) -> Result<()> {
    // SAFETY: the state is a live slice.
    check(unsafe { tidebox::shell_state_write(state.as_ptr(), state.len()) })
}

pub(crate) fn args() -> Vec<Vec<u8>> {
    strings(wasi::args_sizes_get, wasi::args_get)
}

pub(crate) fn environ() -> Vec<Vec<u8>> {
    strings(wasi::environ_sizes_get, wasi::environ_get)
}

type Sizes = unsafe extern "C" fn(*mut usize, *mut usize) -> i32;
type Fill = unsafe extern "C" fn(*mut *mut u8, *mut u8) -> i32;

/// Fetches a list of NUL-terminated strings. The strings are contiguous, so the pointers are not needed.
fn strings(sizes: Sizes, fill: Fill) -> Vec<Vec<u8>> {
    let (mut count, mut len) = (0, 0);
    // SAFETY: both are live locals.
    if unsafe { sizes(&mut count, &mut len) } != 0 {
        return Vec::new();
    }
    let mut pointers = vec![core::ptr::null_mut(); count];
    let mut bytes = vec![0; len];
    // SAFETY: both buffers have the sizes that the kernel just named.
    if unsafe { fill(pointers.as_mut_ptr(), bytes.as_mut_ptr()) } != 0 {
        return Vec::new();
    }
    bytes.split(|&b| b == 0).take(count).map(<[u8]>::to_vec).collect()
}

pub(crate) fn clock(id: u32) -> u64 {
    let mut now = 0;
    // SAFETY: `now` is a live local. The two clocks used always exist, so the error code is ignored.
    unsafe { wasi::clock_time_get(id, 1, &mut now) };
    now
}

pub(crate) fn random(into: &mut [u8]) -> Result<()> {
    // SAFETY: the buffer is a live slice.
    check(unsafe { wasi::random_get(into.as_mut_ptr(), into.len()) })
}
