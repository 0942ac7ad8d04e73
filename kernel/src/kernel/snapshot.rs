//! Snapshots of a sandbox, restoring them, and forking a kernel.

use std::collections::BTreeMap;

use tidebox_core::StopReason;

use super::Kernel;
use crate::errno::Errno;
use crate::execution::ExecutionId;
use crate::fs::{Fs, FsSnapshot};
use crate::slab::Slab;
use crate::socket::Sockets;

impl Kernel {
    /// Returns a snapshot of the files between two system calls. A file without a name that is only held open is not included.
    pub fn snapshot(&self) -> FsSnapshot {
        self.fs.snapshot()
    }

    /// Restores the files of a snapshot. Running executions are stopped first; their next call ends them, so they cannot touch
    /// the restored files. Clock, randomness and process numbers continue, and host programs stay: their files are installed if
    /// the snapshot lacks them.
    ///
    /// # Errors
    /// If such a file cannot be installed, as for [`set_host_programs`](Self::set_host_programs). Everything else is restored.
    pub fn restore(&mut self, files: &FsSnapshot) -> Result<(), Errno> {
        let running = self
            .executions
            .iter_mut()
            .filter(|(_, execution)| execution.root_status.is_none() || execution.is_background);
        let running: Vec<ExecutionId> = running
            .map(|(&id, execution)| {
                execution.restored = execution.stopped_by.is_none();
                id
            })
            .collect();
        for id in running {
            self.stop_execution(id, StopReason::Cancelled);
        }
        self.fs.restore(files);
        // A later open of a FIFO or connection must not meet processes that are about to end.
        self.fifos.clear();
        self.sockets.forget_ports();
        self.host_programs.clone().map_or(Ok(()), |programs| self.set_host_programs(programs))
    }

    /// Creates an independent kernel with these files, limits, clock, randomness, process numbers, host name and host programs
    /// (see [`set_sandbox_id`](Self::set_sandbox_id)), without processes, executions and pipes.
    #[must_use]
    pub fn fork_sandbox(&self) -> Self {
        let files = self.fs.snapshot();
        Self {
            limits: self.limits.clone(),
            clock: self.clock.fork(),
            entropy: self.entropy.fork(),
            hostname: self.hostname.clone(),
            fs: Fs::from_snapshot(&files, &self.limits),
            files: Slab::default(),
            pipes: Slab::default(),
            fifos: BTreeMap::new(),
            sockets: Sockets::default(),
            terminals: Slab::default(),
            processes: self.processes.with_next_pid(),
            executions: BTreeMap::new(),
            host_programs: self.host_programs.clone(),
            memory_bytes: 0,
            cpu_nanos: 0,
            pipe_bytes: 0,
            spool_bytes: self.spool_bytes,
            string_bytes: 0,
            boot_time: self.boot_time,
            last_execution: self.last_execution,
            scratch: Vec::new(),
        }
    }
}
