//! A node at work: signs of life, claims, and the way out.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tidebox_core::{Error, ErrorKind, Result};
use tidebox_service::Service;
use tokio::task::JoinHandle;

use crate::SavedSandboxes;
use crate::fleet::directory::{Directory, Node};
use crate::fleet::membership::{Membership, Now};
use crate::fleet::shard::shard_of;
use crate::stores::name::hex;

/// Signs of life in the time of a lease.
const BEATS: u32 = 5;

/// Configuration of a node.
#[derive(Clone, Debug)]
pub struct FleetConfig {
    /// The directory of all nodes.
    pub directory: Arc<dyn Directory>,
    /// Time without a sign of life after which other nodes take the shards of a node. It must be the same for all nodes.
    pub lease: Duration,
    /// Addresses at which other nodes reach the servers of this one, as in `10.0.0.7:8080`, by their kinds: `rest` or the name of a
    /// provider.
    pub addresses: BTreeMap<String, String>,
}

/// A node of a fleet, until [`leave`](Self::leave) or drop. A dropped one is like one that has failed.
pub struct Fleet {
    membership: Arc<Membership>,
    service: Service,
    task: JoinHandle<()>,
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet").field("membership", &self.membership).finish_non_exhaustive()
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Fleet {
    /// Joins a fleet. `store` is that of the service, made by [`SavedSandboxes::in_fleet`]. The node gets its shards in the background.
    ///
    /// Failures to reach the directory go to `report`, once until it is reached again.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] for a store that is not one of several nodes or has joined already; [`ErrorKind::Unavailable`] if
    /// the operating system has no random numbers.
    pub fn join(
        config: FleetConfig,
        store: &SavedSandboxes,
        service: Service,
        report: impl Fn(&Error) + Send + Sync + 'static,
    ) -> Result<Self> {
        let FleetConfig { directory, lease, addresses } = config;
        let node = Node { name: random_name()?, addresses };
        let start = Instant::now();
        let now: Now = Arc::new(move || start.elapsed());
        let membership = Arc::new(Membership::new(directory, node, lease, now));
        if !store.set_membership(Arc::clone(&membership)) {
            let message = "the store is not one of several nodes, or has joined already; use SavedSandboxes::in_fleet";
            return Err(Error::new(ErrorKind::InvalidRequest, "join fleet", message));
        }
        let task = tokio::spawn(run(Arc::clone(&membership), service.clone(), lease, report));
        Ok(Self { membership, service, task })
    }

    /// Returns the number of shards for which the node serves.
    pub fn shards(&self) -> usize {
        self.membership.served_shards()
    }

    /// Saves and closes the sandboxes, gives the shards to other nodes, and leaves. Call it when no requests are in progress.
    ///
    /// # Errors
    /// Those of the directory. Other nodes then take the shards after the time of a lease.
    pub async fn leave(self) -> Result<()> {
        self.membership.begin_leave();
        // Other nodes must not give it further shards.
        self.membership.renew().await?;
        let shards = self.membership.close_excess();
        self.service.end_all().await;
        self.membership.give(&shards).await?;
        self.membership.leave().await
    }
}

/// Returns a random name of lower-case letters and digits.
pub(super) fn random_name() -> Result<String> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::new(ErrorKind::Unavailable, "join fleet", format!("the system has no random bytes: {error}; try again"))
    })?;
    Ok(hex(&bytes))
}

async fn run(
    membership: Arc<Membership>,
    service: Service,
    lease: Duration,
    report: impl Fn(&Error) + Send + Sync + 'static,
) {
    let mut has_failed = false;
    loop {
        let result = match tokio::time::timeout(lease, round(&membership, &service)).await {
            Ok(result) => result,
            Err(_) => Err(Error::new(ErrorKind::Timeout, "renew lease", "the directory of nodes does not respond")),
        };
        if let Err(error) = &result
            && !has_failed
        {
            report(error);
        }
        has_failed = result.is_err();
        tokio::time::sleep(lease / BEATS).await;
    }
}

async fn round(membership: &Arc<Membership>, service: &Service) -> Result<()> {
    membership.renew().await?;
    let claimed = membership.claim().await;
    let lost = membership.take_lost();
    if !lost.is_empty() {
        let service = service.clone();
        // Not awaited: a slow store must not delay the next sign of life.
        tokio::spawn(async move { service.release(&|id| lost.contains(&shard_of(id))).await });
    }
    claimed?;
    let excess = membership.close_excess();
    if !excess.is_empty() {
        let (membership, service) = (Arc::clone(membership), service.clone());
        tokio::spawn(async move {
            service.release(&|id| excess.contains_key(&shard_of(id))).await;
            // The shards stay closed after an error, and the next round tries again.
            let _ = membership.give(&excess).await;
        });
    }
    membership.forget_failed().await
}
