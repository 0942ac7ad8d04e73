//! Globally unique content version numbers.

use core::sync::atomic::{AtomicU64, Ordering};

/// Numbers that one file system reserves at a time, which reduces contention on the counter between threads.
const VERSION_BATCH: u64 = 1 << 20;

/// First unreserved number. 0 stays unused.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The numbers that one file system may still assign. An empty range costs nothing until the first write.
#[derive(Debug, Default)]
pub(super) struct Versions {
    next: u64,
    end: u64,
}

impl Versions {
    pub(super) fn next(&mut self) -> u64 {
        if self.next == self.end {
            self.next = NEXT.fetch_add(VERSION_BATCH, Ordering::Relaxed);
            self.end = self.next + VERSION_BATCH;
        }
        self.next += 1;
        self.next - 1
    }
}
