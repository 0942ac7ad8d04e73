//! A session that its caller talks with: its root process waits for a request, answers it, and waits for the next. It is the
//! same process all the time, so what it holds between two requests stays as it is.

use std::time::Duration;

use crate::errno::Errno;
use crate::kernel::Kernel;
use crate::process::Pid;
use crate::session::{Session, SessionId};

/// What lies between the caller and the root process.
#[derive(Debug, Default)]
pub(crate) struct Conversation {
    /// What was asked and not yet taken.
    pub(crate) request: Option<Vec<u8>>,
    /// What was answered and not yet taken.
    pub(crate) reply: Option<Vec<u8>>,
    /// The time that the engine is to give the session from now on, when it has not been told yet.
    pub(crate) time: Option<Duration>,
}

impl Kernel {
    /// Asks the root process of a session that was begun as a [conversation](crate::SessionSpec::conversation): it may use
    /// `wall_time` from now on, and print as many bytes as a new session may. Takes the place of a request that was not taken yet.
    /// `false` when there is no such session, or its root process has ended.
    pub fn ask(&mut self, session: SessionId, request: Vec<u8>, wall_time: Duration) -> bool {
        let output_bytes = self.limits.output_bytes;
        let Some(found) = self.sessions.get_mut(&session).filter(|found| found.root_status.is_none()) else {
            return false;
        };
        let Some(conversation) = &mut found.conversation else { return false };
        *conversation = Conversation { request: Some(request), reply: None, time: Some(wall_time) };
        found.renew_output(output_bytes);
        let root = found.root;
        self.limit_waiting(session, wall_time);
        if let Some(process) = self.processes.get_mut(root) {
            process.wake();
        }
        true
    }

    /// What the root process has answered since the last look.
    pub fn take_reply(&mut self, session: SessionId) -> Option<Vec<u8>> {
        self.sessions.get_mut(&session)?.conversation.as_mut()?.reply.take()
    }

    /// For the engine that drives a session: the time that it has from now on, when that was set anew. Asked before a turn.
    pub fn take_time(&mut self, session: SessionId) -> Option<Duration> {
        self.sessions.get_mut(&session)?.conversation.as_mut()?.time.take()
    }

    /// Whether output was dropped since the last request.
    pub fn is_truncated(&self, session: SessionId) -> bool {
        self.sessions.get(&session).is_some_and(|found| found.report().truncated)
    }

    /// The most memory that the session had at one time, in bytes.
    pub fn peak_memory(&self, session: SessionId) -> u64 {
        self.sessions.get(&session).map_or(0, |found| found.peak_memory_bytes)
    }

    /// The conversation of the session whose root process the caller is. Nobody else is asked and heard.
    pub(crate) fn conversation(&mut self, pid: Pid) -> Result<&mut Conversation, Errno> {
        let session = self.process(pid)?.session;
        let root = |session: &&mut Session| session.root == pid;
        self.sessions.get_mut(&session).filter(root).and_then(|s| s.conversation.as_mut()).ok_or(Errno::Notsup)
    }
}
