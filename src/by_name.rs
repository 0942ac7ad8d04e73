//! Sandboxes by the name of who provides them: the one word that a program changes to run elsewhere.

use std::sync::Arc;

use futures_util::lock::Mutex;
use tidebox_core::network::{AllowRule, NetworkPolicy};
use tidebox_core::{
    BoxFuture, Error, ErrorKind, ExecuteRequest, Limits, ListPage, ListRequest, Result, SandboxBackend, SandboxId,
    SandboxProvider, Selector,
};
use tidebox_remote_adapters::{NetworkAccess, Options, PROVIDERS};
use tidebox_vfs_backend::{SandboxBuilder, VfsProvider};

/// The name of the development backend: sandboxes of this process.
pub const LOCAL: &str = "local";

/// The provider of this name: [`LOCAL`], or one of [`PROVIDERS`].
///
/// A program that takes the name from its configuration runs on this machine and at any provider without another change. What
/// says how a service is reached (`api_key`, `api_url`, `proxy`, `transport`) means nothing to sandboxes of this process and is
/// not read for them; every other option holds, or is refused by its name. One default differs: programs in local sandboxes
/// reach no host unless [`NetworkAccess::Only`] names it.
///
/// # Errors
/// [`ErrorKind::Unsupported`] for a name that is not known, and for options that the provider cannot keep;
/// [`ErrorKind::Unauthenticated`] when there is no key.
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
        LOCAL => Ok(Arc::new(Local::new(options)?)),
        name if PROVIDERS.contains(&name) => tidebox_remote_adapters::provider(name, options),
        unknown => {
            let message = format!("there is no provider `{unknown}`; there are: {LOCAL}, {}", PROVIDERS.join(", "));
            Err(Error::new(ErrorKind::Unsupported, "set up a provider", message))
        }
    }
}

/// A new sandbox at the provider of this name, as [`provider_by_name`] knows them.
///
/// # Errors
/// Those of [`provider_by_name`], and those of making the sandbox.
pub async fn create_sandbox(name: &str, options: Options) -> Result<Arc<dyn SandboxBackend>> {
    provider_by_name(name, options)?.get_or_create(Selector::any_new()).await
}

/// Local sandboxes with the options that remote ones have.
#[derive(Debug)]
struct Local {
    provider: VfsProvider,
    setup: Option<String>,
    /// Held while a sandbox is looked for and perhaps made and set up.
    finding: Mutex<()>,
}

impl Local {
    fn new(mut options: Options) -> Result<Self> {
        let refused = [
            ("region", options.region.is_some()),
            ("image", options.image.is_some()),
            ("cpus", options.cpus.is_some()),
            ("extra", !options.extra.is_empty()),
        ];
        if let Some((name, _)) = refused.into_iter().find(|(_, is_set)| *is_set) {
            let message = format!("{LOCAL} does not have the option `{name}`; leave it out");
            return Err(Error::new(ErrorKind::Unsupported, "set up a provider", message));
        }
        let setup = options.setup.take();
        let (lifetime, labels) = (options.time_to_live, std::mem::take(&mut options.labels));
        let policy = policy(&options.network)?;
        let shape = move |new: SandboxBuilder| shaped(new, &options, policy.clone());
        let provider = crate::provider()?.sandbox(shape).labels(labels).lifetime(lifetime).build()?;
        Ok(Self { provider, setup, finding: Mutex::new(()) })
    }

    async fn found(&self, selector: Selector) -> Result<Arc<dyn SandboxBackend>> {
        let Selector::Labels(labels) = &selector else { return self.provider.get_or_create(selector).await };
        let Some(script) = &self.setup else { return self.provider.get_or_create(selector).await };
        let _finding = self.finding.lock().await;
        let request = ListRequest { cursor: None, labels: labels.clone() };
        if !labels.is_empty() && !self.provider.list(request).await?.sandboxes.is_empty() {
            return self.provider.get_or_create(selector).await;
        }
        let made = self.provider.get_or_create(selector).await?;
        match made.execute(ExecuteRequest::new(script)).await.and_then(|response| response.success().map(drop)) {
            Ok(()) => Ok(made),
            Err(error) => {
                self.provider.delete(made.id()).await?;
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

fn shaped(mut new: SandboxBuilder, options: &Options, policy: Option<NetworkPolicy>) -> SandboxBuilder {
    const MIB: u64 = 1 << 20;
    let mut limits = Limits::default();
    limits.output_bytes = options.output_bytes;
    limits.wall_time = options.command_time;
    if let Some(memory) = options.memory_mib {
        limits.sandbox_memory_bytes = u64::from(memory) * MIB;
        // A program of WebAssembly addresses 4 GiB.
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

impl SandboxProvider for Local {
    fn get_or_create(&self, selector: Selector) -> BoxFuture<'_, Result<Arc<dyn SandboxBackend>>> {
        Box::pin(self.found(selector))
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListPage>> {
        self.provider.list(request)
    }

    fn delete<'a>(&'a self, id: &'a SandboxId) -> BoxFuture<'a, Result<()>> {
        self.provider.delete(id)
    }
}
