//! The service: accounts, their sandboxes, and what all APIs share.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tidebox_core::lock::Mutex;
use tidebox_core::{BoxFuture, Result, SandboxBackend, SandboxId};
use tidebox_emulators::{
    MadeSandbox, NewSandbox, RegistryStore, SAVED_PROVIDERS, SandboxRegistry, SandboxStore, TenantPort,
};

use crate::account::Account;
use crate::drain::Drain;
use crate::log::RequestLog;
use crate::meter::{self, Activity, CpuMeter, Metered};
use crate::metrics::Metrics;
use crate::otlp::Spans;
use crate::tenant::Tenants;

/// A sandbox to create for a tenant.
#[derive(Clone, Debug)]
pub struct SandboxSpec {
    /// Its environment, user, files and memory.
    pub new: NewSandbox,
    /// Hosts that its commands may read from over HTTPS, in addition to those of the service.
    pub egress: Vec<String>,
}

/// Creates sandboxes.
pub type MakeSandbox = Arc<dyn Fn(SandboxSpec) -> BoxFuture<'static, Result<MadeSandbox>> + Send + Sync>;

/// Configuration of a service.
#[derive(Clone, Debug)]
pub struct ServiceConfig {
    /// The tenants.
    pub tenants: Tenants,
    /// Memory of a sandbox that requests none, in bytes. It is reserved while the sandbox exists.
    pub memory_bytes: u64,
    /// Time after the last call after which a sandbox is closed. `None`: never.
    pub idle: Option<Duration>,
    /// Writes one line of JSON to stderr for each request.
    pub log: bool,
    /// Requests without a token belong to the tenant `default`. Only for a loopback address with a public key.
    pub is_open: bool,
}

/// Name of the REST API among the registries of an account.
pub(crate) const REST: &str = "rest";

/// The service. Clones share everything.
#[derive(Clone)]
pub struct Service(pub(crate) Arc<Shared>);

pub(crate) struct Shared {
    make: MakeSandbox,
    tenants: Mutex<Tenants>,
    accounts: Mutex<BTreeMap<String, Arc<Account>>>,
    meters: Mutex<BTreeMap<SandboxId, Weak<Metered>>>,
    memory_bytes: u64,
    pub(crate) idle: Option<Duration>,
    pub(crate) is_open: bool,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) drain: Drain,
    pub(crate) spans: Arc<Spans>,
    pub(crate) log: RequestLog,
    pub(crate) store: Option<Arc<dyn SandboxStore>>,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("accounts", &self.0.accounts.lock().len()).finish_non_exhaustive()
    }
}

impl Service {
    /// Creates a service whose sandboxes are created by `make`.
    pub fn new(config: ServiceConfig, make: MakeSandbox) -> Self {
        Self::create(config, make, None)
    }

    /// Creates a service whose sandboxes are created by `make` and saved in a store. Those of providers other than
    /// [`SAVED_PROVIDERS`] are not saved.
    pub fn with_store(config: ServiceConfig, make: MakeSandbox, store: Arc<dyn SandboxStore>) -> Self {
        Self::create(config, make, Some(store))
    }

    fn create(config: ServiceConfig, make: MakeSandbox, store: Option<Arc<dyn SandboxStore>>) -> Self {
        let service = Self(Arc::new(Shared {
            make,
            tenants: Mutex::default(),
            accounts: Mutex::default(),
            meters: Mutex::default(),
            memory_bytes: config.memory_bytes,
            idle: config.idle,
            is_open: config.is_open,
            metrics: Arc::new(Metrics::default()),
            drain: Drain::default(),
            spans: Arc::default(),
            log: RequestLog::new(config.log),
            store,
        }));
        service.set_tenants(config.tenants);
        service
    }

    /// Replaces the tenants, for example after a change of their file. Tenants that remain keep their sandboxes and usage;
    /// [`close_removed`](Self::close_removed) closes the sandboxes of the others.
    pub fn set_tenants(&self, tenants: Tenants) {
        let mut accounts = self.0.accounts.lock();
        for tenant in &tenants.all {
            match accounts.get(&tenant.name) {
                Some(account) => account.set_quotas(tenant.quotas.clone()),
                None => {
                    let account = Account::new(&tenant.name, tenant.quotas.clone());
                    accounts.insert(tenant.name.clone(), account);
                }
            }
        }
        *self.0.tenants.lock() = tenants;
    }

    /// Closes the sandboxes of tenants that no longer exist.
    pub async fn close_removed(&self) {
        let removed: Vec<Arc<Account>> = {
            let tenants = self.0.tenants.lock();
            let is_known = |name: &String| tenants.all.iter().any(|tenant| tenant.name == *name);
            let mut accounts = self.0.accounts.lock();
            let names: Vec<String> = accounts.keys().filter(|name| !is_known(name)).cloned().collect();
            names.iter().filter_map(|name| accounts.remove(name)).collect()
        };
        for account in removed {
            account.close().await;
        }
    }

