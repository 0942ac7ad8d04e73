//! `glob` and `grep` over the kernel's files.

use std::time::Duration;

use tidebox_kernel::SharedKernel;

use crate::backend::lock;

mod glob;
mod grep;
mod lines;
mod walk;

pub(crate) use glob::glob;
pub(crate) use grep::grep;

/// How long one `glob` may take by the sandbox's clock; the reference has the same bound.
const GLOB_TIME: Duration = Duration::from_secs(5);

/// How long one `grep` may take by the sandbox's clock; the reference has the same bound.
const GREP_TIME: Duration = Duration::from_secs(15);

/// Entries that one search may visit. The default limits allow a fifth of it; it bounds what a raised limit can cost.
const VISITS: usize = 1_000_000;

/// Entries that are visited in one go, under the kernel's lock, before others have a turn.
const VISITS_PER_TURN: usize = 2048;

/// When a search has to end. A clock that stands still, as in a deterministic sandbox, leaves the count of entries as the
/// only bound.
#[derive(Clone, Copy, Debug)]
struct Deadline(u64);

impl Deadline {
    fn after(kernel: &SharedKernel, time: Duration) -> Self {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Self(lock(kernel).monotonic().saturating_add(nanos))
    }

    fn is_over(self, kernel: &SharedKernel) -> bool {
        lock(kernel).monotonic() >= self.0
    }
}
