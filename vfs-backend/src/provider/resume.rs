//! From a running sandbox to what is saved, and back.

use tidebox_core::{Error, ErrorKind, Result, SandboxId};
use tidebox_kernel::fs::{self, MountMode};

use crate::seed::Beginning;
use crate::{SandboxBuilder, Snapshot, VfsBackend};

impl Snapshot {
    /// Whether nothing changed between the two, as far as that shows at a glance: `false` may be wrong, `true` is not.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.files.is_same(&other.files) && self.shell_state == other.shell_state
    }
}

impl VfsBackend {
    /// A snapshot of files that were taken out of this sandbox, which may be closed by now.
    pub(super) fn snapshot_of(&self, files: fs::Snapshot) -> Snapshot {
        Snapshot { files, base: self.base.clone(), shell_state: self.shell_state() }
    }
}

impl SandboxBuilder {
    /// # Errors
    /// [`ErrorKind::Unsupported`] for a sandbox of which a part could not be saved.
    pub(super) fn check_savable(&self) -> Result<()> {
        if self.mounts.iter().any(|wanted| wanted.mode == MountMode::CopyOnWrite) {
            let message = "what is changed in a copy-on-write mount cannot be saved; mount it read-only or to be written \
                           through, or keep this provider's sandboxes in memory";
            return Err(Error::new(ErrorKind::Unsupported, "create sandbox", message));
        }
        Ok(())
    }

    /// Makes the sandbox as it was saved. The files that this builder puts in are left out: they were there from the
    /// beginning, and what became of them since is in what was saved.
    pub(super) fn resume(mut self, id: SandboxId, bytes: &[u8]) -> Result<VfsBackend> {
        let snapshot = Snapshot::from_bytes(bytes, &self.base, &self.limits)?;
        self.files.clear();
        self.beginning = Beginning::default();
        self.snapshot(&snapshot).id(id).build()
    }
}
