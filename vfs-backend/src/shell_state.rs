//! What the shell of a persistent session leaves for the next command.
//!
//! The state is the shell's own: bytes that it wrote at its end and that only the next shell of the same sandbox reads.
//! Nothing here looks into them, so hostile bytes reach nobody but the guest that made them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidebox_core::{Error, ErrorKind, ExecuteRequest, Result, ShellMode};

use crate::SandboxBuilder;
use crate::backend::{VfsBackend, lock};
use crate::execute::Environment;

/// Version of the layout in which a shell is told of its session; `docs/abi.md` describes it.
const LAYOUT: u32 = 1;
/// The request names the working directory.
const NAMES_CWD: u32 = 1;
/// The sandbox's working directory cannot be entered, so the shell starts in `/`.
const ASTRAY: u32 = 2;

/// The state that the last finished command left, and how often somebody else has replaced it.
#[derive(Debug)]
pub(crate) struct ShellState {
    kept: Mutex<Kept>,
}

#[derive(Debug)]
struct Kept {
    bytes: Arc<[u8]>,
    /// Counts replacements by the host, so that a command that began before one does not undo it at its end.
    replaced: u64,
}

impl Default for ShellState {
    fn default() -> Self {
        Self { kept: Mutex::new(Kept { bytes: Arc::from(&b""[..]), replaced: 0 }) }
    }
}

impl ShellState {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a command that takes part in the session begins with.
#[derive(Debug)]
pub(crate) struct Ticket {
    state: Arc<[u8]>,
    replaced: u64,
    /// The request says where to start.
    pub(crate) names_cwd: bool,
    /// Variables of the request, each `NAME=value`.
    variables: Vec<Vec<u8>>,
}

impl Ticket {
    /// What the shell is told of its session.
    pub(crate) fn handed_in(&self, astray: bool) -> Arc<[u8]> {
        let flags = if self.names_cwd { NAMES_CWD } else { 0 } | if astray { ASTRAY } else { 0 };
        let mut bytes = Vec::with_capacity(64 + self.state.len());
        let number = |bytes: &mut Vec<u8>, n: u32| bytes.extend_from_slice(&n.to_le_bytes());
        number(&mut bytes, LAYOUT);
        number(&mut bytes, flags);
        number(&mut bytes, count(self.variables.len()));
        for variable in &self.variables {
            number(&mut bytes, count(variable.len()));
            bytes.extend_from_slice(variable);
        }
        bytes.extend_from_slice(&self.state);
        bytes.into()
    }
}

/// A length as the layout has it. What is longer than that would not fit into a guest's memory either, and reads as
/// damaged there.
fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl SandboxBuilder {
    /// Chooses what the shell of a command starts with when the request does not say. Default [`ShellMode::Fresh`].
    /// `docs/shell-sessions.md` says what a session keeps.
    #[must_use]
    pub fn shell_mode(mut self, mode: ShellMode) -> Self {
        self.shell_mode = mode;
        self
    }
}

impl VfsBackend {
    pub(crate) fn with_shell_mode(mut self, mode: ShellMode) -> Self {
        self.shell_mode = mode;
        self
    }

    /// What the shell of a command starts with when the request does not say.
    pub fn shell_mode(&self) -> ShellMode {
        self.shell_mode
    }

    /// What a command needs to take part in the session; `None` when it does not. The errors are those of variables
    /// that cannot be.
    pub(crate) fn shell_ticket(&self, request: &ExecuteRequest) -> Result<Option<Ticket>> {
        if request.shell_mode.unwrap_or(self.shell_mode) != ShellMode::Persistent {
            return Ok(None);
        }
        let variables = Environment::only(&request.env)?;
        let kept = self.shell_state.kept();
        Ok(Some(Ticket {
            state: Arc::clone(&kept.bytes),
            replaced: kept.replaced,
            names_cwd: request.cwd.is_some(),
            variables,
        }))
    }

    /// Keeps what a command left, unless the host has replaced the state since it began.
    pub(crate) fn leave_shell_state(&self, ticket: &Ticket, state: &Arc<[u8]>) {
        let mut kept = self.shell_state.kept();
        if kept.replaced == ticket.replaced {
            kept.bytes = Arc::clone(state);
        }
    }

    /// The state of the shell session after the last command that finished in it: working directory, variables,
    /// functions and aliases, in a form that only the sandbox's shell understands. Empty when there is none.
    pub fn shell_state(&self) -> Arc<[u8]> {
        Arc::clone(&self.shell_state.kept().bytes)
    }

    /// Puts another state in the place of the session's, as restoring a snapshot does; an empty one begins a new
    /// session. Commands that run meanwhile leave nothing. A state that the shell cannot read makes it begin anew, with
    /// a message on standard error.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidRequest`] when it is longer than [`tidebox_core::Limits::shell_state_bytes`];
    /// [`ErrorKind::Closed`] when the sandbox was closed.
    pub fn set_shell_state(&self, state: Arc<[u8]>) -> Result<()> {
        let limit = lock(&self.kernel("set shell state")?).limits().shell_state_bytes;
        if state.len() as u64 > limit {
            let message = format!(
                "the shell state has {} bytes and may have {limit}; raise Limits::shell_state_bytes",
                state.len()
            );
            return Err(
                Error::new(ErrorKind::InvalidRequest, "set shell state", message).with_context("sandbox", self.name())
            );
        }
        let mut kept = self.shell_state.kept();
        kept.bytes = state;
        kept.replaced += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use futures_executor::block_on;
    use tidebox_core::{Limits, SandboxBackend};

    use super::*;
    use crate::tests::js;

    #[test]
    fn a_state_is_kept_as_it_was_set() {
        let sandbox = js();
        assert!(sandbox.shell_state().is_empty());
        sandbox.set_shell_state(b"state".as_slice().into()).unwrap();
        assert_eq!(&*sandbox.shell_state(), b"state");
    }

    #[test]
    fn a_state_beyond_the_limit_is_refused_and_changes_nothing() {
        let sandbox = js();
        sandbox.set_shell_state(b"before".as_slice().into()).unwrap();
        let long = vec![0; usize::try_from(Limits::default().shell_state_bytes).unwrap() + 1];
        let error = sandbox.set_shell_state(long.into()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        assert_eq!(&*sandbox.shell_state(), b"before");
    }

    #[test]
    fn a_closed_sandbox_takes_no_state() {
        let sandbox = js();
        block_on(sandbox.close()).unwrap();
        let error = sandbox.set_shell_state(b"late".as_slice().into()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed);
    }
}
