//! Functions of `tidebox_v1` for processes and signals.

use tidebox_core::StopReason;

use crate::errno::Errno;
use crate::exec::SpawnRequest;
use crate::exit::WaitTarget;
use crate::guest_memory::GuestMemory;
use crate::kernel::Kernel;
use crate::process::{CStringList, Pid};
use crate::signal::{Signal, UNCATCHABLE};
use crate::syscall::{SyscallError, SyscallOutcome, blocking_call, call, check_not_killed};
use crate::wasi::arg::{self, address, put_u32, put_u64};

/// The supported version of the spawn request.
const SPAWN_VERSION: u32 = 1;
/// Maximum bytes of a spawn request in addition to arguments and environment: path, working directory and descriptors.
const REQUEST_OVERHEAD_BYTES: u32 = 64 * 1024;

/// Starts a program and writes its process id. `INVAL` for a malformed request.
pub fn spawn(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    request: u32,
    len: u32,
    pid_out: u32,
) -> SyscallOutcome {
    call(k, pid, |k| {
        if len > k.limits.argument_bytes.saturating_add(REQUEST_OVERHEAD_BYTES) {
            return Err(Errno::TooBig.into());
        }
        let bytes = arg::bytes(m, request, len)?;
        let request = parse(&bytes).ok_or(Errno::Inval)?;
        if request.path.len() > k.limits.path_bytes as usize {
            return Err(Errno::Nametoolong.into());
        }
        // Written once before, so that a bad address fails before a process is started.
        put_u32(m, pid_out, 0)?;
        let child = k.spawn(pid, request)?;
        Ok(put_u32(m, pid_out, child.0)?)
    })
}

/// Parses a request in the layout of `docs/abi.md`.
fn parse(bytes: &[u8]) -> Option<SpawnRequest> {
    let mut rest = Cursor(bytes);
    if rest.u32()? != SPAWN_VERSION {
        return None;
    }
    let request = SpawnRequest {
        path: rest.bytes()?.to_vec(),
        argv: rest.strings()?,
        env: rest.strings()?,
        cwd: rest.bytes()?.to_vec(),
        fds: rest.list(|rest| Some((rest.u32()?, rest.u32()?)))?,
        group: rest.u32()?,
        ignored: rest.u64()?,
    };
    rest.0.is_empty().then_some(request)
}

/// The unread part of a request. Nothing is allocated for a count before its entries have been read.
struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn u32(&mut self) -> Option<u32> {
        let (value, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*value))
    }

    fn u64(&mut self) -> Option<u64> {
        let (value, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*value))
    }

    fn bytes(&mut self) -> Option<&[u8]> {
        let len = self.u32()? as usize;
        let (value, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(value)
    }

    fn strings(&mut self) -> Option<CStringList> {
        let count = self.u32()?;
        let (mut ahead, mut capacity) = (Cursor(self.0), 0);
        for _ in 0..count {
            capacity += ahead.bytes()?.len() + 1;
        }
        let mut list = CStringList::with_capacity(capacity);
        for _ in 0..count {
            list.push(&[self.bytes()?]);
        }
        Some(list)
    }

    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.u32()?;
        (0..count).map(|_| one(self)).collect()
    }
}

/// Starts a copy of the caller and writes its process id.
pub fn fork(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, arg: i32, pid_out: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        put_u32(m, pid_out, 0)?;
        let child = k.fork(pid, arg)?;
        Ok(put_u32(m, pid_out, child.0)?)
    })
}

/// Waits for a child. Bit 0 of `flags`: do not block; bit 1: also return for a child that was stopped.
pub fn wait(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, target: i32, flags: u32, out: u32) -> SyscallOutcome {
    blocking_call(k, pid, |k| {
        let which = match target {
            -1 => WaitTarget::Any,
            0 => WaitTarget::Group(k.process(pid)?.group),
            1.. => WaitTarget::One(target.unsigned_abs()),
            _ => WaitTarget::Group(target.unsigned_abs()),
        };
        let second = address(out, 4)?;
        let Some((child, change)) = k.find_changed_child(pid, which, flags & 2 != 0)? else {
            if flags & 1 == 0 {
                return Err(SyscallError::Block(None));
            }
            put_u32(m, out, 0)?;
            return Ok(put_u32(m, second, 0)?);
        };
        put_u32(m, out, child.0)?;
        put_u32(m, second, change.to_abi())?;
        // Only after the status was written: a bad address must not lose it.
        k.child_reported(child, change);
        Ok(())
    })
}

