//! The kernel and its interface for engines and backends.

mod snapshot;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use tidebox_core::lock::Mutex;
use tidebox_core::{Limits, OutputBuffer, OutputChunk, OutputStream, StopReason};

use crate::errno::Errno;
use crate::execution::{Execution, ExecutionId, ExecutionReport};
use crate::fs::{Cred, Fs, FsSnapshot, Ino};
use crate::host::HostPrograms;
use crate::open_file::OpenFile;
use crate::pipe::Pipe;
use crate::process::{ExitStatus, PendingProcess, Pid, Process, Processes};
use crate::signal::Signal;
use crate::slab::Slab;
use crate::socket::Sockets;
use crate::syscall::Wait;
use crate::terminal::Terminal;
use crate::time::{Clock, Entropy};

/// A kernel shared by an engine and a backend. No call holds the lock while it waits.
pub type SharedKernel = Arc<Mutex<Kernel>>;

/// Configuration of a kernel.
pub struct KernelConfig {
    /// All limits.
    pub limits: Limits,
    /// Source of time.
    pub clock: Box<dyn Clock>,
    /// Source of random bytes.
    pub entropy: Box<dyn Entropy>,
    /// Initial files.
    pub files: FsSnapshot,
    /// Host name that programs see.
    pub hostname: String,
}

impl fmt::Debug for KernelConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelConfig")
            .field("limits", &self.limits)
            .field("hostname", &self.hostname)
            .finish_non_exhaustive()
    }
}

/// The user that every program runs as.
pub(crate) const USER: Cred = Cred { uid: 1000, gid: 1000 };

/// One sandbox: its files, processes and executions.
pub struct Kernel {
    pub(crate) limits: Limits,
    pub(crate) clock: Box<dyn Clock>,
    pub(crate) entropy: Box<dyn Entropy>,
    pub(crate) hostname: String,
    pub(crate) fs: Fs,
    pub(crate) files: Slab<OpenFile>,
    pub(crate) pipes: Slab<Pipe>,
    /// The pipes of the open FIFOs, by inode.
    pub(crate) fifos: BTreeMap<Ino, u32>,
    pub(crate) sockets: Sockets,
    pub(crate) terminals: Slab<Terminal>,
    pub(crate) processes: Processes,
    pub(crate) executions: BTreeMap<ExecutionId, Execution>,
    pub(crate) host_programs: Option<HostPrograms>,
    pub(crate) memory_bytes: u64,
    /// Processor time of all processes since the sandbox was created, in nanoseconds.
    pub(crate) cpu_nanos: u64,
    /// Total capacity of all pipes; for spooled pipes, their content.
    pub(crate) pipe_bytes: usize,
    /// Spool limit, set if pipes are spooled ([`spool_pipes`](Self::spool_pipes)).
    pub(crate) spool_bytes: Option<usize>,
    /// Arguments and environments of all processes together.
    pub(crate) string_bytes: usize,
    pub(crate) boot_time: u64,
    last_execution: u64,
    /// Copy buffer for engines that do not provide slices of guest memory.
    pub(crate) scratch: Vec<u8>,
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kernel")
            .field("processes", &self.processes.len())
            .field("sessions", &self.executions.len())
            .field("memory_bytes", &self.memory_bytes)
            .finish_non_exhaustive()
    }
}

impl Kernel {
    /// Creates a kernel with the given files and no process.
    pub fn new(config: KernelConfig) -> Self {
        let fs = Fs::from_snapshot(&config.files, &config.limits);
        let booted = config.clock.monotonic();
        Self {
            limits: config.limits,
            clock: config.clock,
            entropy: config.entropy,
            hostname: config.hostname,
            fs,
            files: Slab::default(),
            pipes: Slab::default(),
            fifos: BTreeMap::new(),
            sockets: Sockets::default(),
            terminals: Slab::default(),
            processes: Processes::default(),
            executions: BTreeMap::new(),
            host_programs: None,
            memory_bytes: 0,
            cpu_nanos: 0,
            pipe_bytes: 0,
            spool_bytes: None,
            string_bytes: 0,
            boot_time: booted,
            last_execution: 0,
            scratch: Vec::new(),
        }
    }

