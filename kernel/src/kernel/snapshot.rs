//! Keeping a sandbox's files, going back to them, and a second kernel that begins where this one is.

use std::collections::BTreeMap;

use super::Kernel;
use crate::fs::{Fs, Snapshot};
use crate::session::{SessionId, Stop};
use crate::slab::Slab;

impl Kernel {
    /// The files as they are between two calls of whatever runs. A file that lost its last name and is only held open
    /// is not among them.
    pub fn snapshot(&self) -> Snapshot {
        self.fs.snapshot()
    }

    /// Puts the files back as they were. Sessions that still run are stopped first ([`Stop::Restore`]): their next call
    /// ends them, so none of it touches the restored files. Clock, randomness and process numbers go on.
    pub fn restore(&mut self, files: &Snapshot) {
        let running = self.sessions.iter().filter(|(_, session)| session.root_status.is_none());
        let running: Vec<SessionId> = running.map(|(&id, _)| id).collect();
        for session in running {
            self.stop(session, Stop::Restore);
        }
        self.fs.restore(files);
    }

    /// A kernel of its own that begins with these files, limits, clock, randomness, process numbers and name, and with
    /// no process, session or pipe.
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
            processes: self.processes.successor(),
            sessions: BTreeMap::new(),
            memory_bytes: 0,
            pipe_bytes: 0,
            string_bytes: 0,
            booted: self.booted,
            last_session: self.last_session,
            scratch: Vec::new(),
        }
    }
}
