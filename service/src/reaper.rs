//! Closes sandboxes that were idle for too long, and those at the end of their lifetime. Enforces quotas of processor time.

use std::collections::BTreeMap;
use std::time::Duration;

use tidebox_emulators::{SAVED_PROVIDERS, SandboxStore};

use crate::service::Service;

/// Time between two checks, at most a tenth of the idle time.
const INTERVAL: Duration = Duration::from_secs(1);
/// Time between two searches of the store, which list it.
const STORE_INTERVAL: Duration = Duration::from_secs(600);
const MIN_INTERVAL: Duration = Duration::from_millis(20);

impl Service {
    /// Closes sandboxes at the end of their time, until the future is dropped.
    pub async fn reap(&self) {
        tokio::join!(self.reap_loaded(), self.reap_saved());
    }

    async fn reap_loaded(&self) {
        loop {
            tokio::time::sleep(self.reap_interval()).await;
            self.reap_once().await;
        }
    }

    /// Removes sandboxes from the store that have expired there, until the future is dropped. Without a store it never ends.
    async fn reap_saved(&self) {
        let Some(store) = self.0.store.clone() else { return std::future::pending().await };
        loop {
            tokio::time::sleep(STORE_INTERVAL).await;
            // A failure is repeated the next time.
            let _ = self.reap_saved_once(&*store).await;
            let _ = store.collect_garbage().await;
        }
    }

    async fn reap_saved_once(&self, store: &dyn SandboxStore) -> tidebox_core::Result<()> {
        for api in SAVED_PROVIDERS {
            for listed in store.list(api).await? {
                let Some(account) = self.account(&listed.record.tenant) else { continue };
                let idle = account.quotas().idle.or(self.0.idle);
                self.registry_of(&account, api).delete_if_expired(&listed, idle).await?;
            }
        }
        Ok(())
    }

    fn reap_interval(&self) -> Duration {
        let quotas = self.accounts().into_iter().map(|account| account.quotas());
        let times = quotas.flat_map(|quotas| [quotas.idle, quotas.lifetime]).chain([self.0.idle]).flatten();
        let shortest = times.min().map_or(INTERVAL, |time| time / 10);
        shortest.clamp(MIN_INTERVAL, INTERVAL)
    }

    /// Closes the sandboxes whose time has ended, and enforces quotas.
    pub(crate) async fn reap_once(&self) {
        self.enforce_cpu().await;
        for account in self.accounts() {
            let quotas = account.quotas();
            let (idle, lifetime) = (quotas.idle.or(self.0.idle), quotas.lifetime);
            for registry in account.all_registries() {
                // Listing closes those whose requested lifetime has ended.
                for (id, record) in registry.list_loaded(&BTreeMap::new()).await {
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
