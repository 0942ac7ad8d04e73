//! The development backend: the whole contract over a kernel in this process.
//!
//! File operations work on the kernel's files directly, without a process and without a shell, so they are fast and take
//! any name. `execute` starts `/bin/bash -c` in the kernel and lets an engine run it. The engine, the clock, the
//! randomness and the installed programs are handed in: this crate does nothing by itself and builds for browsers.

#![forbid(unsafe_code)]

mod backend;
mod builder;
mod compact;
mod conversation;
mod execute;
mod file;
mod host_tool;
mod image;
mod mount;
mod network;
mod plant;
mod provider;
mod refusal;
mod remove;
mod search;
mod seed;
mod shell_state;
mod snapshot;
mod tar;
mod tool;
mod transfer;
mod turn;
mod zoneinfo;

pub use backend::VfsBackend;
pub use builder::SandboxBuilder;
pub use conversation::{Answer, Conversation, Opening};
pub use image::{BaseImage, Program};
pub use plant::{Look, Planter};
pub use provider::{ProviderSettings, SavedSandbox, Saving, SnapshotStore, VfsProvider};
pub use snapshot::{Change, ContentChange, Side, Snapshot, SnapshotDiff};
pub use tidebox_kernel::fs::FileBytes;
pub use tidebox_kernel::{Holdings, fs::Usage};

/// The user that everything inside runs as, and as whom the host's file operations are checked.
const USER: tidebox_kernel::fs::Cred = tidebox_kernel::fs::Cred { uid: 1000, gid: 1000 };

/// The host itself, whom no mode bit stops.
const ROOT: tidebox_kernel::fs::Cred = tidebox_kernel::fs::Cred { uid: 0, gid: 0 };

#[cfg(test)]
mod tests;
