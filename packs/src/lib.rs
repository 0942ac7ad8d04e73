//! Packs: optional runtimes that are downloaded once, verified by pinned hashes, and stored in the user's cache directory.
//!
//! This crate defines the contents of packs and installs them on the host. It does not run them: precompiling is done by the
//! crate with the engine.

mod archive;
mod error;
mod fetch;
mod pack;
mod pin;
mod program;
mod progress;
mod python;
#[cfg(test)]
mod resume_tests;
mod store;
#[cfg(test)]
mod tests;
mod tree;

pub use error::PackError;
pub use fetch::{WheelSource, fetch_wheels};
pub use pack::{PACKS, PYTHON, PYTHON_SLIM, Pack, Wheel, find};
pub use pin::PinnedWheel;
pub use program::{GIT, InstalledProgram, NODE, PROGRAM_PACKS, ProgramPack, find_program};
pub use progress::{ByteCount, PackProgress};
pub use python::PYTHON_SOURCES;
pub use store::{InstalledPack, PackManifest, PackStore, StagedPack};
pub use tree::TreeFile;