    /// Exchanges the copy buffer of this kernel. An engine with many kernels on one thread gives each call the same buffer, so
    /// that a kernel at rest holds none.
    pub fn swap_scratch(&mut self, buffer: &mut Vec<u8>) {
        std::mem::swap(&mut self.scratch, buffer);
    }

    /// Returns the files.
    pub fn fs(&self) -> &Fs {
        &self.fs
    }

    /// Returns the files for changes from the host's side.
    pub fn fs_mut(&mut self) -> &mut Fs {
        &mut self.fs
    }

    /// Returns nanoseconds since the Unix epoch by the kernel's clock, for time stamps.
    pub fn now(&self) -> u64 {
        self.clock.realtime()
    }

    /// Returns nanoseconds of [`Clock::monotonic`], the base of [`Wait::deadline`].
    pub fn monotonic(&self) -> u64 {
        self.clock.monotonic()
    }

    /// Advances the virtual clock: if every process of the execution is parked, the clock moves to their earliest deadline and
    /// the due processes are woken. Returns `false` if the clock is real ([`Clock::advance_to`]), a process is busy, or none has
    /// a deadline; the engine must wait then. A host process that waits for something outside the sandbox counts as busy, because
    /// its completion time is not deterministic.
    ///
    /// An execution whose virtual time limit ([`limit_virtual_time`](Self::limit_virtual_time)) ends before the deadline is
    /// stopped when it does.
    pub fn advance_clock(&mut self, execution: ExecutionId) -> bool {
        let all = || self.processes.iter().filter(|p| p.execution == execution && p.ended.is_none());
        let Some(until) = all().filter_map(Process::wake_time).min() else { return false };
        let before = self.clock.monotonic();
        let budget = self.executions.get(&execution).and_then(|found| found.virtual_time_limit).unwrap_or(u64::MAX);
        let end = before.saturating_add(budget);
        if !all().all(Process::waits_internally) || !self.clock.advance_to(until.min(end)) {
            return false;
        }
        if end < until {
            self.stop_execution(execution, StopReason::Timeout);
            return true;
        }
        if let Some(budget) = self.executions.get_mut(&execution).and_then(|found| found.virtual_time_limit.as_mut()) {
            *budget = budget.saturating_sub(until.saturating_sub(before));
        }
        let now = self.clock.monotonic();
        for process in self.processes.iter_mut().filter(|p| p.wake_time().is_some_and(|due| due <= now)) {
            process.wake();
        }
        true
    }

