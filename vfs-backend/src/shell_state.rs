//! Shell session state between the commands of a sandbox.
//!
//! The state is opaque: bytes written by the shell on exit and read only by the next shell of the same sandbox. The
//! host never parses them, so hostile bytes reach only the guest that wrote them.

use std::sync::{Arc, MutexGuard};

use tidebox_core::lock::Mutex;
use tidebox_core::{Error, ErrorKind, ExecuteRequest, Result, ShellMode};

use crate::SandboxBuilder;
use crate::backend::VfsBackend;
use crate::execute::Environment;

/// Version of the layout in which a shell receives its session; `docs/abi.md` describes it.
const LAYOUT: u32 = 1;
/// The request specifies the working directory.
const REQUEST_HAS_CWD: u32 = 1;
/// The sandbox's working directory cannot be entered, so the shell starts in `/`.
const CWD_MISSING: u32 = 2;

/// State stored by the last finished command, and the number of replacements by the host.
#[derive(Debug)]
pub(crate) struct ShellSessionState {
    stored: Mutex<StoredState>,
}

#[derive(Debug)]
struct StoredState {
    bytes: Arc<[u8]>,
    /// Counts replacements by the host, so that a command that started before one does not undo it when it ends.
    replaced: u64,
}

impl Default for ShellSessionState {
    fn default() -> Self {
        Self { stored: Mutex::new(StoredState { bytes: Arc::from(&b""[..]), replaced: 0 }) }
    }
}

impl ShellSessionState {
    fn stored(&self) -> MutexGuard<'_, StoredState> {
        self.stored.lock()
    }
}

/// State with which a command of the session starts.
#[derive(Debug)]
pub(crate) struct SessionStart {
    state: Arc<[u8]>,
    replaced: u64,
    /// True if the request specifies the working directory.
    pub(crate) names_cwd: bool,
    /// Variables of the request, each `NAME=value`.
    variables: Vec<Vec<u8>>,
}

impl SessionStart {
    /// Encodes the session for the shell.
    pub(crate) fn encode_for_shell(&self, cwd_missing: bool) -> Arc<[u8]> {
        let flags = if self.names_cwd { REQUEST_HAS_CWD } else { 0 } | if cwd_missing { CWD_MISSING } else { 0 };
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

/// Encodes a length of the layout. A longer one does not fit into a guest's memory, and the
/// guest rejects it as corrupt.
fn count(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl SandboxBuilder {
    /// Sets the default shell mode of commands. Default [`ShellMode::Fresh`]. `docs/shell-sessions.md` lists what a
    /// session keeps.
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

    /// The default shell mode of commands.
    pub fn shell_mode(&self) -> ShellMode {
        self.shell_mode
    }

    /// Returns the session state for a command; `None` if it does not use the session. Fails for invalid variables.
    pub(crate) fn begin_shell_session(&self, request: &ExecuteRequest) -> Result<Option<SessionStart>> {
        if request.shell_mode.unwrap_or(self.shell_mode) != ShellMode::Persistent {
            return Ok(None);
        }
        let variables = Environment::variables_only(&request.env)?;
        let kept = self.shell_state.stored();
        Ok(Some(SessionStart {
            state: Arc::clone(&kept.bytes),
            replaced: kept.replaced,
            names_cwd: request.cwd.is_some(),
            variables,
        }))
    }

    /// Stores a command's state, unless the host has replaced the state since it started.
    pub(crate) fn store_shell_state(&self, start: &SessionStart, state: &Arc<[u8]>) {
        let mut kept = self.shell_state.stored();
        if kept.replaced == start.replaced {
            kept.bytes = Arc::clone(state);
        }
    }

    /// The state of the shell session after the last command that finished in it: working directory, variables,
    /// functions and aliases, in an opaque form for the sandbox's shell. Empty without a session.
    pub fn shell_state(&self) -> Arc<[u8]> {
        Arc::clone(&self.shell_state.stored().bytes)
    }

    /// Replaces the session's state, as restoring a snapshot does; an empty one starts a new session. Commands that are
    /// running do not store their state. If the shell cannot read the state, it starts a new session with a message on
    /// standard error.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidRequest`] when it is longer than [`tidebox_core::Limits::shell_state_bytes`];
    /// [`ErrorKind::Closed`] when the sandbox is closed.
    pub fn set_shell_state(&self, state: Arc<[u8]>) -> Result<()> {
        let limit = self.kernel("set shell state")?.lock().limits().shell_state_bytes;
        if state.len() as u64 > limit {
            let message = format!(
                "the shell state has {} bytes and may have {limit}; raise Limits::shell_state_bytes",
                state.len()
            );
            return Err(
                Error::new(ErrorKind::InvalidRequest, "set shell state", message).with_context("sandbox", self.name())
            );
        }
        let mut kept = self.shell_state.stored();
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
    fn a_state_is_stored_unchanged() {
        let sandbox = js();
        assert!(sandbox.shell_state().is_empty());
        sandbox.set_shell_state(b"state".as_slice().into()).unwrap();
        assert_eq!(&*sandbox.shell_state(), b"state");
    }

    #[test]
    fn a_state_over_the_limit_is_rejected_without_changes() {
        let sandbox = js();
        sandbox.set_shell_state(b"before".as_slice().into()).unwrap();
        let long = vec![0; usize::try_from(Limits::default().shell_state_bytes).unwrap() + 1];
        let error = sandbox.set_shell_state(long.into()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        assert_eq!(&*sandbox.shell_state(), b"before");
    }

    #[test]
    fn a_closed_sandbox_rejects_a_state() {
        let sandbox = js();
        block_on(sandbox.close()).unwrap();
        let error = sandbox.set_shell_state(b"late".as_slice().into()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Closed);
    }
}
