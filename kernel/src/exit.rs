//! Process exit: releasing resources, notifying the parent, reaping zombies.

use crate::errno::Errno;
use crate::execution::ExecutionId;
use crate::kernel::Kernel;
use crate::open_file::FileObject;
use crate::process::{ExitStatus, Pid, Process};
use crate::resolve::DirRef;
use crate::signal::Signal;
use crate::terminal::print_on_terminal;

/// The children that a `wait` call selects.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WaitTarget {
    Any,
    One(u32),
    Group(u32),
}

/// The change of a child that a `wait` call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChildChange {
    Exited(ExitStatus),
    Stopped(Signal),
}

impl ChildChange {
    /// Encodes the change as `wait` of `tidebox_v1` writes it: an exit status, or 512 + *n* for a stop by signal *n*.
    pub(crate) fn to_abi(self) -> u32 {
        match self {
            Self::Exited(status) => status.to_abi(),
            Self::Stopped(signal) => 512 + u32::from(signal.number()),
        }
    }
}

impl Kernel {
    /// Records the end of a guest, reported by the engine. Its descriptors are closed, its memory is released, and its parent is
    /// notified; without a parent it is removed immediately. An unknown or ended process is ignored.
    pub fn process_exited(&mut self, pid: Pid, status: ExitStatus) {
        let Some(process) = self.processes.get_mut(pid) else {
            return;
        };
        if process.ended.is_some() {
            return;
        }
        process.ended = Some(status);
        let (parent, execution) = (Pid(process.parent), process.execution);
        self.release_resources(pid);
        if let Some(found) = self.executions.get_mut(&execution)
            && found.root == pid
        {
            found.root_status = Some(status);
            // As after the end of a session leader.
            if let Some(terminal) = found.terminal {
                self.hang_up_terminal(terminal);
            }
        }
        if !self.notify_parent(parent) {
            self.reap(pid);
        }
    }

    /// Releases everything but the pid and the status.
    fn release_resources(&mut self, pid: Pid) {
        let Some(process) = self.processes.get_mut(pid) else {
            return;
        };
        let memory = std::mem::take(&mut process.memory_bytes);
        let execution = process.execution;
        let entries = process.fds.take_all();
        let children = std::mem::take(&mut process.children);
        let cwd = std::mem::replace(&mut process.cwd, DirRef::Proc(Vec::new()));
        self.memory_bytes = self.memory_bytes.saturating_sub(memory);
        if let Some(execution) = self.executions.get_mut(&execution) {
            execution.memory_bytes = execution.memory_bytes.saturating_sub(memory);
        }
        for entry in entries {
            self.unref_file(entry.file);
        }
        self.cancel_pending_opens(pid);
        self.release_dir(cwd);
        for child in &children {
            self.orphan(*child);
        }
        self.continue_orphans(execution, &children);
    }

    /// Handles a child whose parent has exited: no process will wait for it.
    fn orphan(&mut self, child: Pid) {
        let Some(process) = self.processes.get_mut(child) else {
            return;
        };
        process.parent = 0;
        if process.ended.is_some() {
            self.reap(child);
        }
    }

    /// Notifies the parent of an ended child. Returns whether the parent may wait for its status.
    fn notify_parent(&mut self, parent: Pid) -> bool {
        let Some(parent) = self.processes.get_mut(parent).filter(|p| p.ended.is_none()) else {
            return false;
        };
        parent.signal(Signal::Chld);
        parent.wake();
        // POSIX: a parent that ignores SIGCHLD leaves no zombies.
        parent.signals.ignored & Signal::Chld.bit() == 0
    }

    /// Removes a process in any state.
    pub(crate) fn reap(&mut self, pid: Pid) {
        self.release_resources(pid);
        let Some(process) = self.processes.remove(pid) else { return };
        self.string_bytes = self.string_bytes.saturating_sub(process.program.string_bytes());
        if let Some(parent) = self.processes.get_mut(Pid(process.parent)) {
            parent.children.retain(|child| *child != pid);
            parent.cpu_time.children = parent.cpu_time.children.saturating_add(process.cpu_time.total());
        }
    }

