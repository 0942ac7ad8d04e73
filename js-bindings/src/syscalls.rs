//! The functions that guests call: exports of this module that the engine gives guests as their imports, so that a call
//! that need not wait goes from WebAssembly to WebAssembly. The number of the process comes first; it is the engine's, a
//! guest cannot choose it.
//!
//! The answer is an errno, or one of the negative numbers below. Wrappers inside the guest (`rewrite/wrapper.rs`) know them.

use std::sync::Arc;
use std::task::{Wake, Waker};

use tidebox_kernel::wasi::{GuestMem, Sys, ext, p1};
use tidebox_kernel::{Errno, Kernel, Pid, Status};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::engine::{deliver_now, stop_if_unwanted, suspends};
use crate::guest::{GuestMemory, guest, lock};
use crate::host;
use crate::rewrite::TURN;

/// The call has to wait: the guest is parked, and makes it again when it was woken.
const BLOCK: i32 = -1;
/// The guest must end.
const LEAVE: i32 = -2;
/// Others are to have a turn; the guest then makes the call again.
const YIELD: i32 = -3;
/// Others are to have a turn; the call is done.
const YIELDED: i32 = -4;
/// The guest has run for a while. The event loop is to have a turn, and other guests too unless runs are to be repeatable.
const INTERRUPTED: i32 = -5;

/// Wakes one guest.
struct GuestWaker(u32);

impl Wake for GuestWaker {
    fn wake(self: Arc<Self>) {
        host::guest_wake(self.0);
    }
}

fn waker(pid: u32) -> Waker {
    Waker::from(Arc::new(GuestWaker(pid)))
}

/// Runs a function of the kernel once over the caller's memory.
fn enter(pid: u32, call: impl FnOnce(&mut Kernel, Pid, &mut dyn GuestMem) -> Sys) -> i32 {
    let Some(kernel) = guest(pid, |guest| Arc::clone(&guest.kernel)) else { return LEAVE };
    let mut kernel = lock(&kernel);
    let sys = call(&mut kernel, Pid(pid), &mut GuestMemory(pid));
    if let Sys::Block(wait) = sys {
        guest(pid, |guest| guest.deadline = wait.deadline.filter(|_| !kernel.is_repeatable()));
        kernel.park(Pid(pid), wait, &waker(pid));
    }
    finish(pid, sys)
}

fn finish(pid: u32, sys: Sys) -> i32 {
    match sys {
        Sys::Done(errno) => errno as i32,
        Sys::Block(_) => BLOCK,
        Sys::Exit(code) => leave(pid, Status::from_exit(code)),
        Sys::Kill(signal) => leave(pid, Status::Killed(signal)),
    }
}

fn leave(pid: u32, status: Status) -> i32 {
    guest(pid, |guest| guest.leaving = Some(status));
    LEAVE
}

/// As [`enter`], for calls that others' doings show in: where runs are to be repeatable, others may have to have a turn
/// first.
fn enter_in_turn(pid: u32, call: impl FnOnce(&mut Kernel, Pid, &mut dyn GuestMem) -> Sys) -> i32 {
    let turn_is_over = guest(pid, |guest| lock(&guest.kernel).turn_is_over(Pid(pid)));
    if turn_is_over == Some(true) { YIELD } else { enter(pid, call) }
}

macro_rules! calls {
    ($enter:ident, $source:ident: $($name:ident($($arg:ident: $ty:ty),*);)*) => {$(
        #[doc = concat!("`", stringify!($name), "`, of which `docs/abi.md` or preview1 says what it means.")]
        #[wasm_bindgen]
        #[allow(clippy::too_many_arguments, reason = "preview1 has them")]
        pub fn $name(pid: u32, $($arg: $ty),*) -> i32 {
            $enter(pid, |kernel, pid, memory| $source::$name(kernel, pid, memory, $($arg),*))
        }
    )*};
}

calls! { enter, p1:
    args_get(argv: u32, buffer: u32);
    args_sizes_get(count: u32, size: u32);
    environ_get(environ: u32, buffer: u32);
    environ_sizes_get(count: u32, size: u32);
    clock_res_get(id: u32, out: u32);
    clock_time_get(id: u32, precision: u64, out: u32);
    fd_advise(fd: u32, offset: u64, len: u64, advice: u32);
    fd_allocate(fd: u32, offset: u64, len: u64);
    fd_close(fd: u32);
    fd_datasync(fd: u32);
    fd_fdstat_get(fd: u32, out: u32);
    fd_fdstat_set_flags(fd: u32, flags: u32);
    fd_fdstat_set_rights(fd: u32, base: u64, inheriting: u64);
    fd_filestat_get(fd: u32, out: u32);
    fd_filestat_set_size(fd: u32, size: u64);
    fd_filestat_set_times(fd: u32, atime: u64, mtime: u64, flags: u32);
    fd_pread(fd: u32, iovs: u32, iovs_len: u32, offset: u64, out: u32);
    fd_prestat_get(fd: u32, out: u32);
    fd_prestat_dir_name(fd: u32, path: u32, len: u32);
    fd_pwrite(fd: u32, iovs: u32, iovs_len: u32, offset: u64, out: u32);
    fd_readdir(fd: u32, buffer: u32, len: u32, cookie: u64, out: u32);
    fd_renumber(fd: u32, to: u32);
    fd_seek(fd: u32, offset: i64, whence: u32, out: u32);
    fd_sync(fd: u32);
    fd_tell(fd: u32, out: u32);
    path_filestat_set_times(fd: u32, flags: u32, path: u32, len: u32, atime: u64, mtime: u64, which: u32);
    path_readlink(fd: u32, path: u32, len: u32, buffer: u32, buffer_len: u32, out: u32);
    proc_exit(code: u32);
    proc_raise(signal: u32);
    random_get(buffer: u32, len: u32);
    sock_accept(fd: u32, flags: u32, out: u32);
    sock_recv(fd: u32, iovs: u32, iovs_len: u32, flags: u32, size: u32, out_flags: u32);
    sock_send(fd: u32, iovs: u32, iovs_len: u32, flags: u32, size: u32);
    sock_shutdown(fd: u32, how: u32);
}

