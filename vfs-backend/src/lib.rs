//! The local backend: the whole contract, implemented on a kernel in this process.
//!
//! File operations work on the kernel's files directly, without a process and without a shell, so they are fast and
//! accept any name. `execute` starts `/bin/bash -c` in the kernel and runs it with an engine. The engine, the clock,
//! the randomness and the installed programs are parameters: this crate uses no host resources and builds for browsers.

#![forbid(unsafe_code)]

mod backend;
mod background;
mod builder;
mod execute;
mod file;
mod file_error;
mod host_tool;
mod image;
mod interactive;
mod mount;
mod network;
mod port;
mod provider;
mod remove;
mod search;
mod seed;
mod shell_state;
mod snapshot;
mod tar;
mod tool;
mod transfer;
mod yield_now;
mod zoneinfo;

pub use backend::VfsBackend;
pub use background::Tasks;
pub use builder::SandboxBuilder;
pub use image::{BaseFile, BaseImage, Program};
pub use interactive::{InteractiveCommand, InteractiveProcess, InteractiveResponse};
pub use port::ExposePorts;
pub use provider::{
    Durability, ProviderSettings, SavePolicy, SaveRequest, SavedBackend, SavedFiles, SavedSandbox, SnapshotStore,
    VfsProvider,
};
pub use seed::{FileAttributes, SeedWriter};
pub use snapshot::{
    Change, ContentChange, DiffSide, Packing, Snapshot, SnapshotDiff, process_from_bytes, process_to_bytes,
};
pub use tidebox_kernel::fs::FileBytes;
pub use tidebox_kernel::{ResourceUsage, fs::FileUsage};

/// User of all processes in the sandbox, with whose permissions the caller's file operations are checked.
const USER: tidebox_kernel::fs::Cred = tidebox_kernel::fs::Cred { uid: 1000, gid: 1000 };

/// The host, which bypasses permission checks.
const ROOT: tidebox_kernel::fs::Cred = tidebox_kernel::fs::Cred { uid: 0, gid: 0 };

#[cfg(test)]
mod tests;
