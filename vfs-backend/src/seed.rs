//! Files that a sandbox begins with beyond its base image: a snapshot's, a tar's, a host folder's.

use std::fmt;
use std::sync::Arc;

use tidebox_core::{Limits, Result, SandboxPath};
use tidebox_kernel::Kernel;
use tidebox_kernel::fs;

use crate::plant::Planter;
use crate::snapshot::Snapshot;
use crate::{BaseImage, SandboxBuilder};

type Plant = Box<dyn FnOnce(&mut Planter<'_>) -> Result<()> + Send>;

/// What the builder was given.
#[derive(Default)]
pub(crate) struct Beginning {
    snapshot: Option<Snapshot>,
    plants: Vec<Plant>,
}

impl fmt::Debug for Beginning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Beginning")
            .field("snapshot", &self.snapshot)
            .field("plants", &self.plants.len())
            .finish_non_exhaustive()
    }
}

impl Beginning {
    /// The same with the base image for what begins with no snapshot.
    pub(crate) fn with(self, base: fs::Snapshot) -> Begun {
        let snapshot =
            self.snapshot.unwrap_or_else(|| Snapshot { files: base.clone(), base, shell_state: Arc::from(&b""[..]) });
        Begun { snapshot, plants: self.plants }
    }
}

/// What a sandbox begins with.
pub(crate) struct Begun {
    snapshot: Snapshot,
    plants: Vec<Plant>,
}

impl Begun {
    pub(crate) fn base(&self) -> fs::Snapshot {
        self.snapshot.base.clone()
    }

    pub(crate) fn files(&self) -> fs::Snapshot {
        self.snapshot.files.clone()
    }

    pub(crate) fn shell_state(&self) -> Arc<[u8]> {
        Arc::clone(&self.snapshot.shell_state)
    }

    pub(crate) fn plant(self, kernel: &mut Kernel, cwd: &SandboxPath) -> Result<()> {
        let now = kernel.now();
        for plant in self.plants {
            let mut planter = Planter::new(kernel.fs_mut(), cwd, now);
            plant(&mut planter)?;
            planter.finish();
        }
        Ok(())
    }
}

impl SandboxBuilder {
    /// The tree that the sandbox begins with unless it is given a snapshot.
    pub fn base_image(&self) -> &BaseImage {
        &self.base
    }

    /// The limits set so far.
    pub fn current_limits(&self) -> &Limits {
        &self.limits
    }

    /// Begins with the files and the shell session of a snapshot, base image and programs included, instead of the base
    /// image of this builder. Takes microseconds and shares the bytes. What else the builder is given comes on top.
    #[must_use]
    pub fn snapshot(mut self, snapshot: &Snapshot) -> Self {
        self.beginning.snapshot = Some(snapshot.clone());
        self
    }

    /// Puts files in by a function of the caller's, which runs when the sandbox is built: after a
    /// [`snapshot`](Self::snapshot) and before the files of [`file`](Self::file). Several run in the order in which they
    /// were given. Nothing is held twice, and the sandbox's limits bound what it may put in.
    #[must_use]
    pub fn plant(mut self, plant: impl FnOnce(&mut Planter<'_>) -> Result<()> + Send + 'static) -> Self {
        self.beginning.plants.push(Box::new(plant));
        self
    }
}
