//! Host directories and other file systems inside a sandbox, and a sandbox's files as a `vfs` file system.
//!
//! [`HostDir`] is a host directory opened with `cap-std`, [`VfsMount`] any file system of the `vfs` crate, and [`SandboxFs`] the
//! other direction: a sandbox's files for programs that use `vfs`. [`MountExt`] adds the first two to a sandbox builder;
//! [`mount_api`] is the port for other file systems.

#![forbid(unsafe_code)]

mod builder;
#[cfg(unix)]
mod host_dir;
#[cfg(feature = "vfs")]
mod sandbox_fs;
mod seed_dir;
#[cfg(test)]
mod testing;
#[cfg(feature = "vfs")]
mod vfs_crate;

pub use builder::MountExt;
#[cfg(unix)]
pub use host_dir::{HostDir, MountError};
#[cfg(feature = "vfs")]
pub use sandbox_fs::SandboxFs;
pub use seed_dir::SeedDir;
pub use tidebox_kernel::fs::{Mount, MountMode};
#[cfg(feature = "vfs")]
pub use vfs_crate::VfsMount;

/// The port: traits and types for a file system that is mounted by
/// [`SandboxBuilder::mount`](tidebox_vfs_backend::SandboxBuilder::mount).
pub mod mount_api {
    pub use tidebox_kernel::Errno;
    pub use tidebox_kernel::fs::{Access, Contents, EntryKind, Metadata, Mount, MountFile, MountMode, WriteSupport};
}
