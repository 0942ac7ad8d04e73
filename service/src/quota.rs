//! Quotas of a tenant.

use std::time::Duration;

use tidebox_core::{Error, ErrorKind};

/// Maximum amounts that a tenant may use. The default has no limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quotas {
    /// Sandboxes that exist at the same time. `None`: unlimited.
    pub sandboxes: Option<u64>,
    /// Bytes of memory that all its sandboxes together may have: each one reserves its limit while it exists. `None`: unlimited.
    pub memory_bytes: Option<u64>,
    /// Processor time of its commands and processes in one hour. The hour starts with the first command after the previous hour. `None`:
    /// unlimited.
    pub cpu_per_hour: Option<Duration>,
    /// Processor time of its commands and processes since the start of the service. `None`: unlimited.
    pub cpu_total: Option<Duration>,
    /// Hosts that its commands may read from over HTTPS, in addition to those of the service. Default: none.
    pub egress: Vec<String>,
    /// Time after the last call after which a sandbox is closed. `None`: that of the service.
    pub idle: Option<Duration>,
    /// Time after its creation after which a sandbox is closed. `None`: unlimited.
    pub lifetime: Option<Duration>,
}

/// A quota that denied a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quota {
    Sandboxes,
    Memory,
    CpuPerHour,
    CpuTotal,
    Snapshots,
}

impl Quota {
    /// Returns the stable name: the key of the tenants' file.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Sandboxes => "sandboxes",
            Self::Memory => "memory",
            Self::CpuPerHour => "cpu_seconds_per_hour",
            Self::CpuTotal => "cpu_seconds_total",
            Self::Snapshots => "snapshots",
        }
    }

    /// Returns the reason and the remedy.
    fn message(self, limit: u64, used: u64) -> String {
        match self {
            Self::Sandboxes => {
                format!(
                    "{used} of {limit} sandboxes exist; delete one, or wait until one has been idle for long enough"
                )
            }
            Self::Memory => format!(
                "{used} of {limit} bytes of memory are reserved; delete a sandbox, or create one with a lower memory_bytes"
            ),
            Self::CpuPerHour => format!("{used} of {limit} seconds of processor time are used up in this hour"),
            Self::CpuTotal => format!("{used} of {limit} seconds of processor time are used up"),
            Self::Snapshots => format!("{used} of {limit} snapshots exist; delete one"),
        }
    }
}

/// Name of the error's context value with the quota.
pub(crate) const QUOTA: &str = "quota";
/// Name of the error's context value with the seconds after which the quota frees.
pub(crate) const FREES_IN_SECONDS: &str = "frees_in_seconds";

/// Returns the error for a request beyond a quota. `frees_in` is the time after which it frees, if that is known.
pub(crate) fn exceeded(
    operation: &'static str,
    quota: Quota,
    limit: u64,
    used: u64,
    frees_in: Option<Duration>,
) -> Error {
    let error = Error::new(ErrorKind::QuotaExceeded, operation, quota.message(limit, used))
        .with_context(QUOTA, quota.as_str())
        .with_context("limit", limit.to_string())
        .with_context("used", used.to_string());
    match frees_in {
        Some(after) => error.with_context(FREES_IN_SECONDS, after.as_secs().saturating_add(1).to_string()),
        None => error,
    }
}
