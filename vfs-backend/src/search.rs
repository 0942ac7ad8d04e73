//! `glob` and `grep` over the kernel's files.

mod glob;
mod grep;
mod lines;
mod walk;

pub(crate) use glob::glob;
pub(crate) use grep::grep;

/// Entries that one search may visit. The default limits allow a fifth of it; it bounds what a raised limit can cost.
const VISITS: usize = 1_000_000;

/// Entries that are visited in one go, under the kernel's lock, before others have a turn.
const VISITS_PER_TURN: usize = 2048;
