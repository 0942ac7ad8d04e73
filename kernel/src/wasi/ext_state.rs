//! The state that the shell of a session takes over and leaves behind. Only the root process of the session is asked
//! and heard, so that neither a subshell nor a program can pass for the shell that the caller started.

use std::sync::Arc;

use super::arg::{self, put_u32};
use super::{GuestMem, Sys, call};
use crate::errno::Errno;
use crate::kernel::Kernel;
use crate::process::Pid;
use crate::session::{Session, ShellState};

impl Kernel {
    /// The state of the session whose root process the caller is.
    pub(super) fn shell_state(&mut self, pid: Pid) -> Result<&mut ShellState, Errno> {
        let session = self.process(pid)?.session;
        let root = |session: &&mut Session| session.root == pid;
        self.sessions.get_mut(&session).filter(root).and_then(|s| s.shell_state.as_mut()).ok_or(Errno::Notsup)
    }
}

/// Writes what the embedder handed to the session, and its length.
pub fn shell_state_read(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, buffer: u32, len: u32, len_out: u32) -> Sys {
    call(k, pid, |k| {
        let taken = Arc::clone(&k.shell_state(pid)?.taken);
        put_u32(m, len_out, u32::try_from(taken.len()).map_err(|_| Errno::Overflow)?)?;
        if taken.len() > len as usize {
            return Err(Errno::Range.into());
        }
        Ok(m.write(buffer, &taken)?)
    })
}

/// Keeps the bytes for the embedder, in the place of what was kept before.
pub fn shell_state_write(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, from: u32, len: u32) -> Sys {
    call(k, pid, |k| {
        let limit = k.limits.shell_state_bytes;
        let state = k.shell_state(pid)?;
        if u64::from(len) > limit {
            return Err(Errno::TooBig.into());
        }
        state.left = Some(arg::bytes(m, from, len)?.into());
        Ok(())
    })
}
