//! How processes end, and what their relatives notice.

use crate::errno::Errno;
use crate::kernel::Kernel;
use crate::open_file::What;
use crate::process::{Pid, Process, Status};
use crate::resolve::Place;
use crate::signal::Signal;

/// Which children a `wait` is about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which {
    Any,
    One(u32),
    Group(u32),
}

impl Kernel {
    /// The engine reports the end of a guest. Its descriptors are closed, its memory is given back, and its parent is
    /// told; without a parent it is gone at once. A process that is unknown or ended already is left alone.
    pub fn exited(&mut self, pid: Pid, status: Status) {
        let Some(process) = self.processes.get_mut(pid) else {
            return;
        };
        if process.ended.is_some() {
            return;
        }
        process.ended = Some(status);
        let (parent, session) = (Pid(process.parent), process.session);
        self.strip(pid);
        if let Some(found) = self.sessions.get_mut(&session)
            && found.root == pid
        {
            found.root_status = Some(status);
        }
        if !self.tell_parent(parent) {
            self.bury(pid);
        }
    }

    /// Gives back everything but the number and the status.
    fn strip(&mut self, pid: Pid) {
        let Some(process) = self.processes.get_mut(pid) else {
            return;
        };
        let memory = std::mem::take(&mut process.memory_bytes);
        let session = process.session;
        let entries = process.fds.take_all();
        let children = std::mem::take(&mut process.children);
        let cwd = std::mem::replace(&mut process.cwd, Place::Proc(Vec::new()));
        self.memory_bytes = self.memory_bytes.saturating_sub(memory);
        if let Some(session) = self.sessions.get_mut(&session) {
            session.memory_bytes = session.memory_bytes.saturating_sub(memory);
        }
        for entry in entries {
            self.drop_file(entry.file);
        }
        self.forget_openings(pid);
        self.leave_place(cwd);
        for child in children {
            self.orphan(child);
        }
    }

    /// A child whose parent is gone: nobody will ask for its status.
    fn orphan(&mut self, child: Pid) {
        let Some(process) = self.processes.get_mut(child) else {
            return;
        };
        process.parent = 0;
        if process.ended.is_some() {
            self.bury(child);
        }
    }

    /// Whether there is a parent that may ask for the status of its child.
    fn tell_parent(&mut self, parent: Pid) -> bool {
        let Some(parent) = self.processes.get_mut(parent).filter(|p| p.ended.is_none()) else {
            return false;
        };
        parent.signal(Signal::Chld);
        parent.wake();
        // POSIX: who ignores SIGCHLD leaves no zombies.
        parent.signals.ignored & Signal::Chld.bit() == 0
    }

    /// Removes a process, whatever its state.
    pub(crate) fn bury(&mut self, pid: Pid) {
        self.strip(pid);
        let Some(process) = self.processes.remove(pid) else { return };
        self.string_bytes = self.string_bytes.saturating_sub(process.program.string_bytes());
        if let Some(parent) = self.processes.get_mut(Pid(process.parent)) {
            parent.children.retain(|child| *child != pid);
        }
    }

    /// An ended child that matches; `None` when all that match still run. `CHILD` when there is none.
    pub(crate) fn ended_child(&self, pid: Pid, which: Which) -> Result<Option<(Pid, Status)>, Errno> {
        let mut any = false;
        for child in &self.process(pid)?.children {
            let Some(child) = self.processes.get(*child) else {
                continue;
            };
            let matches = match which {
                Which::Any => true,
                Which::One(wanted) => child.pid.0 == wanted,
                Which::Group(group) => child.group == group,
            };
            any |= matches;
            if let (true, Some(status)) = (matches, child.ended) {
                return Ok(Some((child.pid, status)));
            }
        }
        if any { Ok(None) } else { Err(Errno::Child) }
    }

    /// Sends `signal` (`None` only asks) to every process that `wanted` picks. `SRCH` when it picks none.
    pub(crate) fn signal_all(
        &mut self,
        signal: Option<Signal>,
        wanted: impl Fn(&Process) -> bool,
    ) -> Result<(), Errno> {
        let mut any = false;
        for process in self.processes.iter_mut().filter(|p| wanted(p)) {
            any = true;
            if let Some(signal) = signal {
                process.signal(signal);
            }
        }
        if any { Ok(()) } else { Err(Errno::Srch) }
    }

    /// Words of the host on the process's standard error, for what the guest can no longer say itself ("out of
    /// memory"). They should end with a newline. Never waits: what does not fit into a pipe is dropped.
    pub fn message(&mut self, pid: Pid, text: &str) {
        let now = self.now();
        let line = text.as_bytes();
        let Some(entry) = self.processes.get(pid).and_then(|p| p.fds.get(2)) else {
            return;
        };
        let Some(open) = self.files.get_mut(entry.file).filter(|open| open.write) else {
            return;
        };
        match open.what {
            What::Output(session, stream) => {
                if let Some(session) = self.sessions.get_mut(&session) {
                    session.print(stream, line);
                }
            }
            What::Writer(pipe) | What::Both(pipe) => {
                if let Some(found) = self.pipes.get_mut(pipe) {
                    found.push(line);
                }
                self.wake_pipe(pipe);
            }
            What::File(ino) => {
                let at =
                    if open.has(crate::open_file::flag::APPEND) { self.fs.len(ino).unwrap_or(0) } else { open.offset };
                // A full disk loses the line; there is nobody left to tell.
                if let Ok(n) = self.fs.write_at(ino, at, line, now) {
                    open.offset = at.saturating_add(n as u64);
                }
            }
            _ => {}
        }
    }
}
