//! Closes sandboxes that were idle for too long, and those at the end of their lifetime.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::service::Service;

/// Time between two checks, at most a tenth of the idle time.
const INTERVAL: Duration = Duration::from_secs(1);
const MIN_INTERVAL: Duration = Duration::from_millis(20);

impl Service {
    /// Closes sandboxes at the end of their time, until the future is dropped.
    pub async fn reap(&self) {
        loop {
            tokio::time::sleep(self.reap_interval()).await;
            self.reap_once().await;
        }
    }

    fn reap_interval(&self) -> Duration {
        let quotas = self.accounts().into_iter().map(|account| account.quotas());
        let times = quotas.flat_map(|quotas| [quotas.idle, quotas.lifetime]).chain([self.0.idle]).flatten();
        let shortest = times.min().map_or(INTERVAL, |time| time / 10);
        shortest.clamp(MIN_INTERVAL, INTERVAL)
    }

    /// Closes the sandboxes whose time has ended.
    pub(crate) async fn reap_once(&self) {
        for account in self.accounts() {
            let quotas = account.quotas();
            let (idle, lifetime) = (quotas.idle.or(self.0.idle), quotas.lifetime);
            let registries: Vec<_> = account.registries.lock().values().cloned().collect();
            for registry in registries {
                // Listing closes those whose requested lifetime has ended.
                for (id, record) in registry.list(&BTreeMap::new()).await {
                    let is_idle = idle.is_some_and(|idle| self.idle_time(&*record.sandbox) > idle);
                    let is_old = lifetime.is_some_and(|lifetime| record.created_at.elapsed() > lifetime);
                    if is_idle || is_old {
                        registry.close(&id).await;
                    }
                }
            }
        }
        self.forget_closed();
    }
}
