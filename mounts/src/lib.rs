//! Folders of the host and foreign file systems inside a sandbox, and a sandbox's files as a foreign file system.
//!
//! [`HostDir`] is a folder of the host behind `cap-std`, [`VfsMount`] any file system of the `vfs` crate, and
//! [`SandboxFs`] the other direction: a sandbox for programs that speak `vfs`. [`MountExt`] puts the first two into a
//! sandbox that is being built; [`mounting`] is the port for file systems of one's own.

#![forbid(unsafe_code)]

mod builder;
#[cfg(unix)]
mod host_dir;
#[cfg(feature = "vfs")]
mod sandbox_fs;
mod seed_folder;
#[cfg(test)]
mod testing;
#[cfg(feature = "vfs")]
mod vfs_crate;

pub use builder::MountExt;
#[cfg(unix)]
pub use host_dir::{HostDir, MountError};
#[cfg(feature = "vfs")]
pub use sandbox_fs::SandboxFs;
pub use seed_folder::SeedFolder;
pub use tidebox_kernel::fs::{Mount, MountMode};
#[cfg(feature = "vfs")]
pub use vfs_crate::VfsMount;

/// The port: what a file system of one's own has to do to be mounted by
/// [`SandboxBuilder::mount`](tidebox_vfs_backend::SandboxBuilder::mount).
pub mod mounting {
    pub use tidebox_kernel::Errno;
    pub use tidebox_kernel::fs::{Access, Contents, EntryKind, Metadata, Mount, MountFile, MountMode, Writes};
}
