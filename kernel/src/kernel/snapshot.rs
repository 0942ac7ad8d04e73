//! Keeping a sandbox's files, going back to them, and a second kernel that begins where this one is.

use std::collections::BTreeMap;

use super::Kernel;
use crate::errno::Errno;
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
    /// ends them, so none of it touches the restored files. Clock, randomness and process numbers go on, and the programs
    /// of the application stay: their files are placed where the snapshot has none.
    ///
    /// # Errors
    /// When such a file cannot be placed, as by [`set_host_programs`](Self::set_host_programs). All else is restored.
    pub fn restore(&mut self, files: &Snapshot) -> Result<(), Errno> {
        let running = self.sessions.iter().filter(|(_, session)| session.root_status.is_none());
        let running: Vec<SessionId> = running.map(|(&id, _)| id).collect();
        for session in running {
            self.stop(session, Stop::Restore);
        }
        self.fs.restore(files);
        // Who opens a named pipe from now on does not meet those that are about to end.
        self.fifos.clear();
        self.host_programs.clone().map_or(Ok(()), |programs| self.set_host_programs(programs))
    }

    /// A kernel of its own that begins with these files, limits, clock, randomness, process numbers, name and programs of
    /// the application (see [`set_sandbox`](Self::set_sandbox)), and with no process, session or pipe.
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
            processes: self.processes.successor(),
            sessions: BTreeMap::new(),
            host_programs: self.host_programs.clone(),
            memory_bytes: 0,
            pipe_bytes: 0,
            spool_bytes: self.spool_bytes,
            string_bytes: 0,
            booted: self.booted,
            last_session: self.last_session,
            scratch: Vec::new(),
        }
    }
}
