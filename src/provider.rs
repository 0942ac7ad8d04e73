//! Provider of local sandboxes, by id and by labels.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tidebox_core::Result;
use tidebox_vfs_backend::{ProviderSettings, SandboxBuilder, SavePolicy, SnapshotStore, VfsProvider};

use crate::Runtime;
use crate::stores::{ChainStore, DirStore, SaveLog};
use crate::system::HostClock;

/// Builder of a provider of local sandboxes.
///
/// ```no_run
/// use std::time::Duration;
/// use tidebox::{SandboxProvider, Selector};
///
/// # async fn example(thread_id: &str) -> tidebox::Result<()> {
/// let provider =
///     tidebox::provider()?.idle_timeout(Duration::from_secs(86_400)).save_in("/var/lib/my-agent/sandboxes").build()?;
/// let sandbox = provider.get_or_create(Selector::labels([("thread", thread_id)])).await?;
/// # Ok(())
/// # }
/// ```
///
/// Defaults: every sandbox is created by [`Runtime::sandbox`], exists until it is deleted or closed, and is not saved.
pub struct ProviderBuilder {
    make: Box<dyn Fn() -> Result<SandboxBuilder> + Send + Sync>,
    dir: Option<PathBuf>,
    log: Option<Arc<dyn SaveLog>>,
    settings: ProviderSettings,
}

impl fmt::Debug for ProviderBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderBuilder")
            .field("dir", &self.dir)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl ProviderBuilder {
    pub(crate) fn new(make: impl Fn() -> Result<SandboxBuilder> + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), dir: None, log: None, settings: ProviderSettings::default() }
    }

    /// Configures new sandboxes: `provider()?.sandbox(|new| new.file("README.md", "Hello").env("LANG", "C"))`. A restored sandbox
    /// keeps its own files instead of those given here; all other settings apply to it too.
    #[must_use]
    pub fn sandbox(self, configure: impl Fn(SandboxBuilder) -> SandboxBuilder + Send + Sync + 'static) -> Self {
        let make = self.make;
        Self { make: Box::new(move || Ok(configure(make()?))), ..self }
    }

    /// Creates the builder of each new sandbox with a function that may fail, instead of [`crate::sandbox`].
    #[must_use]
    pub fn sandbox_builder(self, make: impl Fn() -> Result<SandboxBuilder> + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), ..self }
    }

    /// Adds labels to every sandbox, in addition to those of the request.
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

    /// Deletes a sandbox that was unused for this long. A sandbox that runs a command is in use.
    #[must_use]
    pub fn idle_timeout(mut self, idle: Duration) -> Self {
        self.settings.idle_timeout = Some(idle);
        self
    }

    /// Deletes a sandbox at this age, even while it is used.
    #[must_use]
    pub fn max_lifetime(mut self, lifetime: Duration) -> Self {
        self.settings.lifetime = Some(lifetime);
        self
    }

    /// Saves sandboxes in a host directory, so that they survive a restart of the program. See [`DirStore`] for its guarantees.
    #[must_use]
    pub fn save_in(mut self, dir: impl Into<PathBuf>) -> Self {
        (self.dir, self.log, self.settings.store) = (Some(dir.into()), None, None);
        self
    }

    /// Saves sandboxes in a log that several programs use, such as a [`FolderLog`](crate::FolderLog). See [`ChainStore`] for how
    /// one of them takes a sandbox over from another.
    #[must_use]
    pub fn save_log(mut self, log: Arc<dyn SaveLog>) -> Self {
        (self.dir, self.log, self.settings.store) = (None, Some(log), None);
        self
    }

    /// Saves sandboxes in another store.
    #[must_use]
    pub fn store(mut self, store: Arc<dyn SnapshotStore>) -> Self {
        (self.dir, self.log, self.settings.store) = (None, None, Some(store));
        self
    }

    /// Sets when sandboxes are saved. Default [`SavePolicy::EveryChange`].
    #[must_use]
    pub fn saving(mut self, saving: SavePolicy) -> Self {
        self.settings.saving = saving;
        self
    }

    /// Creates the provider.
    ///
    /// # Errors
    /// Those of [`DirStore::open`] and [`ChainStore::new`].
    pub fn build(self) -> Result<VfsProvider> {
        let Self { make, dir, log, mut settings } = self;
        if let Some(log) = log {
            settings.store = Some(Arc::new(ChainStore::new(log)?));
        }
        if let Some(dir) = dir {
            settings.store = Some(Arc::new(DirStore::open(dir)?));
        }
        Ok(VfsProvider::with_settings(make, Box::new(HostClock::new()), settings))
    }
}

impl Runtime {
    /// Returns a builder of a provider on this runtime.
    pub fn provider(&self) -> ProviderBuilder {
        let runtime = self.clone();
        ProviderBuilder::new(move || Ok(runtime.sandbox()))
    }
}

/// Returns a builder of a provider on the shared runtime of this process.
///
/// # Errors
/// [`tidebox_core::ErrorKind::Engine`] if the engine cannot start on this host.
pub fn provider() -> Result<ProviderBuilder> {
    crate::sandbox()?;
    Ok(ProviderBuilder::new(crate::sandbox))
}
