//! The startup data of a program in one call, because a shell reads all of it at every start.

use crate::errno::Errno;
use crate::fd::to_unix;
use crate::guest_memory::GuestMemory;
use crate::kernel::Kernel;
use crate::process::{Pid, Process};
use crate::syscall::{SyscallOutcome, call};
use crate::wasi::arg::put_u32;

/// The version of the layout, which `docs/abi.md` describes.
const VERSION: u32 = 1;
/// Set for the root process of an execution that keeps a shell state.
const KEEPS_STATE: u32 = 1;

/// Writes the startup data of the caller and its length.
pub fn startup_info(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    buffer: u32,
    len: u32,
    len_out: u32,
) -> SyscallOutcome {
    call(k, pid, |k| {
        let flags = if k.shell_state(pid).is_ok() { KEEPS_STATE } else { 0 };
        let process = k.process(pid)?;
        // A removed directory has no path.
        let cwd = k.path_of(&process.cwd).unwrap_or_default();
        let encoded = encode_startup_info(process, flags, &cwd);
        put_u32(m, len_out, u32::try_from(encoded.len()).map_err(|_| Errno::Overflow)?)?;
        if encoded.len() > len as usize {
            return Err(Errno::Range.into());
        }
        Ok(m.write(buffer, &encoded)?)
    })
}

fn encode_startup_info(process: &Process, flags: u32, cwd: &[u8]) -> Vec<u8> {
    let strings = [process.program.argv.bytes.as_slice(), process.program.env.bytes.as_slice(), cwd];
    let mut encoded = Vec::with_capacity(32 + strings.iter().map(|bytes| bytes.len() + 4).sum::<usize>());
    encoded.extend_from_slice(&VERSION.to_le_bytes());
    encoded.extend_from_slice(&flags.to_le_bytes());
    encoded.extend_from_slice(&process.started.to_le_bytes());
    encoded.extend_from_slice(&process.signals.ignored.to_le_bytes());
    encoded.extend_from_slice(&open_descriptors(process).to_le_bytes());
    for bytes in strings {
        encoded.extend_from_slice(&u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
        encoded.extend_from_slice(bytes);
    }
    encoded
}

/// Returns bit *n* for each open Unix descriptor *n* of the first 64.
fn open_descriptors(process: &Process) -> u64 {
    let numbers = process.fds.iter().filter_map(|(fd, _)| to_unix(fd));
    numbers.filter_map(|number| 1_u64.checked_shl(number)).fold(0, |set, bit| set | bit)
}
