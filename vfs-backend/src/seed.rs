//! Initial files in addition to the base image: from a snapshot, a tar or a host directory.

use std::fmt;
use std::sync::Arc;

use tidebox_core::{Limits, Result, SandboxPath};
use tidebox_kernel::Kernel;
use tidebox_kernel::fs;

use crate::snapshot::Snapshot;
use crate::{BaseImage, SandboxBuilder};

mod writer;

pub use writer::{FileAttributes, SeedWriter};

type SeedFn = Box<dyn FnOnce(&mut SeedWriter<'_>) -> Result<()> + Send>;

/// Initial files configured in the builder.
#[derive(Default)]
pub(crate) struct InitialFiles {
    snapshot: Option<Snapshot>,
    seeds: Vec<SeedFn>,
}

impl fmt::Debug for InitialFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Beginning")
            .field("snapshot", &self.snapshot)
            .field("seeds", &self.seeds.len())
            .finish_non_exhaustive()
    }
}

impl InitialFiles {
    /// Resolves the initial files, with the base image unless a snapshot is set.
    pub(crate) fn resolve(self, base: fs::FsSnapshot) -> ResolvedFiles {
        let snapshot =
            self.snapshot.unwrap_or_else(|| Snapshot { files: base.clone(), base, shell_state: Arc::from(&b""[..]) });
        ResolvedFiles { snapshot, seeds: self.seeds }
    }
}

/// Initial files of a sandbox.
pub(crate) struct ResolvedFiles {
    snapshot: Snapshot,
    seeds: Vec<SeedFn>,
}

impl ResolvedFiles {
    pub(crate) fn base(&self) -> fs::FsSnapshot {
        self.snapshot.base.clone()
    }

    pub(crate) fn files(&self) -> fs::FsSnapshot {
        self.snapshot.files.clone()
    }

    pub(crate) fn shell_state(&self) -> Arc<[u8]> {
        Arc::clone(&self.snapshot.shell_state)
    }

    pub(crate) fn seed_with(self, kernel: &mut Kernel, cwd: &SandboxPath) -> Result<()> {
        let now = kernel.now();
        for seed in self.seeds {
            let mut seed_writer = SeedWriter::new(kernel.fs_mut(), cwd, now);
            seed(&mut seed_writer)?;
            seed_writer.finish();
        }
        Ok(())
    }
}

impl SandboxBuilder {
    /// The initial tree without a snapshot.
    pub fn base_image(&self) -> &BaseImage {
        &self.base
    }

    /// The current limits of the builder.
    pub fn current_limits(&self) -> &Limits {
        &self.limits
    }

    /// Starts with the files and the shell session of a snapshot, base image and programs included, instead of the base
    /// image of this builder. Takes microseconds and shares the bytes. Other settings of the builder apply on top.
    #[must_use]
    pub fn snapshot(mut self, snapshot: &Snapshot) -> Self {
        self.beginning.snapshot = Some(snapshot.clone());
        self
    }

    /// Adds files with a function of the caller, which runs when the sandbox is built: after a
    /// [`snapshot`](Self::snapshot) and before the files of [`file`](Self::file). Several run in the order of the
    /// calls. Content is streamed, and the sandbox's limits apply.
    #[must_use]
    pub fn seed_with(mut self, seed: impl FnOnce(&mut SeedWriter<'_>) -> Result<()> + Send + 'static) -> Self {
        self.beginning.seeds.push(Box::new(seed));
        self
    }
}
