//! What a program was started with, in one answer: a shell asks for all of it at every start.

use super::arg::put_u32;
use super::{GuestMem, Sys, call};
use crate::errno::Errno;
use crate::fd::to_unix;
use crate::kernel::Kernel;
use crate::process::{Pid, Process};

/// The version of the layout, which `docs/abi.md` describes.
const VERSION: u32 = 1;
/// Set for the root process of a session that keeps a state.
const KEEPS_STATE: u32 = 1;

/// Writes what the caller was started with, and the length of that.
pub fn started(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, buffer: u32, len: u32, len_out: u32) -> Sys {
    call(k, pid, |k| {
        let flags = if k.shell_state(pid).is_ok() { KEEPS_STATE } else { 0 };
        let process = k.process(pid)?;
        // A directory that was removed has no path.
        let cwd = k.path_of(&process.cwd).unwrap_or_default();
        let told = told(process, flags, &cwd);
        put_u32(m, len_out, u32::try_from(told.len()).map_err(|_| Errno::Overflow)?)?;
        if told.len() > len as usize {
            return Err(Errno::Range.into());
        }
        Ok(m.write(buffer, &told)?)
    })
}

fn told(process: &Process, flags: u32, cwd: &[u8]) -> Vec<u8> {
    let strings = [process.program.argv.bytes.as_slice(), process.program.env.bytes.as_slice(), cwd];
    let mut told = Vec::with_capacity(32 + strings.iter().map(|bytes| bytes.len() + 4).sum::<usize>());
    told.extend_from_slice(&VERSION.to_le_bytes());
    told.extend_from_slice(&flags.to_le_bytes());
    told.extend_from_slice(&process.started.to_le_bytes());
    told.extend_from_slice(&process.signals.ignored.to_le_bytes());
    told.extend_from_slice(&open_descriptors(process).to_le_bytes());
    for bytes in strings {
        told.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
        told.extend_from_slice(bytes);
    }
    told
}

/// Bit *n* for Unix descriptor *n*, of the first 64.
fn open_descriptors(process: &Process) -> u64 {
    let numbers = process.fds.iter().filter_map(|(fd, _)| to_unix(fd));
    numbers.filter_map(|number| 1_u64.checked_shl(number)).fold(0, |set, bit| set | bit)
}
