//! The shell state that an execution receives and stores. Only the root process has access, so that neither a subshell nor a
//! program can impersonate the shell that the caller started.

use std::sync::Arc;

use crate::errno::Errno;
use crate::execution::{Execution, ShellStateExchange};
use crate::guest_memory::GuestMemory;
use crate::kernel::Kernel;
use crate::process::Pid;
use crate::syscall::{SyscallOutcome, call};
use crate::wasi::arg::{self, put_u32};

impl Kernel {
    /// Returns the shell state of the execution whose root process is the caller.
    pub(super) fn shell_state(&mut self, pid: Pid) -> Result<&mut ShellStateExchange, Errno> {
        let execution = self.process(pid)?.execution;
        let root = |execution: &&mut Execution| execution.root == pid;
        self.executions.get_mut(&execution).filter(root).and_then(|s| s.shell_state.as_mut()).ok_or(Errno::Notsup)
    }
}

/// Writes the state that the embedder passed in, and its length.
pub fn shell_state_read(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    buffer: u32,
    len: u32,
    len_out: u32,
) -> SyscallOutcome {
    call(k, pid, |k| {
        let state = Arc::clone(&k.shell_state(pid)?.input);
        put_u32(m, len_out, u32::try_from(state.len()).map_err(|_| Errno::Overflow)?)?;
        if state.len() > len as usize {
            return Err(Errno::Range.into());
        }
        Ok(m.write(buffer, &state)?)
    })
}

/// Stores the bytes for the embedder, replacing earlier ones.
pub fn shell_state_write(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, from: u32, len: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        let limit = k.limits.shell_state_bytes;
        let state = k.shell_state(pid)?;
        if u64::from(len) > limit {
            return Err(Errno::TooBig.into());
        }
        state.output = Some(arg::bytes(m, from, len)?.into());
        Ok(())
    })
}
