//! `wasi_snapshot_preview1`: one function for each of the witx, with its name and its ABI arguments. Behaviour that the standard
//! leaves open follows Linux.

mod fd;
mod io;
mod path;
mod poll;
mod readdir;
mod socket;

use super::arg::{put_u32, put_u64};
use crate::errno::Errno;
use crate::guest_memory::GuestMemory;
use crate::kernel::Kernel;
use crate::process::{CStringList, Pid};
use crate::signal::Signal;
use crate::syscall::{SyscallError, SyscallOutcome, call, check_not_killed};

pub use fd::{
    fd_advise, fd_allocate, fd_close, fd_datasync, fd_fdstat_get, fd_fdstat_set_flags, fd_fdstat_set_rights,
    fd_filestat_get, fd_filestat_set_size, fd_filestat_set_times, fd_prestat_dir_name, fd_prestat_get, fd_renumber,
    fd_sync,
};
pub use io::{Progress, fd_pread, fd_pwrite, fd_read, fd_read_chunk, fd_seek, fd_tell, fd_write, fd_write_chunk};
pub use path::{
    path_create_directory, path_filestat_get, path_filestat_set_times, path_link, path_open, path_readlink,
    path_remove_directory, path_rename, path_symlink, path_unlink_file,
};
pub use poll::poll_oneoff;
pub use readdir::fd_readdir;
pub use socket::{sock_accept, sock_recv, sock_send, sock_shutdown};

/// Writes the arguments to `buffer` as NUL-terminated strings, and their addresses to `argv`.
pub fn args_get(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, argv: u32, buffer: u32) -> SyscallOutcome {
    call(k, pid, |k| put_strings(m, &k.process(pid)?.program.argv, argv, buffer))
}

/// Writes the number of arguments, and the number of bytes that [`args_get`] writes for them.
pub fn args_sizes_get(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, count: u32, size: u32) -> SyscallOutcome {
    call(k, pid, |k| put_sizes(m, &k.process(pid)?.program.argv, count, size))
}

/// Writes the environment, in the form of [`args_get`].
pub fn environ_get(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, environ: u32, buffer: u32) -> SyscallOutcome {
    call(k, pid, |k| put_strings(m, &k.process(pid)?.program.env, environ, buffer))
}

/// Writes the number of variables, and the number of bytes that [`environ_get`] writes for them.
pub fn environ_sizes_get(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, count: u32, size: u32) -> SyscallOutcome {
    call(k, pid, |k| put_sizes(m, &k.process(pid)?.program.env, count, size))
}

fn put_sizes(m: &mut dyn GuestMemory, strings: &CStringList, count: u32, size: u32) -> Result<(), SyscallError> {
    put_u32(m, count, strings.count)?;
    put_u32(m, size, u32::try_from(strings.bytes.len()).map_err(|_| Errno::Overflow)?)?;
    Ok(())
}

fn put_strings(m: &mut dyn GuestMemory, strings: &CStringList, list: u32, buffer: u32) -> Result<(), SyscallError> {
    m.write(buffer, &strings.bytes)?;
    let mut addresses = Vec::with_capacity(strings.count as usize * 4);
    let mut at = buffer;
    for string in strings.iter() {
        addresses.extend_from_slice(&at.to_le_bytes());
        // The bytes are in guest memory by now, so their addresses fit.
        at = at.saturating_add(u32::try_from(string.len() + 1).unwrap_or(u32::MAX));
    }
    m.write(list, &addresses)?;
    Ok(())
}

const REALTIME: u32 = 0;
const MONOTONIC: u32 = 1;
/// Processor time of the process and of its only thread.
const PROCESS_TIME: u32 = 2;
const THREAD_TIME: u32 = 3;

/// Reads the clock `id`. `INVAL` for an unknown one.
pub(super) fn clock(k: &Kernel, pid: Pid, id: u32) -> Result<u64, Errno> {
    match id {
        REALTIME => Ok(k.clock.realtime()),
        MONOTONIC => Ok(k.clock.monotonic()),
        PROCESS_TIME | THREAD_TIME => Ok(k.visible_cpu_time(pid).own),
        _ => Err(Errno::Inval),
    }
}

/// Writes the resolution of a clock: one nanosecond.
pub fn clock_res_get(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, id: u32, out: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        clock(k, pid, id)?;
        Ok(put_u64(m, out, 1)?)
    })
}

/// Writes the time of a clock. The requested precision is ignored, which the standard allows.
pub fn clock_time_get(
    k: &mut Kernel,
    pid: Pid,
    m: &mut dyn GuestMemory,
    id: u32,
    precision: u64,
    out: u32,
) -> SyscallOutcome {
    let _ = precision;
    call(k, pid, |k| Ok(put_u64(m, out, clock(k, pid, id)?)?))
}

/// Ends the caller.
pub fn proc_exit(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, code: u32) -> SyscallOutcome {
    let _ = m;
    match call(k, pid, |_| Ok(())) {
        SyscallOutcome::Done(_) => SyscallOutcome::Exit(code.cast_signed()),
        killed => killed,
    }
}

/// Sends the caller a signal, by preview1's numbers. 0 only checks.
pub fn proc_raise(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, signal: u32) -> SyscallOutcome {
    let _ = m;
    call(k, pid, |k| {
        if signal == 0 {
            return Ok(());
        }
        let signal = Signal::from_wasi(signal).ok_or(Errno::Inval)?;
        k.process_mut(pid)?.signal(signal);
        check_not_killed(k, pid)
    })
}

/// Has no effect in the kernel: the engine lets the other processes run.
pub fn sched_yield(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory) -> SyscallOutcome {
    let _ = m;
    call(k, pid, |_| Ok(()))
}

/// Writes random bytes, in chunks, so that a large request does not allocate.
pub fn random_get(k: &mut Kernel, pid: Pid, m: &mut dyn GuestMemory, buffer: u32, len: u32) -> SyscallOutcome {
    call(k, pid, |k| {
        if let Some(dst) = m.slice_mut(buffer, len) {
            k.entropy.fill(dst);
            return Ok(());
        }
        let mut chunk = [0; 512];
        let mut done = 0;
        while done < len {
            let step = (len - done).min(512);
            let Some(bytes) = chunk.get_mut(..step as usize) else { break };
            k.entropy.fill(bytes);
            m.write(super::arg::address(buffer, u64::from(done))?, bytes)?;
            done += step;
        }
        Ok(())
    })
}
