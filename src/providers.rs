//! Providers by name, so that a program can switch providers by configuration.

use std::sync::Arc;

use futures_util::lock::Mutex;
use tidebox_core::network::{AllowRule, NetworkPolicy};
use tidebox_core::{
    BoxFuture, Error, ErrorKind, ExecuteRequest, Limits, ListPage, ListRequest, Result, SandboxBackend, SandboxId,
    SandboxProvider, Selector,
};
use tidebox_remote_adapters::{NetworkAccess, Options, PROVIDERS};
use tidebox_vfs_backend::{SandboxBuilder, VfsProvider};

/// Name of the local backend: sandboxes of this process.
pub const LOCAL: &str = "local";

/// Returns the provider with this name: [`LOCAL`], or one of [`PROVIDERS`].
///
/// A program that reads the name from its configuration runs locally and at any provider without other changes. Local sandboxes
/// ignore the options of remote connections (`api_key`, `api_url`, `proxy`, `transport`); all other options are applied, or
/// rejected by name. One default differs: local sandboxes have no network unless [`NetworkAccess::Only`] lists hosts.
///
/// # Errors
/// [`ErrorKind::Unsupported`] for an unknown name, and for options that the provider does not support;
/// [`ErrorKind::Unauthenticated`] without a key.
///
/// ```no_run
/// # async fn run(name: &str) -> tidebox::Result<()> {
/// use tidebox::{Selector, remote::Options};
///
/// let provider = tidebox::provider_by_name(name, Options::default())?;
/// let sandbox = provider.get_or_create(Selector::labels([("thread", "42")])).await?;
/// # Ok(())
/// # }
/// ```
pub fn provider_by_name(name: &str, options: Options) -> Result<Arc<dyn SandboxProvider>> {
    match name {
        LOCAL => Ok(Arc::new(LocalByName::new(options)?)),
        name if PROVIDERS.contains(&name) => tidebox_remote_adapters::provider(name, options),
        unknown => {
            let message = format!("unknown provider `{unknown}`; expected one of: {LOCAL}, {}", PROVIDERS.join(", "));
            Err(Error::new(ErrorKind::Unsupported, "set up a provider", message))
        }
    }
}

/// Creates a sandbox at the provider with this name; see [`provider_by_name`].
///
/// # Errors
/// Those of [`provider_by_name`], and errors of the creation.
pub async fn create_sandbox(name: &str, options: Options) -> Result<Arc<dyn SandboxBackend>> {
    provider_by_name(name, options)?.get_or_create(Selector::any_new()).await
}

/// Local sandboxes with the options of remote ones.
#[derive(Debug)]
struct LocalByName {
    provider: VfsProvider,
    setup: Option<String>,
    /// Serializes lookup, creation and set-up of sandboxes.
    setup_lock: Mutex<()>,
}

impl LocalByName {
    fn new(mut options: Options) -> Result<Self> {
        let unsupported = [
            ("region", options.region.is_some()),
            ("image", options.image.is_some()),
            ("cpus", options.cpus.is_some()),
            ("extra", !options.extra.is_empty()),
        ];
        if let Some((name, _)) = unsupported.into_iter().find(|(_, is_set)| *is_set) {
            let message = format!("{LOCAL} does not support the option `{name}`; remove it");
            return Err(Error::new(ErrorKind::Unsupported, "set up a provider", message));
        }
        let setup = options.setup.take();
        let (lifetime, labels) = (options.time_to_live, std::mem::take(&mut options.labels));
        let policy = policy(&options.network)?;
        let configure = move |new: SandboxBuilder| apply_options(new, &options, policy.clone());
        let provider = crate::provider()?.sandbox(configure).labels(labels).max_lifetime(lifetime).build()?;
        Ok(Self { provider, setup, setup_lock: Mutex::new(()) })
    }

    async fn find_or_create(&self, selector: Selector) -> Result<Arc<dyn SandboxBackend>> {
        let Selector::Labels(labels) = &selector else { return self.provider.get_or_create(selector).await };
        let Some(script) = &self.setup else { return self.provider.get_or_create(selector).await };
        let _guard = self.setup_lock.lock().await;
        let request = ListRequest { cursor: None, labels: labels.clone() };
        if !labels.is_empty() && !self.provider.list(request).await?.sandboxes.is_empty() {
            return self.provider.get_or_create(selector).await;
        }
        let sandbox = self.provider.get_or_create(selector).await?;
        match sandbox.execute(ExecuteRequest::new(script)).await.and_then(|response| response.into_success().map(drop))
        {
            Ok(()) => Ok(sandbox),
            Err(error) => {
                self.provider.delete(sandbox.id()).await?;
                let message = format!("the set-up script failed: {}", error.message());
                Err(Error::new(error.kind(), "set up a sandbox", message))
            }
        }
    }
}

fn policy(network: &NetworkAccess) -> Result<Option<NetworkPolicy>> {
    let NetworkAccess::Only(hosts) = network else { return Ok(None) };
    let mut policy = NetworkPolicy::new();
    for host in hosts {
        policy = policy.allow(AllowRule::host(host)?);
    }
    Ok(Some(policy))
}

fn apply_options(mut new: SandboxBuilder, options: &Options, policy: Option<NetworkPolicy>) -> SandboxBuilder {
    const MIB: u64 = 1 << 20;
    let mut limits = Limits::default();
    limits.output_bytes = options.output_bytes;
    limits.wall_time = options.command_time;
    if let Some(memory) = options.memory_mib {
        limits.sandbox_memory_bytes = u64::from(memory) * MIB;
        // WebAssembly programs can address 4 GiB.
        limits.process_memory_bytes = limits.sandbox_memory_bytes.min(4 << 30);
    }
    if let Some(disk) = options.disk_mib {
        limits.file_bytes = u64::from(disk) * MIB;
        limits.single_file_bytes = limits.file_bytes;
    }
    new = new.limits(limits).dialect(options.dialect);
    for (name, value) in &options.env {
        new = new.env(name, value);
    }
    if let Some(cwd) = &options.cwd {
        new = new.cwd(cwd.clone());
    }
    match policy {
        Some(policy) => new.network(policy),
        None => new,
    }
}

impl SandboxProvider for LocalByName {
    fn get_or_create(&self, selector: Selector) -> BoxFuture<'_, Result<Arc<dyn SandboxBackend>>> {
        Box::pin(self.find_or_create(selector))
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListPage>> {
        self.provider.list(request)
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        self.provider.delete(id)
    }
}
