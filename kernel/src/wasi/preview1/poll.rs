//! `poll_oneoff`: waiting for clocks and descriptors.

use crate::errno::Errno;
use crate::guest_memory::GuestMemory;
use crate::kernel::Kernel;
use crate::process::Pid;
use crate::readiness::{READY, Readiness, readable, writable};
use crate::syscall::{SyscallError, SyscallOutcome, blocking_call};
use crate::wasi::arg::{address, put_u32, u32_at, u64_at};

/// Bytes of a `subscription` and of an `event`.
const SUBSCRIPTION_BYTES: usize = 48;
const EVENT_BYTES: usize = 32;
/// More subscriptions than descriptors and timers could need are rejected.
const MAX_SUBSCRIPTIONS: u32 = 4096;

const CLOCK: u8 = 0;
const FD_READ: u8 = 1;
const FD_WRITE: u8 = 2;
const ABSOLUTE: u16 = 1;
const HANGUP: u16 = 1;
/// Waits until at least one subscription is ready, and writes an event for each ready one. `INVAL` for none and for more than
/// 4,096. An error of one subscription is reported in its event.
pub fn poll_oneoff(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    subscriptions: u32,
    events: u32,
    count: u32,
    out: u32,
) -> SyscallOutcome {
    blocking_call(k, pid, |k| {
        if count == 0 || count > MAX_SUBSCRIPTIONS {
            return Err(Errno::Inval.into());
        }
        let mut ready: u32 = 0;
        let mut deadline: Option<u64> = None;
        for n in 0..count {
            let mut raw = [0; SUBSCRIPTION_BYTES];
            m.read(address(subscriptions, u64::from(n) * SUBSCRIPTION_BYTES as u64)?, &mut raw)?;
            let kind = raw[8];
            let state = match kind {
                CLOCK => clock(k, pid, &raw)?,
                FD_READ => readable(k, pid, u32_at(&raw, 16)),
                FD_WRITE => writable(k, pid, u32_at(&raw, 16)),
                _ => return Err(Errno::Inval.into()),
            };
            let event = match state {
                Readiness::Pending(at) => {
                    deadline = deadline.into_iter().chain(at).min();
                    continue;
                }
                Readiness::Ready { bytes, hangup } => event(&raw, kind, Errno::Success, bytes, hangup),
                Readiness::Failed(errno) => event(&raw, kind, errno, 0, false),
            };
            m.write(address(events, u64::from(ready) * EVENT_BYTES as u64)?, &event)?;
            ready += 1;
        }
        if ready == 0 {
            return Err(SyscallError::Block(deadline));
        }
        Ok(put_u32(m, out, ready)?)
    })
}

fn event(
    subscription: &[u8; SUBSCRIPTION_BYTES],
    kind: u8,
    errno: Errno,
    bytes: u64,
    hangup: bool,
) -> [u8; EVENT_BYTES] {
    let mut out = [0; EVENT_BYTES];
    let head = u64::from(errno as u16) | u64::from(kind) << 16;
    let flags = if hangup { u64::from(HANGUP) } else { 0 };
    for (slot, field) in out.chunks_exact_mut(8).zip([u64_at(subscription, 0), head, bytes, flags]) {
        slot.copy_from_slice(&field.to_le_bytes());
    }
    out
}

/// A relative time counts from the first attempt of a call that waits, not from each retry.
fn clock(k: &mut Kernel, pid: Pid, raw: &[u8; SUBSCRIPTION_BYTES]) -> Result<Readiness, Errno> {
    let (id, timeout, flags) = (u32_at(raw, 16), u64_at(raw, 24), u32_at(raw, 40) as u16);
    // Only the real-time and monotonic clocks can be waited for, as in Wasmtime.
    if matches!(id, super::PROCESS_TIME | super::THREAD_TIME) {
        return Ok(Readiness::Failed(Errno::Badf));
    }
    let clock_time = match super::clock(k, pid, id) {
        Ok(clock_time) => clock_time,
        Err(errno) => return Ok(Readiness::Failed(errno)),
    };
    let now = k.clock.monotonic();
    let until = if flags & ABSOLUTE != 0 {
        now.saturating_add(timeout.saturating_sub(clock_time))
    } else {
        let since = *k.process_mut(pid)?.blocked.since.get_or_insert(now);
        since.saturating_add(timeout)
    };
    Ok(if until <= now { READY } else { Readiness::Pending(Some(until)) })
}
