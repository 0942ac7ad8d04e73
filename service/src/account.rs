//! The account of a tenant: its sandboxes, snapshots and usage.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use tidebox_core::lock::Mutex;
use tidebox_core::{Error, ErrorKind, Result};
use tidebox_emulators::{FileSnapshot, SandboxRegistry};

use crate::quota::{Quota, Quotas, exceeded};

/// Length of the window of [`Quotas::cpu_per_hour`].
const HOUR: Duration = Duration::from_secs(3600);

/// Maximum number of snapshots of one tenant: they stay in memory until they are deleted.
pub(crate) const MAX_SNAPSHOTS: usize = 256;

/// A snapshot of a tenant.
#[derive(Clone, Debug)]
pub(crate) struct SavedSnapshot {
    pub(crate) sandbox: String,
    pub(crate) created: SystemTime,
    pub(crate) files: FileSnapshot,
}

/// The account of a tenant. It outlives changes of the tenants' file.
pub(crate) struct Account {
    pub(crate) name: String,
    state: Mutex<State>,
    /// Sandboxes by API: one registry for the REST API and for each emulator.
    pub(crate) registries: Mutex<BTreeMap<String, SandboxRegistry>>,
    pub(crate) snapshots: Mutex<BTreeMap<String, SavedSnapshot>>,
}

#[derive(Debug, Default)]
struct State {
    quotas: Quotas,
    sandboxes: u64,
    memory_bytes: u64,
    cpu_total: Duration,
    cpu_hour: Duration,
    hour_start: Option<Instant>,
}

/// Current usage of a tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) sandboxes: u64,
    pub(crate) memory_bytes: u64,
    pub(crate) cpu_hour: Duration,
    pub(crate) cpu_total: Duration,
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Account").field("name", &self.name).finish_non_exhaustive()
    }
}

impl State {
    /// Returns the rest of the current hour, and starts a new one if it has ended.
    fn hour(&mut self, now: Instant) -> Duration {
        let start = self.hour_start.filter(|start| now.duration_since(*start) < HOUR);
        if start.is_none() {
            (self.hour_start, self.cpu_hour) = (None, Duration::ZERO);
        }
        start.map_or(HOUR, |start| HOUR.saturating_sub(now.duration_since(start)))
    }
}

impl Account {
    pub(crate) fn new(name: &str, quotas: Quotas) -> Arc<Self> {
        Arc::new(Self {
            name: name.to_owned(),
            state: Mutex::new(State { quotas, ..State::default() }),
            registries: Mutex::default(),
            snapshots: Mutex::default(),
        })
    }

    pub(crate) fn quotas(&self) -> Quotas {
        self.state.lock().quotas.clone()
    }

    pub(crate) fn set_quotas(&self, quotas: Quotas) {
        self.state.lock().quotas = quotas;
    }

    pub(crate) fn usage(&self) -> Usage {
        let mut state = self.state.lock();
        state.hour(Instant::now());
        Usage {
            sandboxes: state.sandboxes,
            memory_bytes: state.memory_bytes,
            cpu_hour: state.cpu_hour,
            cpu_total: state.cpu_total,
        }
    }

    /// Reserves a sandbox and its memory until the lease is dropped. `memory_bytes` is reduced to the tenant's quota, so that a
    /// default above it does not deny every sandbox.
    ///
    /// # Errors
    /// [`ErrorKind::QuotaExceeded`].
    pub(crate) fn reserve(self: &Arc<Self>, memory_bytes: u64) -> Result<Lease> {
        let mut state = self.state.lock();
        if let Some(limit) = state.quotas.sandboxes.filter(|limit| state.sandboxes >= *limit) {
            return Err(exceeded("create sandbox", Quota::Sandboxes, limit, state.sandboxes, None));
        }
        let memory_bytes = state.quotas.memory_bytes.map_or(memory_bytes, |limit| memory_bytes.min(limit));
        let reserved = state.memory_bytes.saturating_add(memory_bytes);
        if let Some(limit) = state.quotas.memory_bytes.filter(|limit| reserved > *limit) {
            return Err(exceeded("create sandbox", Quota::Memory, limit, state.memory_bytes, None));
        }
        state.sandboxes = state.sandboxes.saturating_add(1);
        state.memory_bytes = reserved;
        drop(state);
        Ok(Lease { account: Arc::clone(self), memory_bytes })
    }

    /// Checks that processor time is left before a command starts.
    ///
    /// # Errors
    /// [`ErrorKind::QuotaExceeded`].
    pub(crate) fn check_cpu(&self, operation: &'static str) -> Result<()> {
        let mut state = self.state.lock();
        let rest = state.hour(Instant::now());
        if let Some(limit) = state.quotas.cpu_total.filter(|limit| state.cpu_total >= *limit) {
            return Err(exceeded(operation, Quota::CpuTotal, limit.as_secs(), state.cpu_total.as_secs(), None));
        }
        if let Some(limit) = state.quotas.cpu_per_hour.filter(|limit| state.cpu_hour >= *limit) {
            return Err(exceeded(operation, Quota::CpuPerHour, limit.as_secs(), state.cpu_hour.as_secs(), Some(rest)));
        }
        Ok(())
    }

