//! Packs: optional runtimes that are fetched once, verified by pinned hashes, and kept in the user's cache folder.
//!
//! This crate knows what a pack consists of and how it comes onto the machine. It runs nothing of it: making the code
//! ready is the business of whoever has an engine.

mod archive;
mod error;
mod fetch;
mod pack;
mod pin;
#[cfg(test)]
mod resume_tests;
mod store;
#[cfg(test)]
mod tests;
mod tree;

pub use error::PackError;
pub use fetch::{WheelSource, fetch_wheels};
pub use pack::{PACKS, PYTHON, Pack, Wheel, find};
pub use pin::Pin;
pub use store::{Installed, Record, Staged, Store};
pub use tree::TreeFile;