calls! { enter_in_turn, p1:
    fd_read(fd: u32, iovs: u32, iovs_len: u32, out: u32);
    fd_write(fd: u32, iovs: u32, iovs_len: u32, out: u32);
    path_create_directory(fd: u32, path: u32, len: u32);
    path_filestat_get(fd: u32, flags: u32, path: u32, len: u32, out: u32);
    path_link(old_fd: u32, old_flags: u32, old: u32, old_len: u32, new_fd: u32, new: u32, new_len: u32);
    path_open(
        fd: u32, dirflags: u32, path: u32, len: u32, oflags: u32, base: u64, inheriting: u64, fdflags: u32, out: u32
    );
    path_remove_directory(fd: u32, path: u32, len: u32);
    path_rename(fd: u32, old: u32, old_len: u32, new_fd: u32, new: u32, new_len: u32);
    path_symlink(old: u32, old_len: u32, fd: u32, new: u32, new_len: u32);
    path_unlink_file(fd: u32, path: u32, len: u32);
    poll_oneoff(subscriptions: u32, events: u32, count: u32, out: u32);
}

calls! { enter, ext:
    spawn(request: u32, len: u32, pid_out: u32);
    pipe(out: u32);
    dup(fd: u32, at_least: u32, out: u32);
    dup_to(fd: u32, target: u32);
    chdir(path: u32, len: u32);
    getcwd(buffer: u32, len: u32, len_out: u32);
    getids(out: u32);
    setpgid(target: i32, pgid: i32);
    sig_set(signal: u32, disposition: u32);
    sig_take(out: u32);
    umask(mask: u32, out: u32);
    chmod(path: u32, len: u32, mode: u32);
    fstat(fd: u32, out: u32);
    limits(out: u32);
    shell_state_read(buffer: u32, len: u32, len_out: u32);
    shell_state_write(from: u32, len: u32);
}

calls! { enter_in_turn, ext:
    kill(target: i32, signal: u32);
    stat(path: u32, len: u32, flags: u32, out: u32);
    access(path: u32, len: u32, mode: u32);
    wait(target: i32, flags: u32, out: u32);
}

/// `sched_yield` of preview1: done, after others have had a turn.
#[wasm_bindgen]
pub fn sched_yield(pid: u32) -> i32 {
    let answer = enter(pid, |kernel, pid, memory| {
        kernel.end_turn(pid);
        p1::sched_yield(kernel, pid, memory)
    });
    if answer == 0 { YIELDED } else { answer }
}

/// `fork` of `tidebox_v1`: the copy is made before the parent goes on.
#[wasm_bindgen]
pub fn fork(pid: u32, arg: i32, pid_out: u32) -> i32 {
    let mut started = None;
    let answer = enter(pid, |kernel, pid, memory| {
        let sys = ext::fork(kernel, pid, memory, arg, pid_out);
        if matches!(sys, Sys::Done(Errno::Success)) {
            started = kernel.take_fork(pid);
        }
        sys
    });
    let Some(start) = started else { return answer };
    match crate::engine::fork(pid, &start, arg) {
        Ok(()) => answer,
        Err(errno) => errno as i32,
    }
}

/// Asked by a guest that has run for a while: for how many more checks it may go on. Where guests run to completion nobody
/// else watches the time.
#[wasm_bindgen]
pub fn tick(pid: u32) -> i32 {
    let Some(session) = guest(pid, |guest| guest.session) else { return LEAVE };
    if !suspends() {
        stop_if_unwanted(session);
        deliver_now(session);
    }
    match guest(pid, |guest| guest.fatal()) {
        None => LEAVE,
        Some(Some(signal)) => leave(pid, Status::Killed(signal)),
        Some(None) if suspends() => INTERRUPTED,
        Some(None) => TURN,
    }
}

/// Asked before a guest's memory grows: 1 when it may.
#[wasm_bindgen]
pub fn grow(pid: u32, pages: u32, more: u32) -> i32 {
    let Some(kernel) = guest(pid, |guest| Arc::clone(&guest.kernel)) else { return 0 };
    let (from, to) = (u64::from(pages), u64::from(pages) + u64::from(more));
    // An address has 32 bits.
    let granted = to <= 1 << 16 && lock(&kernel).grow_memory(Pid(pid), from << 16, to << 16);
    if !granted {
        guest(pid, |guest| guest.refused = true);
    }
    i32::from(granted)
}