    /// Charges processor time of a sandbox.
    pub(crate) fn charge_cpu(&self, used: Duration) {
        if used.is_zero() {
            return;
        }
        let now = Instant::now();
        let mut state = self.state.lock();
        state.hour(now);
        state.hour_start.get_or_insert(now);
        state.cpu_hour = state.cpu_hour.saturating_add(used);
        state.cpu_total = state.cpu_total.saturating_add(used);
    }

    /// Keeps a snapshot.
    ///
    /// # Errors
    /// [`ErrorKind::QuotaExceeded`] at [`MAX_SNAPSHOTS`].
    pub(crate) fn save_snapshot(&self, id: String, snapshot: SavedSnapshot) -> Result<()> {
        let mut snapshots = self.snapshots.lock();
        if snapshots.len() >= MAX_SNAPSHOTS {
            let (limit, used) = (MAX_SNAPSHOTS as u64, snapshots.len() as u64);
            return Err(exceeded("snapshot", Quota::Snapshots, limit, used, None));
        }
        snapshots.insert(id, snapshot);
        Ok(())
    }

    /// Returns the snapshot with this id.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] if the tenant has none with it.
    pub(crate) fn find_snapshot(&self, id: &str) -> Result<FileSnapshot> {
        let found = self.snapshots.lock().get(id).map(|snapshot| snapshot.files.clone());
        found.ok_or_else(|| {
            let message = format!("no snapshot has the id {id:?}; list them with GET /v1/snapshots");
            Error::new(ErrorKind::InvalidRequest, "find snapshot", message)
        })
    }

    /// Closes all sandboxes.
    pub(crate) async fn close(&self) {
        for registry in self.all_registries() {
            registry.close_all().await;
        }
        self.snapshots.lock().clear();
    }

    /// Closes all sandboxes at the end of the program. Saved ones stay in the store.
    pub(crate) async fn end(&self) {
        for registry in self.all_registries() {
            registry.end().await;
        }
    }

    pub(crate) fn all_registries(&self) -> Vec<SandboxRegistry> {
        self.registries.lock().values().cloned().collect()
    }
}

/// A reserved sandbox of a tenant. Dropping it frees the reservation.
#[derive(Debug)]
pub(crate) struct Lease {
    account: Arc<Account>,
    pub(crate) memory_bytes: u64,
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut state = self.account.state.lock();
        state.sandboxes = state.sandboxes.saturating_sub(1);
        state.memory_bytes = state.memory_bytes.saturating_sub(self.memory_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context<'a>(error: &'a Error, name: &str) -> Option<&'a str> {
        error.context().iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    #[test]
    fn sandboxes_and_memory_are_reserved_until_dropped() {
        let quotas = Quotas { sandboxes: Some(3), memory_bytes: Some(100), ..Quotas::default() };
        let account = Account::new("a", quotas);
        let first = account.reserve(60).unwrap();
        let denied = account.reserve(60).unwrap_err();
        assert_eq!(context(&denied, "quota"), Some("memory"));
        assert_eq!((context(&denied, "limit"), context(&denied, "used")), (Some("100"), Some("60")));
        let (_second, _third) = (account.reserve(20).unwrap(), account.reserve(20).unwrap());
        assert_eq!(context(&account.reserve(0).unwrap_err(), "quota"), Some("sandboxes"));
        drop(first);
        assert_eq!((account.usage().sandboxes, account.usage().memory_bytes), (2, 40));
        assert_eq!(account.reserve(60).unwrap().memory_bytes, 60);
    }

    #[test]
    fn a_default_above_the_memory_quota_is_reduced() {
        let account = Account::new("a", Quotas { memory_bytes: Some(10), ..Quotas::default() });
        assert_eq!(account.reserve(1 << 30).unwrap().memory_bytes, 10);
    }

    #[test]
    fn used_processor_time_denies_further_commands() {
        let second = Duration::from_secs(1);
        let account = Account::new("a", Quotas { cpu_per_hour: Some(second), ..Quotas::default() });
        account.check_cpu("execute").unwrap();
        account.charge_cpu(second);
        let denied = account.check_cpu("execute").unwrap_err();
        assert_eq!(context(&denied, "quota"), Some("cpu_seconds_per_hour"));
        let frees: u64 = context(&denied, FREES).unwrap().parse().unwrap();
        assert!((3590..=3600).contains(&frees), "{frees}");
        account.set_quotas(Quotas { cpu_total: Some(second), ..Quotas::default() });
        let denied = account.check_cpu("execute").unwrap_err();
        assert_eq!((context(&denied, "quota"), context(&denied, FREES)), (Some("cpu_seconds_total"), None));
    }

    const FREES: &str = crate::quota::FREES_IN_SECONDS;
}
