//! What a program finds when it starts: its arguments and its environment, the shell session, the clock and chance.

use super::exit;
use super::raw::{tidebox, wasi};
use crate::errno::check;
use crate::{Errno, Result, Started};

pub(crate) fn started() -> Started {
    let mut bytes = vec![0; Started::FIRST_BYTES];
    loop {
        let mut len = 0;
        // SAFETY: the buffer is a live slice, `len` a live local.
        let code = unsafe { tidebox::started(bytes.as_mut_ptr(), bytes.len(), &mut len) };
        if check(code) != Err(Errno::RANGE) || len <= bytes.len() {
            let told = Started::decode(bytes.get(..len).unwrap_or_default());
            return told.unwrap_or_else(|| another_version());
        }
        bytes.resize(len, 0);
    }
}

/// Ends the program: without its arguments it would do something else than it was asked for.
fn another_version() -> ! {
    let message =
        b"tidebox: this program and the sandbox around it are of different versions: build or install both anew\n";
    // Nothing is left to do for one whose messages cannot be written.
    let _ = crate::write_all(2, message);
    exit(126)
}

/// The length written, or the error together with the length that was needed.
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

/// Fetches a list of NUL-terminated strings. The strings lie one after the other, so the pointers are not needed.
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
    // SAFETY: `now` is a live local. The two clocks asked for always exist, so the code says nothing.
    unsafe { wasi::clock_time_get(id, 1, &mut now) };
    now
}

pub(crate) fn random(into: &mut [u8]) -> Result<()> {
    // SAFETY: the buffer is a live slice.
    check(unsafe { wasi::random_get(into.as_mut_ptr(), into.len()) })
}
