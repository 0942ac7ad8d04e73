//! Counter of live processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of processes of an engine, over all its sandboxes.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProcessCount(Arc<AtomicU64>);

impl ProcessCount {
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Counts a process until the returned guard is dropped.
    pub(crate) fn register(&self) -> ProcessGuard {
        self.0.fetch_add(1, Ordering::Relaxed);
        ProcessGuard { count: self.clone() }
    }
}

/// Guard of one counted process.
#[derive(Debug)]
pub(crate) struct ProcessGuard {
    count: ProcessCount,
}

impl Drop for ProcessGuard {
    fn drop(&mut self) {
        self.count.0.fetch_sub(1, Ordering::Relaxed);
    }
}
