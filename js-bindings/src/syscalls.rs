//! Functions that guests import: exports of this module, so that a call that does not block goes from WebAssembly to WebAssembly.
//! The first parameter is the slot of the guest; it is set by the engine, a guest cannot choose it.
//!
//! They return an errno, or one of the negative numbers below. Wrappers inside the guest (`rewrite/wrapper.rs`) handle them.

use std::cell::RefCell;
use std::sync::Arc;
use std::task::{Wake, Waker};

use tidebox_kernel::wasi::host_call::HostCallRequest;
use tidebox_kernel::wasi::{preview1, syscall_table, tidebox};
use tidebox_kernel::{Errno, ExitStatus, GuestMemory, Kernel, Pid, SyscallOutcome};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::cpu_time::stop_if_used_up;
use crate::engine::{flush_output, stop_if_cancelled, suspends};
use crate::guest::{JsGuestMemory, guest, process};
use crate::js_imports;
use crate::rewrite::CHECKS_PER_SLICE;

/// The call blocks: the guest is parked and retries it when it is woken.
const BLOCK: i32 = -1;
/// The guest must exit.
const EXIT: i32 = -2;
/// The time slice has ended; the guest yields and retries the call.
const YIELD: i32 = -3;
/// The call is done; the guest yields.
const YIELDED: i32 = -4;
/// The time slice has ended: the guest yields to the event loop, and to other guests unless the sandbox is deterministic.
const INTERRUPTED: i32 = -5;

/// Wakes one guest.
struct GuestWaker(u32);

impl Wake for GuestWaker {
    fn wake(self: Arc<Self>) {
        js_imports::guest_wake(self.0);
    }
}

pub(crate) fn waker(slot: u32) -> Waker {
    Waker::from(Arc::new(GuestWaker(slot)))
}