    /// Returns a child that matches and has ended or, with `untraced`, has stopped since the last report; `None` without such a
    /// change. `CHILD` if no child matches.
    pub(crate) fn find_changed_child(
        &self,
        pid: Pid,
        which: WaitTarget,
        untraced: bool,
    ) -> Result<Option<(Pid, ChildChange)>, Errno> {
        let mut any = false;
        for child in &self.process(pid)?.children {
            let Some(child) = self.processes.get(*child) else {
                continue;
            };
            let matches = match which {
                WaitTarget::Any => true,
                WaitTarget::One(selects) => child.pid.0 == selects,
                WaitTarget::Group(group) => child.group == group,
            };
            any |= matches;
            let stop = child.unreported_stop().filter(|_| untraced).map(ChildChange::Stopped);
            if let (true, Some(change)) = (matches, child.ended.map(ChildChange::Exited).or(stop)) {
                return Ok(Some((child.pid, change)));
            }
        }
        if any { Ok(None) } else { Err(Errno::Child) }
    }

    /// Completes the report of a change: removes an ended child, and records that a stop was reported.
    pub(crate) fn child_reported(&mut self, child: Pid, change: ChildChange) {
        match change {
            ChildChange::Exited(_) => self.reap(child),
            ChildChange::Stopped(_) => {
                if let Some(stopped) = self.processes.get_mut(child).and_then(|process| process.stopped.as_mut()) {
                    stopped.unreported = None;
                }
            }
        }
    }

    /// Sends `signal` (`None` only checks) to every process that `wanted` selects. `SRCH` if it selects none.
    pub(crate) fn signal_all(
        &mut self,
        signal: Option<Signal>,
        selects: impl Fn(&Process) -> bool,
    ) -> Result<(), Errno> {
        let (mut any, mut parents) = (false, Vec::new());
        for process in self.processes.iter_mut().filter(|p| selects(p)) {
            any = true;
            if let Some(signal) = signal {
                let was_stopped = process.stopped.is_some();
                process.signal(signal);
                if process.stopped.is_some() && !was_stopped {
                    parents.push(Pid(process.parent));
                }
            }
        }
        for parent in parents {
            self.notify_of_stop(parent);
        }
        if any { Ok(()) } else { Err(Errno::Srch) }
    }

    /// Notifies the parent of a child that was stopped.
    fn notify_of_stop(&mut self, parent: Pid) {
        if let Some(parent) = self.processes.get_mut(parent).filter(|parent| parent.ended.is_none()) {
            parent.signal(Signal::Chld);
            parent.wake();
        }
    }

    /// Returns whether no process of a group has its parent in another group of the execution, so that no shell could continue the
    /// group (POSIX: an orphaned process group).
    pub(crate) fn is_orphaned(&self, execution: ExecutionId, group: u32) -> bool {
        let members =
            self.processes.iter().filter(|p| p.execution == execution && p.group == group && p.ended.is_none());
        let parents = members.filter_map(|process| self.processes.get(Pid(process.parent)));
        !{ parents }.any(|parent| parent.execution == execution && parent.group != group && parent.ended.is_none())
    }

    /// Sends SIGHUP and SIGCONT to the stopped groups of children that the end of their parent has orphaned.
    fn continue_orphans(&mut self, execution: ExecutionId, children: &[Pid]) {
        for child in children {
            let Some(group) =
                self.processes.get(*child).filter(|child| child.stopped.is_some()).map(|child| child.group)
            else {
                continue;
            };
            if self.is_orphaned(execution, group) {
                for signal in [Signal::Hup, Signal::Cont] {
                    // The group has a member, the child.
                    let _ = self.signal_all(Some(signal), |p| p.execution == execution && p.group == group);
                }
            }
        }
    }

    /// Writes a host message to the process's standard error, such as "out of memory", which the guest cannot print itself. It
    /// should end with a newline. Never blocks: bytes that do not fit into a pipe are dropped.
    pub fn write_stderr(&mut self, pid: Pid, text: &str) {
        let now = self.now();
        let line = text.as_bytes();
        let Some(entry) = self.processes.get(pid).and_then(|p| p.fds.get(2)) else {
            return;
        };
        let Some(open) = self.files.get_mut(entry.file).filter(|open| open.write) else {
            return;
        };
        match open.what {
            FileObject::Output(execution, stream) => {
                self.push_output(execution, stream, line);
            }
            FileObject::Writer(pipe) | FileObject::Both(pipe) => {
                if let Some(found) = self.pipes.get_mut(pipe) {
                    found.push(line);
                }
                self.wake_pipe(pipe);
            }
            FileObject::Terminal(terminal) => print_on_terminal(self, terminal, line),
            FileObject::File(ino) => {
                let at =
                    if open.has(crate::open_file::flag::APPEND) { self.fs.len(ino).unwrap_or(0) } else { open.offset };
                // On a full disk the line is lost; no caller remains to report it to.
                if let Ok(n) = self.fs.write_at(ino, at, line, now) {
                    open.offset = at.saturating_add(n as u64);
                }
            }
            _ => {}
        }
    }
}
