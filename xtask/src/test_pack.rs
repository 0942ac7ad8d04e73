//! Packs that `cargo xtask test` builds and adds, so that their tests run.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result};
use sha2::{Digest as _, Sha256};

use crate::project::Project;
use crate::step::{Progress, hex};

/// A pack that is built from files of the repository.
#[derive(Debug)]
pub(crate) struct TestPack {
    pub(crate) name: &'static str,
    /// The file that a build writes.
    pub(crate) wheel: PathBuf,
    /// The files that it is built from.
    pub(crate) sources: Vec<PathBuf>,
}

impl TestPack {
    /// Adds the pack. It is built only if its sources changed. Where a compiler or other sources cannot be fetched, the pack is not
    /// added, and its tests print that they are skipped.
    pub(crate) fn add(
        &self,
        project: &Project,
        progress: &mut Progress,
        fetch: impl FnOnce(&mut Progress) -> Result<()>,
        build: impl FnOnce(&mut Progress) -> Result<()>,
    ) -> Result<()> {
        let stamp = self.wheel.with_file_name("sources.sha256");
        let current = self.hash_sources(project)?;
        if !self.wheel.is_file() || fs::read_to_string(&stamp).ok().as_deref() != Some(&*current) {
            if let Err(error) = fetch(progress) {
                progress.print(&format!("the pack {} is skipped: {error:#}", self.name));
                return Ok(());
            }
            build(progress)?;
            fs::write(stamp, current)?;
        }
        let mut command = Command::new(project.tidebox());
        command.args(["pack", "add", self.name, "--from"]).arg(&self.wheel);
        progress.run(&format!("add the pack {}", self.name), command, "cargo xtask test")
    }

    /// Returns the hash of the sources. It does not depend on where the repository is.
    fn hash_sources(&self, project: &Project) -> Result<String> {
        let mut hash = Sha256::new();
        for file in &self.sources {
            let name = file.strip_prefix(&project.root).unwrap_or(file).to_string_lossy().into_owned();
            let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
            hash.update((name.len() as u64).to_le_bytes());
            hash.update(name);
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        }
        Ok(hex(&hash.finalize()))
    }
}