thread_local! {
    /// The copy buffer of all kernels: each would keep one of 64 KiB.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Runs `call` with a kernel that has the shared copy buffer.
fn with_scratch<T>(kernel: &mut Kernel, call: impl FnOnce(&mut Kernel) -> T) -> T {
    let mut buffer = SCRATCH.take();
    kernel.swap_scratch(&mut buffer);
    let result = call(kernel);
    kernel.swap_scratch(&mut buffer);
    SCRATCH.set(buffer);
    result
}

/// Runs a function of the kernel once on the caller's memory.
fn enter(slot: u32, call: impl FnOnce(&mut Kernel, Pid, &mut dyn GuestMemory) -> SyscallOutcome) -> i32 {
    let Some((kernel, pid)) = process(slot) else { return EXIT };
    let mut kernel = kernel.lock();
    let outcome = with_scratch(&mut kernel, |kernel| call(kernel, pid, &mut JsGuestMemory(slot)));
    if let SyscallOutcome::Block(wait) = outcome {
        guest(slot, |guest| guest.deadline = wait.deadline.filter(|_| !kernel.is_deterministic()));
        kernel.park(pid, wait, &waker(slot));
    }
    finish(slot, outcome)
}

fn finish(slot: u32, outcome: SyscallOutcome) -> i32 {
    match outcome {
        SyscallOutcome::Done(errno) => errno as i32,
        SyscallOutcome::Block(_) => BLOCK,
        SyscallOutcome::Exit(code) => exit_guest(slot, ExitStatus::from_exit(code)),
        SyscallOutcome::Kill(signal) => exit_guest(slot, ExitStatus::Killed(signal)),
    }
}

fn exit_guest(slot: u32, status: ExitStatus) -> i32 {
    guest(slot, |guest| guest.exit_status = Some(status));
    EXIT
}

/// Like [`enter`], for calls that depend on other processes: in a deterministic sandbox the guest may have to yield first.
fn enter_yielding(slot: u32, call: impl FnOnce(&mut Kernel, Pid, &mut dyn GuestMemory) -> SyscallOutcome) -> i32 {
    let turn_is_over = process(slot).map(|(kernel, pid)| kernel.lock().slice_expired(pid));
    if turn_is_over == Some(true) {
        return YIELD;
    }
    let status = enter(slot, call);
    if status == Errno::Intr as i32 {
        deliver_signals(slot);
    }
    status
}

macro_rules! calls {
    ($enter:ident, $source:ident: $($name:ident($($arg:ident: $ty:ty),*);)*) => {$(
        #[doc = concat!("`", stringify!($name), "`; documented in `docs/abi.md` or by preview1.")]
        #[wasm_bindgen]
        #[allow(clippy::too_many_arguments, reason = "preview1 has them")]
        pub fn $name(slot: u32, $($arg: $ty),*) -> i32 {
            $enter(slot, |kernel, pid, memory| $source::$name(kernel, pid, memory, $($arg),*))
        }
    )*};
}

tidebox_kernel::preview1_nonblocking!(calls!(enter,));
tidebox_kernel::preview1_yielding!(calls!(enter_yielding,));
tidebox_kernel::tidebox_v1_nonblocking!(calls!(enter,));
tidebox_kernel::tidebox_v1_yielding!(calls!(enter_yielding,));
calls! { enter, preview1: proc_exit(code: u32); }

/// Returns the function names of an import module; each is an export of this module.
#[wasm_bindgen(js_name = functionNames)]
pub fn function_names(module: &str) -> Vec<String> {
    syscall_table::functions(module).map(str::to_owned).collect()
}

/// `sched_yield` of preview1: done after other processes have run.
#[wasm_bindgen]
pub fn sched_yield(slot: u32) -> i32 {
    let status = enter(slot, |kernel, pid, memory| {
        kernel.yield_slice(pid);
        preview1::sched_yield(kernel, pid, memory)
    });
    if status == 0 { YIELDED } else { status }
}

/// `fork` of `tidebox_v1`: the copy is made before the parent continues.
#[wasm_bindgen]
pub fn fork(slot: u32, arg: i32, pid_out: u32) -> i32 {
    if !js_imports::guest_can_fork(slot) {
        return Errno::Notsup as i32;
    }
    let mut started = None;
    let status = enter(slot, |kernel, pid, memory| {
        let sys = tidebox::fork(kernel, pid, memory, arg, pid_out);
        if matches!(sys, SyscallOutcome::Done(Errno::Success)) {
            started = kernel.take_fork(pid);
        }
        sys
    });
    let Some(start) = started else { return status };
    match crate::engine::fork(slot, &start, arg) {
        Ok(()) => status,
        Err(errno) => errno as i32,
    }
}

/// `host.call` of a pre-initialized program: a call of `tidebox_v1`. Returns the length of the response that [`write_response`] copies to
/// memory allocated by the program, or 0 for an unreadable request.
#[wasm_bindgen(js_name = hostCall)]
pub fn host_call(slot: u32, at: u32, len: u32, _at_out: u32, _len_out: u32) -> i32 {
    let memory = &mut JsGuestMemory(slot);
    let Some(mut request) = HostCallRequest::read(memory, at, len) else { return 0 };
    let response = match request.write_words(memory) {
        Some(response) => response,
        None => match enter_yielding(slot, |kernel, pid, _| request.execute(kernel, pid)) {
            errno @ 0.. => request.into_response(errno.cast_unsigned()),
            other => return other,
        },
    };
    let len = i32::try_from(response.len()).unwrap_or(0);
    guest(slot, |guest| guest.response = response);
    len
}

/// Copies the response of a [`host_call`] to memory that the program has allocated. Returns 0, or -2 if that fails.
#[wasm_bindgen]
pub fn write_response(slot: u32, at: u32, at_out: u32, len_out: u32) -> i32 {
    let response = guest(slot, |guest| std::mem::take(&mut guest.response)).unwrap_or_default();
    let len = u32::try_from(response.len()).unwrap_or(u32::MAX);
    let memory = &mut JsGuestMemory(slot);
    let written = at != 0
        && memory.write(at, &response).is_ok()
        && memory.write(at_out, &at.to_le_bytes()).is_ok()
        && memory.write(len_out, &len.to_le_bytes()).is_ok();
    if written { 0 } else { -2 }
}

/// Sets the signal flags of a program that is notified through its memory.
fn deliver_signals(slot: u32) {
    let Some(Some(interrupts)) = guest(slot, |guest| guest.interrupts.clone()) else { return };
    let signals = process(slot).map_or(0, |(kernel, pid)| kernel.lock().take_pending_signals(pid));
    if signals != 0 {
        interrupts.set(&mut JsGuestMemory(slot), signals);
    }
}

/// Called by a guest at the end of its time slice. Returns its next number of checks. Without JSPI, only this call checks the
/// timeout.
#[wasm_bindgen]
pub fn tick(slot: u32) -> i32 {
    let Some(execution) = guest(slot, |guest| guest.execution) else { return EXIT };
    if !suspends() {
        stop_if_cancelled(execution);
        stop_if_used_up(execution);
        flush_output(execution);
    }
    deliver_signals(slot);
    match guest(slot, |guest| guest.fatal()) {
        None => EXIT,
        Some(Some(signal)) => exit_guest(slot, ExitStatus::Killed(signal)),
        Some(None) if suspends() => INTERRUPTED,
        Some(None) => CHECKS_PER_SLICE,
    }
}

/// Called before a guest's memory grows. Returns 1 if it may.
#[wasm_bindgen]
pub fn grow(slot: u32, pages: u32, more: u32) -> i32 {
    let Some((kernel, pid)) = process(slot) else { return 0 };
    let (from, to) = (u64::from(pages), u64::from(pages) + u64::from(more));
    // Addresses have 32 bits.
    let granted = to <= 1 << 16 && kernel.lock().grow_memory(pid, from << 16, to << 16);
    if !granted {
        guest(slot, |guest| guest.memory_denied = true);
    }
    i32::from(granted)
}
