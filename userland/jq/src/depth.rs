//! The bound of recursion. A filter that calls itself takes some of the machine's stack for each call that has not
//! ended, and a guest that runs out of it is killed without a word.

use std::cell::Cell;

use jaq_core::Error;

use crate::value::{Val, fault};

/// Bytes of the stack in memory that may be in use. That stack is far larger; the one that ends first holds what the
/// compiler keeps out of memory, and is 2 MiB. Programs of some twenty shapes that recurse without end were all ended by this
/// number, and none by that stack.
const MOST_BYTES: usize = if cfg!(target_family = "wasm") { 1_400_000 } else { 5_000_000 };

thread_local! {
    /// Where the stack was at the beginning.
    static START: Cell<usize> = const { Cell::new(0) };
}

/// The address of something on the stack.
#[inline(never)]
fn here() -> usize {
    let marker = 0_u8;
    std::hint::black_box(&raw const marker).addr()
}

/// Notes where the stack begins.
pub(crate) fn start() {
    START.set(here());
}

/// Hands `value` on, unless there is too little stack left.
pub(crate) fn checked<T>(value: T) -> Result<T, Error<Val>> {
    let used = START.get().saturating_sub(here());
    if used > MOST_BYTES { Err(fault("recursion is too deep")) } else { Ok(value) }
}
