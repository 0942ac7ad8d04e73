//! The calls of an interactive process.

use crate::errno::Errno;
use crate::guest_memory::GuestMemory;
use crate::kernel::Kernel;
use crate::process::Pid;
use crate::syscall::{SyscallError, SyscallOutcome, blocking_call, call};
use crate::wasi::arg::{self, put_u32};

/// Waits for a request and writes it and its length. `RANGE` if it is longer than the buffer: the length is written, and the
/// request stays.
pub fn listen(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    buffer: u32,
    len: u32,
    len_out: u32,
) -> SyscallOutcome {
    blocking_call(k, pid, |k| {
        let conversation = k.request_channel(pid)?;
        conversation.is_listening = conversation.request.is_none();
        let Some(request) = &conversation.request else { return Err(SyscallError::Block(None)) };
        put_u32(m, len_out, u32::try_from(request.len()).map_err(|_| Errno::Overflow)?)?;
        if request.len() > len as usize {
            return Err(Errno::Range.into());
        }
        m.write(buffer, request)?;
        conversation.request = None;
        Ok(())
    })
}

/// Sends the reply to the current request. `TOOBIG` beyond the output limit of the execution.
pub fn reply(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, from: u32, len: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        let limit = k.limits.output_bytes;
        let conversation = k.request_channel(pid)?;
        if u64::from(len) > limit {
            return Err(Errno::TooBig.into());
        }
        conversation.reply = Some(arg::bytes(m, from, len)?.into_owned());
        Ok(())
    })
}

/// Announces that the program rests when its entry function returns: it is called again for the next request. `NOTSUP` if the
/// engine cannot do that, and in other processes.
pub fn rest(k: &mut Kernel, pid: Pid, _: &mut dyn GuestMemory) -> SyscallOutcome {
    call(k, pid, |k| {
        let rest = &mut k.request_channel(pid)?.rest;
        if !rest.supported {
            return Err(Errno::Notsup.into());
        }
        rest.intended = true;
        Ok(())
    })
}

/// Writes 1 if the process was restored from a saved one since its last call, else 0.
pub fn restored(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, out: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        let rest = &mut k.request_channel(pid)?.rest;
        put_u32(m, out, u32::from(std::mem::take(&mut rest.restored)))?;
        Ok(())
    })
}
