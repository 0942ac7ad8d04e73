//! What the shell of a persistent session leaves for the next command.
//!
//! The state is the shell's own: bytes that it wrote at its end and that only the next shell of the same sandbox reads.
//! Nothing here looks into them, so hostile bytes reach nobody but the guest that made them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tidebox_core::{Error, ErrorKind, Result};

use crate::backend::{VfsBackend, lock};

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

impl VfsBackend {
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
