//! Records which limit an execution has reached first, so that the response can name it if the command then fails.

use tidebox_core::StopReason;

use crate::errno::Errno;
use crate::execution::ExecutionId;
use crate::kernel::Kernel;
use crate::process::Pid;

impl Kernel {
    /// Records that the execution of the process has reached a limit. Later ones are ignored.
    pub(crate) fn record_limit(&mut self, pid: Pid, limit: StopReason) {
        let Some(execution) = self.processes.get(pid).map(|process| process.execution) else { return };
        self.record_execution_limit(execution, limit);
    }

    pub(crate) fn record_execution_limit(&mut self, execution: ExecutionId, limit: StopReason) {
        if let Some(execution) = self.executions.get_mut(&execution) {
            execution.limit_reached.get_or_insert(limit);
        }
    }

    /// Records the limit that made a call fail, if one did. `/dev/full` and full mounts do not count.
    pub(crate) fn record_failed_call(&mut self, pid: Pid, errno: Errno) {
        let limit = match errno {
            Errno::Nospc => self.fs.exhausted_limit(),
            Errno::Fbig => Some(StopReason::Files),
            Errno::Mfile | Errno::Nfile => Some(StopReason::Descriptors),
            _ => None,
        };
        if let Some(limit) = limit {
            self.record_limit(pid, limit);
        }
    }
}
