//! Processes and their signals.

use super::raw::{tidebox, wasi};
use crate::errno::check;
use crate::{ChildChange, CpuTimes, ExitStatus, Ids, Limits, Result, SpawnRequest, WaitResult};

pub(crate) fn spawn(request: &SpawnRequest<'_>) -> Result<u32> {
    let bytes = request.encode();
    let mut pid = 0;
    // SAFETY: the request is a live slice, `pid` a live local.
    check(unsafe { tidebox::spawn(bytes.as_ptr(), bytes.len(), &mut pid) })?;
    Ok(pid)
}

pub(crate) fn fork<'a>(child: Box<dyn FnOnce() + 'a>) -> Result<u32> {
    // The address of a fat box is one word, which is what `arg` carries.
    let boxed: *mut Box<dyn FnOnce() + 'a> = Box::into_raw(Box::new(child));
    let mut pid = 0;
    // SAFETY: `pid` is a live local. The kernel copies this memory before the call returns, so the child has a complete copy of
    // the closure and everything that it borrows, whatever happens to it here afterwards.
    let code = unsafe { tidebox::fork(boxed as usize as i32, &mut pid) };
    // SAFETY: the pointer came from `into_raw` above, and only the child's own memory used it otherwise.
    drop(unsafe { Box::from_raw(boxed) });
    check(code)?;
    Ok(pid)
}

/// Entry point of a forked child. The kernel passes the `arg` of the `fork` call that created the child.
#[unsafe(no_mangle)]
extern "C" fn tidebox_fork_child(arg: i32) {
    let boxed = arg as usize as *mut Box<dyn FnOnce()>;
    // SAFETY: `fork` above created the pointer and left it valid in this copy of the memory; no other code in this process uses
    // it. The closure borrows from frames below the start of this call's stack, so they outlive the call.
    let child = unsafe { Box::from_raw(boxed) };
    child();
    exit(0)
}

pub(crate) fn wait(pid: i32, block: bool) -> Result<Option<WaitResult>> {
    let mut out = [0; 2];
    // SAFETY: `out` is a live local of the size the kernel writes.
    check(unsafe { tidebox::wait(pid, u32::from(!block), &mut out) })?;
    Ok((out[0] != 0).then_some(WaitResult { pid: out[0], status: ExitStatus::decode(out[1]) }))
}

pub(crate) fn wait_change(pid: i32, block: bool) -> Result<Option<(u32, ChildChange)>> {
    let mut out = [0; 2];
    // SAFETY: `out` is a live local of the size the kernel writes.
    check(unsafe { tidebox::wait(pid, 2 | u32::from(!block), &mut out) })?;
    let change = match out[1].checked_sub(512) {
        None => ChildChange::Ended(ExitStatus::decode(out[1])),
        Some(signal) => ChildChange::Stopped((signal & 127) as u8),
    };
    Ok((out[0] != 0).then_some((out[0], change)))
}

pub(crate) fn getids() -> Result<Ids> {
    let mut ids = [0; 5];
    // SAFETY: `ids` is a live local of the size the kernel writes.
    check(unsafe { tidebox::getids(&mut ids) })?;
    let [pid, ppid, pgid, uid, gid] = ids;
    Ok(Ids { pid, ppid, pgid, uid, gid })
}

pub(crate) fn cpu_times() -> CpuTimes {
    let mut times = [0; 2];
    // SAFETY: `times` is a live local of the size the kernel writes. The call cannot fail then.
    unsafe { tidebox::cpu_times(&mut times) };
    let [own, children] = times;
    CpuTimes { own, children }
}

pub(crate) fn nesting_reached() {
    // SAFETY: no memory is passed. The call cannot fail.
    unsafe { tidebox::nesting_reached() };
}

pub(crate) fn nice(increment: i32) -> Result<i32> {
    let mut nice = 0;
    // SAFETY: `nice` is a live local of the size the kernel writes.
    check(unsafe { tidebox::nice(increment, &mut nice) })?;
    Ok(nice)
}

pub(crate) fn setpgid(pid: u32, pgid: u32) -> Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { tidebox::setpgid(pid, pgid) })
}

pub(crate) fn kill(pid: i32, signal: u32) -> Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { tidebox::kill(pid, signal) })
}

pub(crate) fn sig_set(signal: u32, disposition: u32) -> Result<()> {
    // SAFETY: no memory is passed.
    check(unsafe { tidebox::sig_set(signal, disposition) })
}

pub(crate) fn sig_take() -> Result<u64> {
    let mut set = 0;
    // SAFETY: `set` is a live local.
    check(unsafe { tidebox::sig_take(&mut set) })?;
    Ok(set)
}

pub(crate) fn limits() -> Result<Limits> {
    let mut raw = tidebox::RawLimits::default();
    // SAFETY: `raw` is a live local with the layout that the kernel writes.
    check(unsafe { tidebox::limits(&mut raw) })?;
    Ok(Limits {
        process_memory_bytes: raw.memory,
        file_bytes: raw.files,
        descriptors: raw.descriptors,
        processes: raw.processes,
        nesting: raw.nesting,
    })
}

pub(crate) fn exit(code: u8) -> ! {
    // SAFETY: the call does not return.
    unsafe { wasi::proc_exit(u32::from(code)) }
}
