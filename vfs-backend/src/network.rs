//! The sandbox's network access: a command that guests start for each request, and the policy that it applies.

mod call;
mod frame;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tidebox_core::lock::Mutex;
use tidebox_core::network::{HttpGateway, Network, NetworkClock, NetworkLog, NetworkPolicy};
use tidebox_core::{BoxFuture, Error, ErrorKind, HostCall, HostTool, Result, SandboxBackend, SandboxId};
use tidebox_kernel::Clock;

use crate::VfsBackend;
use crate::builder::SandboxBuilder;

/// Directory of the command. It is not in `PATH`: programs use it through `curl`.
const INSTALL_DIR: &str = "/usr/libexec/tidebox";
const NAME: &str = "http";

impl SandboxBuilder {
    /// Enables network access within the policy. Default: no network.
    ///
    /// `curl`, `wget` and any program that implements the protocol network_of `docs/network.md` use it. Forks of the sandbox
    /// have the same policy and a separate log and counters.
    #[must_use]
    pub fn network(mut self, policy: NetworkPolicy) -> Self {
        self.network = Some(policy);
        self
    }

    /// Sets the gateway that sends requests. [`build`](Self::build) rejects a policy without one.
    #[must_use]
    pub fn gateway(mut self, gateway: Arc<dyn HttpGateway>) -> Self {
        self.gateway = Some(gateway);
        self
    }

    /// Installs the command if there is a policy.
    pub(crate) fn install_network(mut self) -> Result<(Self, Option<Arc<NetworkGroup>>)> {
        let Some(policy) = self.network.take() else { return Ok((self, None)) };
        let Some(gateway) = self.gateway.take() else {
            let message = "the network policy needs a gateway; set one with gateway()";
            return Err(Error::new(ErrorKind::Unsupported, "build sandbox", message));
        };
        let networks = Arc::new(NetworkGroup {
            policy: Arc::new(policy),
            gateway,
            clock: Arc::new(SandboxClock(Mutex::new(self.clock.fork()))),
            by_sandbox: Mutex::default(),
        });
        let tool: Arc<dyn HostTool> = Arc::<NetworkGroup>::clone(&networks);
        Ok((self.host_tool_at(INSTALL_DIR, NAME.to_owned(), tool), Some(networks)))
    }
}

impl VfsBackend {
    /// Returns every request of this sandbox's programs, including denied ones; empty without a network.
    pub fn network_log(&self) -> NetworkLog {
        self.network.as_ref().map(|network| network.networks.network_of(&network.sandbox).log()).unwrap_or_default()
    }

    pub(crate) fn with_networks(mut self, networks: Option<Arc<NetworkGroup>>) -> Self {
        let sandbox = SandboxBackend::id(&self).clone();
        self.network = networks.map(|networks| SandboxNetwork { networks, sandbox });
        self
    }
}

/// A sandbox's membership in the network group, released on drop.
pub(crate) struct SandboxNetwork {
    networks: Arc<NetworkGroup>,
    sandbox: SandboxId,
}

impl SandboxNetwork {
    /// Returns the group, for a fork.
    pub(crate) fn networks(&self) -> Arc<NetworkGroup> {
        Arc::clone(&self.networks)
    }
}

impl Drop for SandboxNetwork {
    fn drop(&mut self) {
        self.networks.by_sandbox.lock().remove(&self.sandbox);
    }
}

/// Networks of a sandbox and its forks: one policy, and the usage of each.
pub(crate) struct NetworkGroup {
    policy: Arc<NetworkPolicy>,
    gateway: Arc<dyn HttpGateway>,
    clock: Arc<dyn NetworkClock>,
    by_sandbox: Mutex<BTreeMap<SandboxId, Arc<Network>>>,
}

impl NetworkGroup {
    fn network_of(&self, sandbox: &SandboxId) -> Arc<Network> {
        let mut networks = self.by_sandbox.lock();
        if let Some(network) = networks.get(sandbox) {
            return Arc::clone(network);
        }
        let (policy, gateway) = (Arc::clone(&self.policy), Arc::clone(&self.gateway));
        let network = Arc::new(Network::new(policy, gateway, Arc::clone(&self.clock)));
        networks.insert(sandbox.clone(), Arc::clone(&network));
        network
    }
}

impl HostTool for NetworkGroup {
    fn call(&self, call: HostCall) -> BoxFuture<'static, u8> {
        Box::pin(call::handle_call(self.network_of(&call.sandbox), call))
    }
}

/// A fork of the sandbox's clock, to read the time without locking the kernel.
struct SandboxClock(Mutex<Box<dyn Clock>>);

impl NetworkClock for SandboxClock {
    fn realtime(&self) -> Duration {
        Duration::from_nanos(self.0.lock().realtime())
    }

    fn monotonic(&self) -> Duration {
        Duration::from_nanos(self.0.lock().monotonic())
    }
}