    /// Limits the time that [`advance_clock`](Self::advance_clock) may skip for an execution. Without a limit, `sleep 60` with a
    /// timeout of a second would succeed in deterministic mode, because no real time passes.
    pub fn limit_virtual_time(&mut self, execution: ExecutionId, limit: Duration) {
        if let Some(found) = self.executions.get_mut(&execution) {
            found.virtual_time_limit = Some(u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX));
        }
    }

    /// Returns the limits in force.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns the number of live processes and zombies of all executions.
    pub fn process_count(&self) -> usize {
        self.processes.len()
    }

    /// Returns whether runs must be deterministic, because time passes only while all programs wait ([`Clock::is_virtual`]).
    pub fn is_deterministic(&self) -> bool {
        self.clock.is_virtual()
    }

    /// Fills `dst` with random bytes for the host's own use, from a fork of the guests' source, so that guests see the same
    /// sequence.
    pub fn host_random(&self, dst: &mut [u8]) {
        self.entropy.fork().fill(dst);
    }

    pub(crate) fn new_execution(&mut self) -> ExecutionId {
        self.last_execution += 1;
        ExecutionId(self.last_execution)
    }

    /// Returns the processes to instantiate since the last call, in start order. The memory of a forked process must be copied
    /// before its parent resumes.
    pub fn take_pending(&mut self, execution: ExecutionId) -> Vec<PendingProcess> {
        self.executions.get_mut(&execution).map(|s| std::mem::take(&mut s.starts)).unwrap_or_default()
    }

    /// Returns whether [`take_pending`](Self::take_pending) would return a process.
    pub fn has_pending(&self, execution: ExecutionId) -> bool {
        self.executions.get(&execution).is_some_and(|s| !s.starts.is_empty())
    }

    /// Returns the file name of the process's program, for messages. `?` for an unknown process.
    pub fn program_name(&self, pid: Pid) -> String {
        let path = self.processes.get(pid).map_or(b"?".as_slice(), |p| &p.program.path);
        String::from_utf8_lossy(path.rsplit(|b| *b == b'/').next().unwrap_or_default()).into_owned()
    }

    /// Records that the engine ended a guest because a memory allocation failed. If that is the root process, the stop reason is
    /// memory whatever its exit code is.
    pub fn report_out_of_memory(&mut self, pid: Pid) {
        let Some(process) = self.processes.get(pid) else {
            return;
        };
        let Some(execution) = self.executions.get_mut(&process.execution) else { return };
        execution.limit_reached.get_or_insert(StopReason::Memory);
        if execution.root == pid {
            execution.stopped_by.get_or_insert(StopReason::Memory);
        }
    }

    /// Returns the output since the last call, in arrival order.
    pub fn take_output(&mut self, execution: ExecutionId) -> Vec<OutputChunk> {
        self.take_printed(execution).into_chunks()
    }

    /// Like [`take_output`](Self::take_output), without an allocation per chunk.
    pub fn take_printed(&mut self, execution: ExecutionId) -> OutputBuffer {
        self.executions.get_mut(&execution).map(Execution::take_output_buffer).unwrap_or_default()
    }

    /// Returns the exit status of the root process; `None` while it runs.
    pub fn root_status(&self, execution: ExecutionId) -> Option<ExitStatus> {
        self.executions.get(&execution)?.root_status
    }

    /// Returns the pid of the root process.
    pub fn root_pid(&self, execution: ExecutionId) -> Pid {
        self.executions.get(&execution).map_or(Pid(0), |found| found.root)
    }

    /// Sets the maximum of further output; more is dropped.
    pub fn set_output_limit(&mut self, execution: ExecutionId, bytes: u64) {
        if let Some(found) = self.executions.get_mut(&execution) {
            found.set_output_limit(bytes);
        }
    }

    /// Returns whether an execution has ended: its root process has ended, and for one in the background also all others.
    pub fn has_finished(&self, execution: ExecutionId) -> bool {
        let Some(found) = self.executions.get(&execution) else { return true };
        found.root_status.is_some() && (!found.is_background || !self.has_live_process(execution))
    }

    fn has_live_process(&self, execution: ExecutionId) -> bool {
        self.processes.iter().any(|process| process.execution == execution && process.ended.is_none())
    }

    /// Returns whether an execution was stopped, or one of its processes has a fatal signal.
    pub fn is_stopped(&self, execution: ExecutionId) -> bool {
        let is_killed = |process: &Process| process.execution == execution && process.fatal().is_some();
        self.executions.get(&execution).is_none_or(|found| found.stopped_by.is_some())
            || self.processes.iter().any(is_killed)
    }

    /// Returns whether an execution runs in the background.
    pub fn is_background(&self, execution: ExecutionId) -> bool {
        self.executions.get(&execution).is_some_and(|found| found.is_background)
    }

    /// Sends a signal to all processes of an execution. Returns `false` if it has none.
    pub fn signal_execution(&mut self, execution: ExecutionId, signal: Signal) -> bool {
        self.signal_all(Some(signal), |process| process.execution == execution && process.ended.is_none()).is_ok()
    }

    /// Kills every process of the execution. [`finish_execution`](Self::finish_execution) reports the first reason.
    pub fn stop_execution(&mut self, execution: ExecutionId, why: StopReason) {
        let Some(found) = self.executions.get_mut(&execution) else {
            return;
        };
        found.stopped_by.get_or_insert(why);
        for process in self.processes.iter_mut().filter(|p| p.execution == execution) {
            process.signal(Signal::Kill);
        }
    }

    /// Appends output of a process, or a message of the host. Unknown executions are ignored.
    pub(crate) fn push_output(&mut self, execution: ExecutionId, stream: OutputStream, bytes: &[u8]) {
        let continues = self.executions.get_mut(&execution).is_none_or(|found| found.push_output(stream, bytes));
        if !continues {
            self.stop_execution(execution, StopReason::Output);
        }
    }

    /// Removes the execution: kills and frees the remaining processes, and returns the report. Output that was not taken before
    /// is dropped. For an unknown execution the report is empty.
    pub fn finish_execution(&mut self, execution: ExecutionId) -> ExecutionReport {
        let left: Vec<Pid> = self.processes.iter().filter(|p| p.execution == execution).map(|p| p.pid).collect();
        for pid in left {
            // The flag is for an engine that still runs the guest; its next call finds no process and ends it too.
            if let Some(process) = self.processes.get_mut(pid) {
                process.signal(Signal::Kill);
            }
            self.reap(pid);
        }
        let ended = self.executions.remove(&execution);
        if let Some(terminal) = ended.as_ref().and_then(|found| found.terminal) {
            self.release_terminal(terminal);
        }
        if let Some(pipe) = ended.as_ref().and_then(|found| found.input) {
            self.close_pipe_end(pipe, true);
        }
        if self.executions.is_empty() {
            self.drain_fifos();
        }
        ended.map(|s| s.report(self.is_deterministic())).unwrap_or_default()
    }

    /// Registers the waker of a blocked call. One waker per process; `wait` is the result of the call. The engine must watch the
    /// deadline.
    pub fn park(&mut self, pid: Pid, wait: Wait, waker: &Waker) {
        match self.processes.get_mut(pid) {
            Some(process) => process.park(wait, waker),
            // An ended process must not sleep; its next call ends it.
            None => waker.wake_by_ref(),
        }
    }

    /// Returns whether a signal has stopped the process; the engine must not run it until `waker` is woken, which happens when it
    /// continues or is killed.
    pub fn park_if_stopped(&mut self, pid: Pid, waker: &Waker) -> bool {
        self.processes.get_mut(pid).is_some_and(|process| process.park_if_stopped(waker))
    }

    /// Removes the waker: the process continues. Later events are noticed by the next [`park`](Self::park). Returns `true` if an
    /// event has occurred while it was not parked.
    pub fn unpark(&mut self, pid: Pid) -> bool {
        self.processes.get_mut(pid).is_none_or(Process::unpark)
    }

    /// Like [`park`](Self::park), for a host process. `external` marks a wait for something outside the sandbox.
    pub(crate) fn park_host(&mut self, pid: Pid, waker: &Waker, outside: bool) {
        self.park(pid, Wait::default(), waker);
        if let Some(process) = self.processes.get_mut(pid) {
            process.waits_externally = outside;
        }
    }

    /// Requests growth of linear memory from `from` to `to` bytes; `false` if a limit forbids it. A new instance passes 0 as
    /// `from`.
    pub fn grow_memory(&mut self, pid: Pid, from: u64, to: u64) -> bool {
        let more = to.saturating_sub(from);
        let Some(process) = self.processes.get_mut(pid).filter(|p| p.ended.is_none()) else {
            return false;
        };
        let is_background = self.executions.get(&process.execution).is_some_and(|found| found.is_background);
        let background = self.executions.values().filter(|found| is_background && found.is_background);
        let background: u64 = background.map(|found| found.memory_bytes).sum::<u64>().saturating_add(more);
        if is_background && background > self.limits.background_memory_bytes {
            self.record_limit(pid, StopReason::Memory);
            return false;
        }
        let new_total = process.memory_bytes.saturating_add(more);
        let total = self.memory_bytes.saturating_add(more);
        if new_total > self.limits.process_memory_bytes || total > self.limits.sandbox_memory_bytes {
            self.record_limit(pid, StopReason::Memory);
            return false;
        }
        process.memory_bytes = new_total;
        self.memory_bytes = total;
        if let Some(execution) = self.executions.get_mut(&process.execution) {
            execution.memory_bytes = execution.memory_bytes.saturating_add(more);
            execution.peak_memory_bytes = execution.peak_memory_bytes.max(execution.memory_bytes);
        }
        true
    }

    pub(crate) fn process(&self, pid: Pid) -> Result<&Process, Errno> {
        self.processes.get(pid).ok_or(Errno::Srch)
    }

    pub(crate) fn process_mut(&mut self, pid: Pid) -> Result<&mut Process, Errno> {
        self.processes.get_mut(pid).ok_or(Errno::Srch)
    }
}
