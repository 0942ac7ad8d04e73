//! Recursion limit. Each pending call of a recursive filter uses native stack, and a guest that overflows it is killed without a
//! message.

use std::cell::Cell;

use jaq_core::Error;

use crate::value::{Val, fault};

/// Maximum use of the linear memory stack in bytes. That stack is far larger; the first one to overflow holds the values that
/// the compiler keeps outside linear memory, and is 2 MiB. Endlessly recursive programs of about twenty shapes all hit this
/// limit and none overflowed that stack.
const MAX_BYTES: usize = if cfg!(target_family = "wasm") { 1_400_000 } else { 5_000_000 };

thread_local! {
    /// Stack address at the start.
    static START: Cell<usize> = const { Cell::new(0) };
}

/// An address in the current stack frame.
#[inline(never)]
fn here() -> usize {
    let marker = 0_u8;
    std::hint::black_box(&raw const marker).addr()
}

/// Records the stack address at the start.
pub(crate) fn start() {
    START.set(here());
}

/// Returns `value`, unless too little stack is left.
pub(crate) fn checked<T>(value: T) -> Result<T, Error<Val>> {
    let used = START.get().saturating_sub(here());
    if used > MAX_BYTES { Err(fault("recursion is too deep")) } else { Ok(value) }
}
