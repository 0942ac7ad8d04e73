//! `glob` and `grep` over the kernel's files.

use std::time::Duration;

use tidebox_kernel::SharedKernel;

mod glob;
mod grep;
mod lines;
mod walk;

pub(crate) use glob::glob;
pub(crate) use grep::grep;

/// Time limit of one `glob` by the sandbox's clock; the reference has the same limit.
const GLOB_TIME: Duration = Duration::from_secs(5);

/// Time limit of one `grep` by the sandbox's clock; the reference has the same limit.
const GREP_TIME: Duration = Duration::from_secs(15);

/// Maximum entries visited per search. The default limits allow a fifth of it; it bounds the cost of higher limits.
const VISITS: usize = 1_000_000;

/// Entries visited under the kernel's lock between two yields.
const VISITS_PER_YIELD: usize = 2048;

/// End of a search. If the clock does not advance, as in a deterministic sandbox, only the number of entries is
/// limited.
#[derive(Clone, Copy, Debug)]
struct Deadline(u64);

impl Deadline {
    fn after(kernel: &SharedKernel, time: Duration) -> Self {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        Self(kernel.lock().monotonic().saturating_add(nanos))
    }

    fn has_passed(self, kernel: &SharedKernel) -> bool {
        kernel.lock().monotonic() >= self.0
    }
}
