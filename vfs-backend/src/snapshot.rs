//! Snapshots: the state of a sandbox at one moment, to restore, fork, compare and store.

mod diff;
mod file;
mod unified;

use std::fmt;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use tidebox_core::{Error, ErrorKind, Result, SandboxBackend, SandboxId};
use tidebox_kernel::Kernel;
use tidebox_kernel::fs;

use crate::VfsBackend;

pub use file::{Packing, process_from_bytes, process_to_bytes};

pub use diff::{Change, ContentChange, DiffSide, SnapshotDiff};

/// The files of a sandbox and the state of its shell session at one moment.
///
/// Immutable, and cheap to take, clone and keep: it shares the bytes with its sandbox and with sandboxes that start
/// from it, and changes are copied on write. Processes, open descriptors, unlinked files and the content of `/proc` are
/// not included.
#[derive(Clone)]
pub struct Snapshot {
    pub(crate) files: fs::FsSnapshot,
    /// The base image of the sandbox, which exports exclude.
    pub(crate) base: fs::FsSnapshot,
    pub(crate) shell_state: Arc<[u8]>,
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usage = self.files.usage();
        f.debug_struct("Snapshot")
            .field("file_bytes", &usage.file_bytes)
            .field("inodes", &usage.inodes)
            .field("shell_state_bytes", &self.shell_state.len())
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    /// Bytes of its files as charged to [`tidebox_core::Limits::file_bytes`].
    pub fn file_bytes(&self) -> u64 {
        self.files.usage().file_bytes
    }

    /// Inodes as charged to [`tidebox_core::Limits::inodes`].
    pub fn inodes(&self) -> u64 {
        self.files.usage().inodes
    }

    /// The state of the shell session; empty without a session.
    pub fn shell_state(&self) -> &Arc<[u8]> {
        &self.shell_state
    }
}

impl VfsBackend {
    /// Takes a snapshot in microseconds, regardless of size. Commands may be running: the files are those between two
    /// of their system calls.
    ///
    /// # Errors
    ///
    /// [`tidebox_core::ErrorKind::Closed`].
    pub fn snapshot(&self) -> Result<Snapshot> {
        let kernel = self.kernel("snapshot")?;
        let files = kernel.lock().snapshot();
        Ok(Snapshot { files, base: self.base.clone(), shell_state: self.shell_state() })
    }

    /// Restores files and shell session. Running commands are stopped first: they return exit code 137,
    /// [`tidebox_core::StopReason::Cancelled`] and a message with the cause, and cannot touch the restored files. The
    /// snapshot may be from another sandbox; the host tools of this sandbox stay. Clock, randomness, process ids and the
    /// builder's environment are not affected. If the limits are lower than the snapshot's usage, all of it is restored,
    /// but no data can be added.
    ///
    /// # Errors
    ///
    /// [`tidebox_core::ErrorKind::Closed`]; [`tidebox_core::ErrorKind::InvalidRequest`] when the shell's state is
    /// longer than [`tidebox_core::Limits::shell_state_bytes`], and then nothing has changed; or when the snapshot has
    /// a directory at the path of a host tool, and then everything else is restored.
    pub fn restore(&self, snapshot: &Snapshot) -> Result<()> {
        let kernel = self.kernel("restore")?;
        self.set_shell_state(Arc::clone(&snapshot.shell_state))?;
        kernel.lock().restore(&snapshot.files).map_err(|errno| {
            let message = format!("the files are restored, but not those of the host tools: {errno}");
            Error::new(ErrorKind::InvalidRequest, "restore", message)
        })
    }

    /// Creates a second live sandbox with the current state of this one: files, shell session, environment, working
    /// directory, limits, dialect, tools, clock and randomness, and a new id. Both are independent afterwards. Takes
    /// microseconds, and the bytes are shared until one of the two changes them. Running commands are not copied.
    ///
    /// A fork of a deterministic sandbox is deterministic: it continues exactly as the original would have.
    ///
    /// # Errors
    ///
    /// [`tidebox_core::ErrorKind::Closed`].
    pub fn fork(&self) -> Result<Self> {
        let shared = self.kernel("fork")?;
        let kernel = shared.lock().fork_sandbox();
        let id = self.new_fork_id(&kernel)?;
        let fork = self.fork_with(id, kernel);
        fork.set_shell_state(self.shell_state())?;
        Ok(fork)
    }

    /// Returns a unique id: this sandbox's id, the number of the fork, and bytes that are random unless runs are
    /// deterministic.
    fn new_fork_id(&self, kernel: &Kernel) -> Result<SandboxId> {
        let mut random = [0; 16];
        kernel.host_random(&mut random);
        let mut hash = Sha256::new();
        for part in [self.id().as_str().as_bytes(), &[0], &self.next_fork().to_le_bytes(), &random] {
            hash.update(part);
        }
        let digest = hash.finalize();
        let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        SandboxId::parse(format!("sb-{name}"))
    }
}
