//! Local sandboxes by id and by labels.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tidebox_core::Result;
use tidebox_vfs_backend::{ProviderSettings, SandboxBuilder, Saving, SnapshotStore, VfsProvider};

use crate::Runtime;
use crate::host::HostClock;
use crate::store::FolderStore;

/// Sets a provider of local sandboxes up.
///
/// ```no_run
/// use std::time::Duration;
/// use tidebox::{SandboxProvider, Selector};
///
/// # async fn example(thread_id: &str) -> tidebox::Result<()> {
/// let provider = tidebox::provider()?.idle(Duration::from_secs(86_400)).persist("/var/lib/my-agent/sandboxes").build()?;
/// let sandbox = provider.get_or_create(Selector::labels([("thread", thread_id)])).await?;
/// # Ok(())
/// # }
/// ```
///
/// Defaults: every sandbox is what [`Runtime::sandbox`] makes, lives until it is deleted or closed, and is gone with the
/// program.
pub struct ProviderBuilder {
    make: Box<dyn Fn() -> Result<SandboxBuilder> + Send + Sync>,
    folder: Option<PathBuf>,
    settings: ProviderSettings,
}

impl fmt::Debug for ProviderBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderBuilder")
            .field("folder", &self.folder)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl ProviderBuilder {
    pub(crate) fn new(make: impl Fn() -> Result<SandboxBuilder> + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), folder: None, settings: ProviderSettings::default() }
    }

    /// Says what a new sandbox is: `provider()?.sandbox(|new| new.file("README.md", "Hello").env("LANG", "C"))`. A sandbox
    /// that comes back from the disk keeps its own files in the place of those given here; everything else applies to it
    /// too.
    #[must_use]
    pub fn sandbox(self, shape: impl Fn(SandboxBuilder) -> SandboxBuilder + Send + Sync + 'static) -> Self {
        let make = self.make;
        Self { make: Box::new(move || Ok(shape(make()?))), ..self }
    }

    /// Labels of every sandbox, beside those it is asked for with.
    #[must_use]
    pub fn labels<Name: Into<String>, Value: Into<String>>(
        mut self,
        labels: impl IntoIterator<Item = (Name, Value)>,
    ) -> Self {
        let labels: BTreeMap<String, String> =
            labels.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        self.settings.labels.extend(labels);
        self
    }

    /// Deletes a sandbox that nobody has used for so long. One that runs a command is in use.
    #[must_use]
    pub fn idle(mut self, idle: Duration) -> Self {
        self.settings.idle = Some(idle);
        self
    }

    /// Deletes a sandbox that was made so long ago, even while it is used.
    #[must_use]
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.settings.lifetime = Some(lifetime);
        self
    }

    /// Saves sandboxes in a folder of the host, so that they are there when the program starts again. See
    /// [`FolderStore`] for what that promises.
    #[must_use]
    pub fn persist(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    /// Saves sandboxes elsewhere.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn SnapshotStore>) -> Self {
        self.folder = None;
        self.settings.store = Some(store);
        self
    }

    /// When sandboxes are saved. Default [`Saving::EachChange`].
    #[must_use]
    pub fn saving(mut self, saving: Saving) -> Self {
        self.settings.saving = saving;
        self
    }

    /// Makes the provider.
    ///
    /// # Errors
    /// Those of [`FolderStore::open`].
    pub fn build(self) -> Result<VfsProvider> {
        let Self { make, folder, mut settings } = self;
        if let Some(folder) = folder {
            settings.store = Some(Arc::new(FolderStore::open(folder)?));
        }
        Ok(VfsProvider::with_settings(make, Box::new(HostClock::new()), settings))
    }
}

impl Runtime {
    /// Begins a provider of sandboxes on this runtime.
    pub fn provider(&self) -> ProviderBuilder {
        let runtime = self.clone();
        ProviderBuilder::new(move || Ok(runtime.sandbox()))
    }
}

/// Begins a provider of sandboxes on the runtime that this process shares.
///
/// # Errors
/// [`tidebox_core::ErrorKind::Engine`] when the engine cannot start on this machine.
pub fn provider() -> Result<ProviderBuilder> {
    crate::sandbox()?;
    Ok(ProviderBuilder::new(crate::sandbox))
}
