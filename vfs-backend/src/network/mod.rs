//! The sandbox's way to the network: a command that guests start for each request, and the policy behind it.

mod call;
mod frame;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tidebox_core::network::{HttpGateway, Network, NetworkClock, NetworkLog, NetworkPolicy};
use tidebox_core::{BoxFuture, Error, ErrorKind, HostCall, HostTool, Result, SandboxBackend, SandboxId};
use tidebox_kernel::Clock;

use crate::VfsBackend;
use crate::builder::SandboxBuilder;

/// Where the command is. It is not in `PATH`: people use `curl`, which uses it.
const FOLDER: &str = "/usr/libexec/tidebox";
const NAME: &str = "http";

impl SandboxBuilder {
    /// Opens the network as far as the policy goes. Default: no network at all.
    ///
    /// `curl` and `wget` go through it, and everything else that speaks as `docs/network.md` says. Forks of the sandbox have
    /// the same policy and a log and counters of their own.
    #[must_use]
    pub fn network(mut self, policy: NetworkPolicy) -> Self {
        self.network = Some(policy);
        self
    }

    /// Hands in what sends requests. [`build`](Self::build) refuses a policy without it.
    #[must_use]
    pub fn gateway(mut self, gateway: Arc<dyn HttpGateway>) -> Self {
        self.gateway = Some(gateway);
        self
    }

    /// Installs the command, when there is a policy.
    pub(crate) fn open_network(mut self) -> Result<(Self, Option<Arc<Networks>>)> {
        let Some(policy) = self.network.take() else { return Ok((self, None)) };
        let Some(gateway) = self.gateway.take() else {
            let message = "there is a network policy and nothing to send requests with; hand in a gateway";
            return Err(Error::new(ErrorKind::Unsupported, "make sandbox", message));
        };
        let networks = Arc::new(Networks {
            policy: Arc::new(policy),
            gateway,
            clock: Arc::new(SandboxClock(Mutex::new(self.clock.fork()))),
            by_sandbox: Mutex::default(),
        });
        let tool: Arc<dyn HostTool> = Arc::<Networks>::clone(&networks);
        Ok((self.host_tool_in(FOLDER, NAME.to_owned(), tool), Some(networks)))
    }
}

impl VfsBackend {
    /// Every request that programs of this sandbox made, refused ones included; empty without a network.
    pub fn network_log(&self) -> NetworkLog {
        self.network.as_ref().map(|network| network.networks.of(&network.sandbox).log()).unwrap_or_default()
    }

    pub(crate) fn with_networks(mut self, networks: Option<Arc<Networks>>) -> Self {
        let sandbox = SandboxBackend::id(&self).clone();
        self.network = networks.map(|networks| OwnNetwork { networks, sandbox });
        self
    }
}

/// A sandbox's part in the networks, given back when the sandbox goes.
pub(crate) struct OwnNetwork {
    networks: Arc<Networks>,
    sandbox: SandboxId,
}

impl OwnNetwork {
    /// For a fork.
    pub(crate) fn family(&self) -> Arc<Networks> {
        Arc::clone(&self.networks)
    }
}

impl Drop for OwnNetwork {
    fn drop(&mut self) {
        lock(&self.networks.by_sandbox).remove(&self.sandbox);
    }
}

/// The networks of a sandbox and of its forks: one policy, and for each what it has used.
pub(crate) struct Networks {
    policy: Arc<NetworkPolicy>,
    gateway: Arc<dyn HttpGateway>,
    clock: Arc<dyn NetworkClock>,
    by_sandbox: Mutex<BTreeMap<SandboxId, Arc<Network>>>,
}

impl Networks {
    fn of(&self, sandbox: &SandboxId) -> Arc<Network> {
        let mut networks = lock(&self.by_sandbox);
        if let Some(network) = networks.get(sandbox) {
            return Arc::clone(network);
        }
        let (policy, gateway) = (Arc::clone(&self.policy), Arc::clone(&self.gateway));
        let network = Arc::new(Network::new(policy, gateway, Arc::clone(&self.clock)));
        networks.insert(sandbox.clone(), Arc::clone(&network));
        network
    }
}

impl HostTool for Networks {
    fn call(&self, call: HostCall) -> BoxFuture<'static, u8> {
        Box::pin(call::answer(self.of(&call.sandbox), call))
    }
}

/// A fork of the sandbox's clock, so that the kernel need not be locked to know the time.
struct SandboxClock(Mutex<Box<dyn Clock>>);

impl NetworkClock for SandboxClock {
    fn realtime(&self) -> Duration {
        Duration::from_nanos(lock(&self.0).realtime())
    }

    fn monotonic(&self) -> Duration {
        Duration::from_nanos(lock(&self.0).monotonic())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
