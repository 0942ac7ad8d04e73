//! The two calls of a process that its caller talks with.

use super::arg::{self, put_u32};
use super::{GuestMem, Halt, Sys, blocking_call, call};
use crate::errno::Errno;
use crate::kernel::Kernel;
use crate::process::Pid;

/// Waits for a request and writes it, and its length. `RANGE` when it is longer than the buffer: the length is written, and
/// the request stays.
pub fn listen(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, buffer: u32, len: u32, len_out: u32) -> Sys {
    blocking_call(k, pid, |k| {
        let conversation = k.conversation(pid)?;
        let Some(request) = &conversation.request else { return Err(Halt::Block(None)) };
        put_u32(m, len_out, u32::try_from(request.len()).map_err(|_| Errno::Overflow)?)?;
        if request.len() > len as usize {
            return Err(Errno::Range.into());
        }
        m.write(buffer, request)?;
        conversation.request = None;
        Ok(())
    })
}

/// Answers the request that was taken. `TOOBIG` beyond the bytes that the session may print.
pub fn reply(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMem, from: u32, len: u32) -> Sys {
    call(k, pid, |k| {
        let limit = k.limits.output_bytes;
        let conversation = k.conversation(pid)?;
        if u64::from(len) > limit {
            return Err(Errno::TooBig.into());
        }
        conversation.reply = Some(arg::bytes(m, from, len)?.into_owned());
        Ok(())
    })
}
