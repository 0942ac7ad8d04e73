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
#[cfg(feature = "remote")]
mod by_name;
mod cassette_file;
#[cfg(feature = "emulators")]
mod emulated;
mod host;
mod pack;
#[cfg(doctest)]
mod pages;
mod pip;
mod provider;
mod python_session;
mod runtime;
mod store;

#[cfg(feature = "remote")]
pub use by_name::{LOCAL, create_sandbox, provider_by_name};
pub use cassette_file::CassetteFile;
#[cfg(feature = "emulators")]
pub use emulated::emulate;
pub use pack::{PackState, Packs, ReadyPack};
pub use pip::PipExt;
pub use provider::{ProviderBuilder, provider};
pub use python_session::{PythonError, PythonExt, PythonResponse, PythonSession};
pub use runtime::{Runtime, RuntimeConfig, sandbox};
pub use store::FolderStore;
pub use tidebox_core::*;
#[cfg(feature = "emulators")]
pub use tidebox_emulators as emulators;
#[cfg(unix)]
pub use tidebox_mounts::{HostDir, MountError};
pub use tidebox_mounts::{MountExt, MountMode, SandboxFs, SeedFolder, VfsMount, mounting};
pub use tidebox_network::NativeGateway;
pub use tidebox_packs::WheelSource;
#[cfg(feature = "remote")]
pub use tidebox_remote_adapters as remote;
pub use tidebox_vfs_backend::{
    BaseImage, Change, ContentChange, Holdings, Look, Planter, Program, SandboxBuilder, SavedSandbox, Saving, Side,
    Snapshot, SnapshotDiff, SnapshotStore, Usage, VfsBackend as Sandbox, VfsProvider as Provider,
};
pub use tidebox_wasi_runner::CacheDir;
