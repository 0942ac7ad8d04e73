//! Time slices: in deterministic mode, the scheduling order must not depend on the speed of the host.
//!
//! A process then runs until it waits or has made [`CALLS_PER_SLICE`] calls; wall time has no effect. Between two calls a process
//! can neither observe others nor be observed by them, so an interruption by the engine at that point does not matter, as long as
//! no other process of its execution runs in between.

use crate::kernel::Kernel;
use crate::process::Pid;

/// System calls per time slice. Bounded so that a process polling for another one cannot starve it; a larger value means fewer
/// context switches.
const CALLS_PER_SLICE: u32 = 256;

impl Kernel {
    /// Counts a call. Returns `true` if the process must yield before it makes the call; the engine then repeats the check later.
    /// Always `false` unless runs are deterministic ([`is_deterministic`](Self::is_deterministic)).
    pub fn slice_expired(&mut self, pid: Pid) -> bool {
        if !self.is_deterministic() {
            return false;
        }
        let Some(process) = self.processes.get_mut(pid) else { return false };
        process.calls += 1;
        process.calls > CALLS_PER_SLICE && self.yield_slice(pid)
    }

    /// Ends the time slice at the process's request. Returns `false` unless runs are deterministic; otherwise the engine does the
    /// scheduling.
    pub fn yield_slice(&mut self, pid: Pid) -> bool {
        let repeatable = self.is_deterministic();
        if let Some(process) = self.processes.get_mut(pid).filter(|_| repeatable) {
            process.calls = 0;
            process.yielded = true;
        }
        repeatable
    }

    /// Returns whether the process, which its engine could not continue just now, is waiting or has ended its time slice.
    /// Otherwise it was interrupted, or waits for something outside the sandbox at a non-deterministic time: it must continue
    /// before another process of its execution does. The call clears the yield.
    pub fn has_yielded(&mut self, pid: Pid) -> bool {
        match self.processes.get_mut(pid) {
            Some(process) => {
                std::mem::take(&mut process.yielded) || process.waits_internally() || process.ended.is_some()
            }
            None => true,
        }
    }
}
