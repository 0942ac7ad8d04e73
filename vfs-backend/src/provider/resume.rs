//! Conversion between a running sandbox and its saved form.

use tidebox_core::{Error, ErrorKind, Result, SandboxId};
use tidebox_kernel::fs::{self, MountMode};

use super::store::SavedFiles;
use crate::seed::InitialFiles;
use crate::{SandboxBuilder, Snapshot, VfsBackend};

impl Snapshot {
    /// Returns `true` only if nothing changed between the two. The check is cheap: `false` may be wrong.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.files.ptr_eq(&other.files) && self.shell_state == other.shell_state
    }
}

impl VfsBackend {
    /// Creates a snapshot from files of this sandbox, which may be closed by now.
    pub(super) fn snapshot_of(&self, files: fs::FsSnapshot) -> Snapshot {
        Snapshot { files, base: self.base.clone(), shell_state: self.shell_state() }
    }
}

impl SandboxBuilder {
    /// # Errors
    ///
    /// [`ErrorKind::Unsupported`] for a sandbox with state that cannot be saved.
    pub(super) fn check_savable(&self) -> Result<()> {
        if self.mounts.iter().any(|mount| mount.mode == MountMode::CopyOnWrite) {
            let message = "cannot save the changes in a copy-on-write mount; mount it read-only or read-write, \
                           or keep this provider's sandboxes in memory";
            return Err(Error::new(ErrorKind::Unsupported, "create sandbox", message));
        }
        Ok(())
    }

    /// Restores a saved sandbox. Initial files of this builder are skipped: they existed at creation, and the saved
    /// files include all later changes. `prepare` installs what the host adds to every sandbox. Returns the sandbox, and the state
    /// since which changes can be stored.
    pub(super) fn resume(
        mut self,
        id: SandboxId,
        saved: &SavedFiles,
        prepare: impl FnOnce(&VfsBackend) -> Result<()>,
    ) -> Result<(VfsBackend, Snapshot)> {
        let mut snapshot = Snapshot::from_bytes(&saved.snapshot, &self.base, &self.limits)?;
        for changes in &saved.changes {
            snapshot = snapshot.apply_stored_changes(changes, &self.limits)?;
        }
        self.files.clear();
        self.beginning = InitialFiles::default();
        let sandbox = self.snapshot(&snapshot).id(id).build()?;
        prepare(&sandbox)?;
        let built = sandbox.snapshot()?;
        let stored = if built.adds_only_installed(&snapshot) { built } else { snapshot };
        Ok((sandbox, stored))
    }
}
