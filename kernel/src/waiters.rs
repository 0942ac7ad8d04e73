//! Waiters of a pipe or a terminal: processes, and callers of the host.

use std::task::Waker;

use crate::process::{Pid, Processes};

/// Maximum number of registered callers of the host.
const MAX_HOST_WAITERS: usize = 8;

/// The waiters of one object. Readers and writers share it: an object has one or two of them, and a spurious wake-up costs one
/// repeated call.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    processes: Vec<Pid>,
    host: Vec<Waker>,
}

impl Waiters {
    pub(crate) fn add_process(&mut self, pid: Pid) {
        if !self.processes.contains(&pid) {
            self.processes.push(pid);
        }
    }

    /// Registers a caller of the host. Beyond a few, the oldest is woken, so that forgotten ones do not accumulate.
    pub(crate) fn add_host(&mut self, waker: &Waker) {
        if self.host.iter().any(|waiting| waiting.will_wake(waker)) {
            return;
        }
        if self.host.len() >= MAX_HOST_WAITERS {
            self.host.remove(0).wake();
        }
        self.host.push(waker.clone());
    }

    /// Wakes and removes all.
    pub(crate) fn wake(&mut self, processes: &mut Processes) {
        self.host.drain(..).for_each(Waker::wake);
        for pid in self.processes.drain(..) {
            if let Some(process) = processes.get_mut(pid) {
                process.wake();
            }
        }
    }
}
