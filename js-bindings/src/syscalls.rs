//! The functions that guests call: exports of this module that the engine gives guests as their imports, so that a call
//! that need not wait goes from WebAssembly to WebAssembly. The number of the process comes first; it is the engine's, a
//! guest cannot choose it.
//!
//! The answer is an errno, or one of the negative numbers below. Wrappers inside the guest (`rewrite/wrapper.rs`) know them.

use std::sync::Arc;
use std::task::{Wake, Waker};

use tidebox_kernel::wasi::door::Request;
use tidebox_kernel::wasi::{GuestMem, Sys, calls, ext, p1};
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
    if turn_is_over == Some(true) {
        return YIELD;
    }
    let answer = enter(pid, call);
    if answer == Errno::Intr as i32 {
        interrupt(pid);
    }
    answer
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

tidebox_kernel::preview1_at_once!(calls!(enter,));
tidebox_kernel::preview1_in_turn!(calls!(enter_in_turn,));
tidebox_kernel::tidebox_v1_at_once!(calls!(enter,));
tidebox_kernel::tidebox_v1_in_turn!(calls!(enter_in_turn,));
calls! { enter, p1: proc_exit(code: u32); }

/// The names of the functions of a module of imports; each is an export of this module.
#[wasm_bindgen(js_name = functionsOf)]
pub fn functions_of(module: &str) -> Vec<String> {
    calls::functions(module).map(str::to_owned).collect()
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
    if !host::guest_forks(pid) {
        return Errno::Notsup as i32;
    }
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

/// `host.call` of a prepared program: a call of `tidebox_v1`. Answers how many bytes [`answer`] will put where it has made room for
/// them, and 0 when it asks for nothing that can be read.
#[wasm_bindgen(js_name = hostCall)]
pub fn host_call(pid: u32, at: u32, len: u32, _at_out: u32, _len_out: u32) -> i32 {
    let memory = &mut GuestMemory(pid);
    let Some(mut request) = Request::read(memory, at, len) else { return 0 };
    let answer = match request.set_words(memory) {
        Some(answer) => answer,
        None => match enter_in_turn(pid, |kernel, pid, _| request.answer(kernel, pid)) {
            errno @ 0.. => request.answered(errno.cast_unsigned()),
            other => return other,
        },
    };
    let len = i32::try_from(answer.len()).unwrap_or(0);
    guest(pid, |guest| guest.answer = answer);
    len
}

/// Puts the answer of a [`host_call`] into the room that the program has made for it. 0, or -2 where it cannot be.
#[wasm_bindgen]
pub fn answer(pid: u32, at: u32, at_out: u32, len_out: u32) -> i32 {
    let answer = guest(pid, |guest| std::mem::take(&mut guest.answer)).unwrap_or_default();
    let len = u32::try_from(answer.len()).unwrap_or(u32::MAX);
    let memory = &mut GuestMemory(pid);
    let written = at != 0
        && memory.write(at, &answer).is_ok()
        && memory.write(at_out, &at.to_le_bytes()).is_ok()
        && memory.write(len_out, &len.to_le_bytes()).is_ok();
    if written { 0 } else { -2 }
}

/// Lets a program that learns of signals by its memory know of those that have arrived.
fn interrupt(pid: u32) {
    let Some(Some(interrupts)) = guest(pid, |guest| guest.interrupts.clone()) else { return };
    let signals = guest(pid, |guest| lock(&guest.kernel).take_noted(Pid(pid))).unwrap_or_default();
    if signals != 0 {
        interrupts.set(&mut GuestMemory(pid), signals);
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
    interrupt(pid);
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
