//! Turns: which process runs next must not depend on how fast the machine is, when runs are to be repeatable.
//!
//! A process then runs until it waits or has made [`CALLS`] calls; wall time plays no part. Between two calls a process can
//! neither be seen by others nor see them, so where the engine interrupts it in between does not matter, as long as
//! nobody else of its session runs meanwhile.

use crate::kernel::Kernel;
use crate::process::Pid;

/// Calls after which a process lets others have a turn. A loop that asks for something which another process does must
/// not ask for ever; a larger number makes fewer switches.
const CALLS: u32 = 256;

impl Kernel {
    /// Counts a call. `true` when the process has to let others have a turn before it makes it; the engine then asks
    /// again later. Never `true` unless runs are to be repeatable ([`is_repeatable`](Self::is_repeatable)).
    pub fn turn_is_over(&mut self, pid: Pid) -> bool {
        if !self.is_repeatable() {
            return false;
        }
        let Some(process) = self.processes.get_mut(pid) else { return false };
        process.calls += 1;
        process.calls > CALLS && self.end_turn(pid)
    }

    /// Ends the process's turn by its own wish. `false` when runs need not be repeatable, and turns are the engine's.
    pub fn end_turn(&mut self, pid: Pid) -> bool {
        let repeatable = self.is_repeatable();
        if let Some(process) = self.processes.get_mut(pid).filter(|_| repeatable) {
            process.calls = 0;
            process.gave_way = true;
        }
        repeatable
    }

    /// Whether the process, which its engine could not run on just now, has nothing to do or has ended its turn. If not,
    /// it was interrupted in the middle, or waits for the world outside, whose answer comes at no repeatable time: it must
    /// go on before another of its session does. Asking takes an ended turn back.
    pub fn gave_way(&mut self, pid: Pid) -> bool {
        match self.processes.get_mut(pid) {
            Some(process) => std::mem::take(&mut process.gave_way) || process.waits_inside() || process.ended.is_some(),
            None => true,
        }
    }
}
