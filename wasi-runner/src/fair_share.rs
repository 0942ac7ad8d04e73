//! Equal processor time for busy sandboxes that share a thread.
//!
//! The executor polls busy tasks one after the other. Without a correction, a sandbox with several commands would be polled more
//! often, and one with several busy processes longer.

use std::time::Duration;

use tidebox_kernel::{ExecutionId, SharedKernel};

use crate::ticker;

/// Processor time of a poll: one time slice of one process.
const SLICE: Duration = ticker::PERIOD;

/// Limits the polls that are skipped after a long one, such as one of a host program that computes.
const MAX_DEBT: Duration = Duration::from_millis(200);

/// Share of one execution.
#[derive(Debug, Default)]
pub(crate) struct FairShare {
    /// Processor time that the execution used beyond its share.
    debt: Duration,
    is_busy: bool,
}

impl FairShare {
    /// Returns whether the execution must skip this poll.
    pub(crate) fn skips_poll(&mut self) -> bool {
        let skips = self.debt >= SLICE;
        if skips {
            self.debt -= SLICE;
        }
        skips
    }

    /// Accounts for a poll that took `used`. Each of several busy executions of a sandbox gets its part of one slice.
    pub(crate) fn charge(&mut self, kernel: &SharedKernel, execution: ExecutionId, used: Duration) {
        let is_busy = used >= SLICE / 2;
        if !is_busy && !self.is_busy {
            return;
        }
        self.is_busy = is_busy;
        let busy = kernel.lock().set_busy(execution, is_busy);
        self.debt = (self.debt + used * busy.max(1)).saturating_sub(SLICE).min(MAX_DEBT);
    }
}
