//! Processor time of processes and executions, measured by the engine.

use std::time::Duration;

use crate::execution::ExecutionId;
use crate::kernel::Kernel;
use crate::process::Pid;

/// Processor time of a process. Guests have no system time: calls into the kernel count as theirs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CpuTime {
    /// Nanoseconds of the process.
    pub(crate) own: u64,
    /// Nanoseconds of the children it has waited for, and of their descendants.
    pub(crate) children: u64,
}

impl CpuTime {
    pub(crate) fn total(self) -> u64 {
        self.own.saturating_add(self.children)
    }
}

impl Kernel {
    /// Charges processor time that the engine measured while it ran the process, or compiled its program. An ended process is
    /// charged too, until its parent waits for it.
    pub fn charge_cpu_time(&mut self, execution: ExecutionId, pid: Pid, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        if let Some(process) = self.processes.get_mut(pid) {
            process.cpu_time.own = process.cpu_time.own.saturating_add(nanos);
        }
        self.cpu_nanos = self.cpu_nanos.saturating_add(nanos);
        if let Some(execution) = self.executions.get_mut(&execution) {
            execution.cpu_nanos = execution.cpu_nanos.saturating_add(nanos);
        }
    }

    /// Returns the processor time that an execution may still use; `None` if it is unlimited. The engine checks it after each
    /// time slice, and stops an execution that has none left with [`StopReason::CpuTime`](crate::StopReason::CpuTime).
    pub fn remaining_cpu_time(&self, execution: ExecutionId) -> Option<Duration> {
        let limit = self.limits.cpu_time?;
        let found = self.executions.get(&execution)?;
        let used = Duration::from_nanos(found.cpu_nanos.saturating_sub(found.cpu_nanos_before));
        Some(limit.saturating_sub(used))
    }

    /// Records whether an execution used its last time slice. Returns how many executions of the sandbox did.
    pub fn set_busy(&mut self, execution: ExecutionId, is_busy: bool) -> u32 {
        if let Some(found) = self.executions.get_mut(&execution) {
            found.is_busy = is_busy;
        }
        u32::try_from(self.executions.values().filter(|execution| execution.is_busy).count()).unwrap_or(u32::MAX)
    }

    /// Returns the processor time of all processes since the sandbox was created.
    pub fn cpu_time(&self) -> Duration {
        Duration::from_nanos(self.cpu_nanos)
    }

    /// Returns the time that guests see: zero in a deterministic sandbox, because it depends on the host.
    pub(crate) fn visible_cpu_time(&self, pid: Pid) -> CpuTime {
        if self.is_deterministic() {
            return CpuTime::default();
        }
        self.processes.get(pid).map(|process| process.cpu_time).unwrap_or_default()
    }

    /// Returns the nanoseconds of all processes since the sandbox was created, as guests see them.
    pub(crate) fn visible_total_cpu_time(&self) -> u64 {
        if self.is_deterministic() { 0 } else { self.cpu_nanos }
    }
}
