//! Numbers of contents that no two contents share.

use core::sync::atomic::{AtomicU64, Ordering};

/// Numbers that one file system draws at a time, so that sandboxes on several threads rarely meet at the counter.
const LEASE: u64 = 1 << 20;

/// First number that no file system has drawn. 0 stays unused.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The numbers that one file system may still give out. An empty lease costs nothing until the first write.
#[derive(Debug, Default)]
pub(super) struct Versions {
    next: u64,
    end: u64,
}

impl Versions {
    pub(super) fn next(&mut self) -> u64 {
        if self.next == self.end {
            self.next = NEXT.fetch_add(LEASE, Ordering::Relaxed);
            self.end = self.next + LEASE;
        }
        self.next += 1;
        self.next - 1
    }
}
