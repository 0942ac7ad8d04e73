//! Snapshots: what a sandbox is at one moment, to go back to, to fork from, to compare and to keep.

mod diff;
mod unified;

use std::fmt;
use std::sync::Arc;

use sha2::{Digest, Sha256};
use tidebox_core::{Error, ErrorKind, Result, SandboxBackend, SandboxId};
use tidebox_kernel::Kernel;
use tidebox_kernel::fs;

use crate::VfsBackend;
use crate::backend::lock;

pub use diff::{Change, ContentChange, Side, SnapshotDiff};

/// The files of a sandbox and the state of its shell session at one moment.
///
/// Immutable, and cheap to take, to clone and to keep: it shares the bytes with the sandbox it came from and with those
/// that begin with it, and what one of them changes is copied first. Processes, open descriptors, files that lost their
/// last name, and what `/proc` shows are no part of it.
#[derive(Clone)]
pub struct Snapshot {
    pub(crate) files: fs::Snapshot,
    /// The base image that the sandbox began with, of which exports hold nothing.
    pub(crate) base: fs::Snapshot,
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
    /// What its files count against [`tidebox_core::Limits::file_bytes`].
    pub fn file_bytes(&self) -> u64 {
        self.files.usage().file_bytes
    }

    /// What its files count against [`tidebox_core::Limits::inodes`].
    pub fn inodes(&self) -> u64 {
        self.files.usage().inodes
    }

    /// The state of the shell session; empty when there is none.
    pub fn shell_state(&self) -> &Arc<[u8]> {
        &self.shell_state
    }
}

impl VfsBackend {
    /// Keeps what the sandbox is now. Takes microseconds, whatever it holds. Commands may run meanwhile: the files are
    /// those between two of their system calls.
    ///
    /// # Errors
    /// [`tidebox_core::ErrorKind::Closed`].
    pub fn snapshot(&self) -> Result<Snapshot> {
        let kernel = self.kernel("snapshot")?;
        let files = lock(&kernel).snapshot();
        Ok(Snapshot { files, base: self.base.clone(), shell_state: self.shell_state() })
    }

    /// Puts files and shell session back to what they were. Commands that run are stopped first: they answer with exit
    /// code 137, [`tidebox_core::StopReason::Cancelled`] and a message that says why, and nothing they do touches the
    /// restored files. The snapshot may be another sandbox's; this one's host tools stay. Clock, randomness, process numbers and the environment that
    /// the builder set go on as they were. When the limits allow less than the snapshot holds, it is all there and
    /// nothing can be added.
    ///
    /// # Errors
    /// [`tidebox_core::ErrorKind::Closed`]; [`tidebox_core::ErrorKind::InvalidRequest`] when the shell's state is longer
    /// than [`tidebox_core::Limits::shell_state_bytes`], and nothing has changed then, or when the snapshot has a directory
    /// where the file of a host tool belongs, and all else is restored then.
    pub fn restore(&self, snapshot: &Snapshot) -> Result<()> {
        let kernel = self.kernel("restore")?;
        self.set_shell_state(Arc::clone(&snapshot.shell_state))?;
        lock(&kernel).restore(&snapshot.files).map_err(|errno| {
            let message = format!("the files are restored, but not those of the host tools: {errno}");
            Error::new(ErrorKind::InvalidRequest, "restore", message)
        })
    }

    /// A second live sandbox that begins as this one is now: files, shell session, environment, working directory,
    /// limits, dialect, tools, clock and randomness, with an id of its own. From here on each goes its own way. Takes
    /// microseconds, and the bytes are shared until one of the two changes them. Commands that run here do not run there.
    ///
    /// A deterministic sandbox has deterministic forks: what this one would have done next, the fork does too.
    ///
    /// # Errors
    /// [`tidebox_core::ErrorKind::Closed`].
    pub fn fork(&self) -> Result<Self> {
        let shared = self.kernel("fork")?;
        let kernel = lock(&shared).fork_sandbox();
        let id = self.id_of_fork(&kernel)?;
        let fork = self.sibling(id, kernel);
        fork.set_shell_state(self.shell_state())?;
        Ok(fork)
    }

    /// An id that nobody else has: from ours, the number of the fork, and bytes that are random unless runs are to be
    /// repeatable.
    fn id_of_fork(&self, kernel: &Kernel) -> Result<SandboxId> {
        let mut random = [0; 16];
        kernel.random_aside(&mut random);
        let mut hash = Sha256::new();
        for part in [self.id().as_str().as_bytes(), &[0], &self.next_fork().to_le_bytes(), &random] {
            hash.update(part);
        }
        let digest = hash.finalize();
        let name: String = digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        SandboxId::parse(format!("sb-{name}"))
    }
}