    /// Returns the metrics of all tenants.
    pub fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// Returns the account of a token.
    pub(crate) fn account_of(&self, token: &[u8]) -> Option<Arc<Account>> {
        let name = self.0.tenants.lock().find(token)?.name.clone();
        self.account(&name)
    }

    pub(crate) fn account(&self, name: &str) -> Option<Arc<Account>> {
        self.0.accounts.lock().get(name).cloned()
    }

    pub(crate) fn accounts(&self) -> Vec<Arc<Account>> {
        self.0.accounts.lock().values().cloned().collect()
    }

    /// Returns the sandboxes of an account for one API: [`REST`] or the name of a provider.
    pub(crate) fn registry_of(&self, account: &Arc<Account>, api: &str) -> SandboxRegistry {
        let mut registries = account.registries.lock();
        if let Some(registry) = registries.get(api) {
            return registry.clone();
        }
        let (service, owner) = (Arc::downgrade(&self.0), Arc::downgrade(account));
        let make: tidebox_emulators::MakeSandbox = Arc::new(move |new| {
            let (service, owner) = (service.upgrade(), owner.upgrade());
            Box::pin(async move {
                match (service, owner) {
                    (Some(service), Some(account)) => Self(service).make(&account, new).await,
                    _ => Err(tidebox_core::Error::closed("create sandbox")),
                }
            })
        });
        let store = self.0.store.as_ref().filter(|_| SAVED_PROVIDERS.contains(&api));
        let registry = match store {
            Some(store) => SandboxRegistry::with_store(make, RegistryStore::new(Arc::clone(store), api, &account.name)),
            None => SandboxRegistry::new(make),
        };
        registries.insert(api.to_owned(), registry.clone());
        registry
    }

    /// Creates a sandbox within the quotas of an account.
    async fn make(&self, account: &Arc<Account>, mut new: NewSandbox) -> Result<MadeSandbox> {
        // A sandbox has at most the memory of the service's options.
        let memory_bytes = new.memory_bytes.map_or(self.0.memory_bytes, |bytes| bytes.min(self.0.memory_bytes));
        let lease = account.reserve(memory_bytes).inspect_err(|error| {
            self.0.metrics.count_refusal(&account.name, error);
        })?;
        new.memory_bytes = Some(lease.memory_bytes);
        let made = (self.0.make)(SandboxSpec { new, egress: account.quotas().egress }).await?;
        let meter = Arc::new(Metered {
            backend: made.sandbox,
            account: Arc::clone(account),
            lease: Mutex::new(Some(lease)),
            activity: Arc::new(Activity::default()),
            cpu: CpuMeter::new(Arc::clone(&made.cpu_time)),
            metrics: Arc::clone(&self.0.metrics),
            spans: Arc::clone(&self.0.spans),
        });
        self.0.meters.lock().insert(meter.backend.id().clone(), Arc::downgrade(&meter));
        Ok(MadeSandbox { sandbox: meter::metered(meter), ..made })
    }

    /// Returns the time since the last call of a sandbox. Zero while a call runs.
    pub(crate) fn idle_time(&self, sandbox: &dyn SandboxBackend) -> Duration {
        let meter = self.0.meters.lock().get(sandbox.id()).and_then(Weak::upgrade);
        meter.map_or(Duration::ZERO, |meter| meter.activity.idle_time())
    }

    /// Charges processor time of all sandboxes, and kills the processes of those whose tenant has none left.
    pub(crate) async fn enforce_cpu(&self) {
        let meters: Vec<_> = self.0.meters.lock().values().filter_map(Weak::upgrade).collect();
        for meter in meters {
            meter.enforce_cpu().await;
        }
    }

    /// Forgets the meters of sandboxes that no longer exist.
    pub(crate) fn forget_closed(&self) {
        self.0.meters.lock().retain(|_, meter| meter.strong_count() > 0);
    }

    /// Closes all sandboxes of all tenants. With a store they stay there.
    pub async fn end_all(&self) {
        for account in self.accounts() {
            account.end().await;
        }
    }

    /// Saves and closes the sandboxes in memory for which `is_released` is true, because another node will serve them.
    pub async fn release(&self, is_released: &(dyn Fn(&str) -> bool + Send + Sync)) {
        for account in self.accounts() {
            for registry in account.all_registries() {
                registry.release(is_released).await;
            }
        }
    }
}

impl TenantPort for Service {
    fn find(&self, token: &[u8]) -> Option<String> {
        self.account_of(token).map(|account| account.name.clone())
    }

    fn registry(&self, tenant: &str, provider: &str) -> Option<SandboxRegistry> {
        let account = self.account(tenant)?;
        Some(self.registry_of(&account, provider))
    }

    fn store(&self) -> Option<Arc<dyn SandboxStore>> {
        self.0.store.clone()
    }

    fn observe(&self, provider: &str, router: axum::Router) -> axum::Router {
        crate::log::observed(self, provider, router)
    }
}
