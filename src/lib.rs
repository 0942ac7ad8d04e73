//! A whole sandbox inside your process for code that language models write.
//!
//! ```no_run
//! use tidebox::{ExecuteRequest, SandboxBackend};
//!
//! # async fn example() -> tidebox::Result<()> {
//! let sandbox = tidebox::sandbox()?.build()?;
//! let response = sandbox.execute(ExecuteRequest::new("seq 3 | sort -r")).await?;
//! assert_eq!(response.stdout, b"3\n2\n1\n");
//! # Ok(())
//! # }
//! ```
//!
//! This crate puts the parts together: the contract (`tidebox-core`), the kernel, the Wasmtime engine, the development
//! backend and the programs of the userland.

#![forbid(unsafe_code)]

mod atomic_file;
mod cassette_file;
mod host;
mod pack;
#[cfg(doctest)]
mod pages;
mod provider;
mod runtime;
mod store;

pub use cassette_file::CassetteFile;
pub use pack::{PackState, Packs, ReadyPack};
pub use provider::{ProviderBuilder, provider};
pub use runtime::{Runtime, RuntimeConfig, sandbox};
pub use store::FolderStore;
pub use tidebox_core::*;
#[cfg(unix)]
pub use tidebox_mounts::{HostDir, MountError};
pub use tidebox_mounts::{MountExt, MountMode, SandboxFs, SeedFolder, VfsMount, mounting};
pub use tidebox_network::NativeGateway;
pub use tidebox_vfs_backend::{
    BaseImage, Change, ContentChange, Look, Planter, Program, SandboxBuilder, SavedSandbox, Saving, Side, Snapshot,
    SnapshotDiff, SnapshotStore, VfsBackend as Sandbox, VfsProvider as Provider,
};
pub use tidebox_wasi_runner::CacheDir;