/// Writes pid, parent, group, user id and group id.
pub fn getids(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, out: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        let process = k.process(pid)?;
        let user = crate::kernel::USER;
        let ids = [pid.0, process.parent, process.group, user.uid, user.gid];
        for (n, id) in (0..).zip(ids) {
            put_u32(m, address(out, 4 * n)?, id)?;
        }
        Ok(())
    })
}

/// Writes the processor time of the caller and of the children it has waited for, in nanoseconds.
pub fn cpu_times(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, out: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        let time = k.visible_cpu_time(pid);
        put_u64(m, out, time.own)?;
        Ok(put_u64(m, address(out, 8)?, time.children)?)
    })
}

/// Adds to the niceness of the caller, at most up to 19, and writes it as `i32`. `PERM` for a negative increment, which only the
/// root user may pass on Linux.
pub fn nice(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, increment: i32, out: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        if increment < 0 {
            return Err(Errno::Perm.into());
        }
        let process = k.process_mut(pid)?;
        process.nice = i8::try_from(increment.saturating_add(i32::from(process.nice)).min(19)).unwrap_or(19);
        let nice = i32::from(process.nice);
        Ok(put_u32(m, out, nice.cast_unsigned())?)
    })
}

/// Records that the caller fails because it reached the limit on nesting, which the shell itself checks for functions. The
/// response then names it.
pub fn nesting_reached(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory) -> SyscallOutcome {
    let _ = m;
    call(k, pid, |k| {
        k.record_limit(pid, StopReason::Nesting);
        Ok(())
    })
}

/// Moves the caller or a child to a process group of the execution.
pub fn setpgid(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, target: i32, group: i32) -> SyscallOutcome {
    let _ = m;
    call(k, pid, |k| {
        let target = u32::try_from(target).map_err(|_| Errno::Inval)?;
        let group = u32::try_from(group).map_err(|_| Errno::Inval)?;
        let target = if target == 0 { pid } else { Pid(target) };
        let found = k.process(target)?;
        if target != pid && found.parent != pid.0 {
            return Err(Errno::Srch.into());
        }
        let execution = found.execution;
        let group = match group {
            0 => target.0,
            pid if pid == target.0 => pid,
            other => k.check_group(execution, other)?,
        };
        k.process_mut(target)?.group = group;
        Ok(())
    })
}

/// Sends a signal to a process, a group or all of the caller's execution. Signal 0 only checks that a target exists.
/// Processes and groups of other executions are in reach, so that a command can stop a server that an earlier one left.
pub fn kill(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, target: i32, signal: u32) -> SyscallOutcome {
    let _ = m;
    call(k, pid, |k| {
        let signal = match signal {
            0 => None,
            number => Some(Signal::from_number(number).ok_or(Errno::Inval)?),
        };
        let caller = k.process(pid)?;
        let (execution, own_group) = (caller.execution, caller.group);
        match target {
            1.. => k.signal_all(signal, |p| p.pid.0 == target.unsigned_abs())?,
            0 => k.signal_all(signal, |p| p.execution == execution && p.group == own_group)?,
            -1 => k.signal_all(signal, |p| p.execution == execution && p.pid != pid)?,
            _ => k.signal_all(signal, |p| p.group == target.unsigned_abs())?,
        }
        check_not_killed(k, pid)
    })
}

/// Sets the disposition of a signal: 0 its default, 1 ignore, 2 catch for [`sig_take`].
pub fn sig_set(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, signal: u32, disposition: u32) -> SyscallOutcome {
    let _ = m;
    call(k, pid, |k| {
        let bit = Signal::from_number(signal).ok_or(Errno::Inval)?.bit();
        if bit & UNCATCHABLE != 0 || disposition > 2 {
            return Err(Errno::Inval.into());
        }
        let signals = &mut k.process_mut(pid)?.signals;
        signals.ignored &= !bit;
        signals.caught &= !bit;
        match disposition {
            1 => signals.ignored |= bit,
            2 => signals.caught |= bit,
            _ => {}
        }
        signals.pending &= signals.caught;
        Ok(())
    })
}

/// Writes and clears the set of pending caught signals.
pub fn sig_take(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, out: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        let process = k.process_mut(pid)?;
        put_u64(m, out, process.signals.pending)?;
        process.signals.pending = 0;
        process.interrupted = false;
        Ok(())
    })
}
