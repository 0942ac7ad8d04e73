//! An in-process sandbox for code written by language models.
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
//! This crate combines the backend contract (`tidebox-core`), the kernel, the Wasmtime engine, the local backend and the
//! userland.

#![forbid(unsafe_code)]

mod atomic_file;
mod cassette_file;
#[cfg(test)]
mod choices;
#[cfg(feature = "cli")]
#[path = "../cli/mod.rs"]
mod cli;
#[cfg(all(target_os = "linux", feature = "confine"))]
mod confine;
#[cfg(doctest)]
mod doc_tests;
#[cfg(feature = "emulators")]
mod emulate;
#[cfg(feature = "service")]
pub mod fleet;
mod pack;
mod pip;
#[cfg(feature = "ports")]
mod ports;
mod provider;
#[cfg(feature = "remote")]
mod providers;
mod python_session;
mod runtime;
#[cfg(feature = "service")]
mod saved_service;
pub mod stores;
mod system;
#[cfg(all(test, any(feature = "nats", feature = "object-store")))]
mod test_server;

pub use cassette_file::CassetteFile;
#[cfg(feature = "cli")]
pub use cli::{prepare_pack, report_compilation, report_pack_compilation, run_command};
#[cfg(all(target_os = "linux", feature = "confine"))]
pub use confine::Confinement;
#[cfg(feature = "service")]
pub use emulate::service_sandboxes;
#[cfg(feature = "emulators")]
pub use emulate::{emulate, emulated_sandboxes};
pub use pack::{InstalledPack, PackState, Packs, set_pack_support};
pub use pip::PipExt;
#[cfg(feature = "ports")]
pub use ports::{ExposedPort, PortExt, PortStream};
pub use provider::{ProviderBuilder, provider};
#[cfg(feature = "remote")]
pub use providers::{LOCAL, create_sandbox, provider_by_name};
pub use python_session::{PythonError, PythonExt, PythonResponse, PythonSession, SavedPythonSession};
pub use runtime::{Runtime, RuntimeConfig, sandbox, set_installation, write_archive};
#[cfg(feature = "service")]
pub use saved_service::SavedSandboxes;
pub use stores::{ChainStore, DirStore, FolderLog, SaveLog};
pub use tidebox_core::*;
#[cfg(feature = "emulators")]
pub use tidebox_emulators as emulators;
#[cfg(unix)]
pub use tidebox_mounts::{HostDir, MountError};
pub use tidebox_mounts::{MountExt, MountMode, SandboxFs, SeedDir, VfsMount, mount_api};
pub use tidebox_network::NativeGateway;
pub use tidebox_packs::{ByteCount, PackProgress, WheelSource};
#[cfg(feature = "remote")]
pub use tidebox_remote_adapters as remote;
#[cfg(feature = "service")]
pub use tidebox_service as service;
pub use tidebox_vfs_backend::{
    BaseImage, Change, ContentChange, DiffSide, Durability, FileAttributes, FileUsage, Program, ResourceUsage,
    SandboxBuilder, SavePolicy, SaveRequest, SavedFiles, SavedSandbox, SeedWriter, Snapshot, SnapshotDiff,
    SnapshotStore, VfsBackend as Sandbox, VfsProvider as Provider,
};
pub use tidebox_wasi_runner::{CacheDir, ProgramArchive};
