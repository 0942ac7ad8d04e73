//! Request channel of an interactive execution: its root process waits for a request, replies, and waits for the next one. The
//! process stays the same, so its state persists between requests.

use std::time::Duration;

use crate::errno::Errno;
use crate::execution::{Execution, ExecutionId, ExecutionReport};
use crate::kernel::Kernel;
use crate::process::Pid;
use crate::saved_process::Rest;

/// Data exchanged between the caller and the root process.
#[derive(Debug, Default)]
pub(crate) struct RequestChannel {
    /// The pending request.
    pub(crate) request: Option<Vec<u8>>,
    /// The pending reply.
    pub(crate) reply: Option<Vec<u8>>,
    /// True while the process waits for a request without resting.
    pub(crate) is_listening: bool,
    pub(crate) rest: Rest,
}

impl RequestChannel {
    pub(crate) fn new(supports_rest: bool) -> Self {
        Self { rest: Rest { supported: supports_rest, ..Rest::default() }, ..Self::default() }
    }
}

impl Kernel {
    /// Sends a request to the root process of an execution that was started as [interactive](crate::ExecutionSpec::interactive).
    /// The process may use `wall_time`, starting now, and print as many bytes as a new execution may. Replaces a request that was
    /// not read yet. Returns `false` if the execution does not exist or its root process has ended.
    pub fn send_request(&mut self, execution: ExecutionId, request: Vec<u8>, wall_time: Duration) -> bool {
        let output_bytes = self.limits.output_bytes;
        let Some(found) = self.executions.get_mut(&execution).filter(|found| found.root_status.is_none()) else {
            return false;
        };
        let Some(conversation) = &mut found.interactive else { return false };
        (conversation.request, conversation.reply) = (Some(request), None);
        found.new_wall_time = Some(wall_time);
        found.reset_request_limits(output_bytes);
        let root = found.root;
        self.limit_virtual_time(execution, wall_time);
        if let Some(process) = self.processes.get_mut(root) {
            process.wake();
        }
        true
    }

    /// Returns the root process's reply since the last call.
    pub fn take_reply(&mut self, execution: ExecutionId) -> Option<Vec<u8>> {
        self.executions.get_mut(&execution)?.interactive.as_mut()?.reply.take()
    }

    /// Sets a new wall-time limit of an execution, which starts when the engine next polls it.
    pub fn set_wall_time(&mut self, execution: ExecutionId, wall_time: Duration) {
        if let Some(found) = self.executions.get_mut(&execution) {
            found.new_wall_time = Some(wall_time);
        }
    }

    /// Gives the processes of an execution as much wall time as a new execution has, starting when the engine next polls it.
    pub fn set_default_wall_time(&mut self, execution: ExecutionId) {
        self.set_wall_time(execution, self.limits.wall_time);
    }

    /// Returns the new wall-time limit of an execution, if it was set since the last call. The engine checks it before each time
    /// slice.
    pub fn take_new_deadline(&mut self, execution: ExecutionId) -> Option<Duration> {
        self.executions.get_mut(&execution)?.new_wall_time.take()
    }

    /// Returns the report of a running execution; an empty one for an unknown execution.
    pub fn report(&self, execution: ExecutionId) -> ExecutionReport {
        let is_deterministic = self.is_deterministic();
        self.executions.get(&execution).map(|found| found.report(is_deterministic)).unwrap_or_default()
    }

    /// Returns the request channel of the execution whose root process is `pid`. Other processes have no access.
    pub(crate) fn request_channel(&mut self, pid: Pid) -> Result<&mut RequestChannel, Errno> {
        let execution = self.process(pid)?.execution;
        let root = |execution: &&mut Execution| execution.root == pid;
        self.executions.get_mut(&execution).filter(root).and_then(|s| s.interactive.as_mut()).ok_or(Errno::Notsup)
    }
}
