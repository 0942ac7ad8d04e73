//! How a guest's end becomes the status of its process.

use std::sync::Arc;

use tidebox_kernel::{Pid, SharedKernel, Signal, Status};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::engine::wake_session;
use crate::guest::{guest, guests, lock};

/// JavaScript says that a guest's function has returned, or was left by an error with this message.
#[wasm_bindgen(js_name = guestEnded)]
pub fn guest_ended(pid: u32, error: Option<String>) {
    let found = guest(pid, |guest| (guest.leaving, guest.fatal(), guest.refused));
    let Some((leaving, fatal, refused)) = found else { return };
    match (leaving, fatal, error) {
        (Some(status), ..) => ended(pid, status),
        (None, Some(signal), _) => ended(pid, Status::Killed(signal)),
        (None, None, None) => ended(pid, Status::Exited(0)),
        (None, None, Some(_)) if refused => out_of_memory(pid),
        (None, None, Some(error)) => {
            let (what, signal) = trap(&error);
            say(pid, |name, _| format!("{name}: {what}\n"));
            ended(pid, Status::Killed(signal));
        }
    }
}

/// JavaScript says that the function of a prepared program has returned its exit code.
#[wasm_bindgen(js_name = guestReturned)]
pub fn guest_returned(pid: u32, code: i32) {
    let found = guest(pid, |guest| (guest.leaving, guest.fatal()));
    let Some((leaving, fatal)) = found else { return };
    ended(pid, leaving.or(fatal.map(Status::Killed)).unwrap_or(Status::from_exit(code)));
}

/// JavaScript says that a program could not be compiled or instantiated.
#[wasm_bindgen(js_name = guestCannotStart)]
pub fn cannot_execute(pid: u32, reason: &str) {
    say(pid, |name, _| format!("{name}: cannot execute: {reason}\n"));
    // Exit code 126, as a shell gives for a file that cannot be executed.
    ended(pid, Status::Exited(126));
}

/// What cannot be where guests run to completion.
pub(crate) const AT_ONCE: &str = "it needs another program to run at the same time, which takes an engine that can suspend \
    WebAssembly (JSPI): Node 24.20, Deno 2.4 or a current browser";

/// Where guests run to completion: a guest waits for another one that waits below it on the stack. It is to leave.
#[wasm_bindgen(js_name = cannotWait)]
pub fn cannot_wait(pid: u32) {
    say(pid, |name, _| format!("{name}: cannot wait: {AT_ONCE}\n"));
    guest(pid, |guest| guest.leaving = Some(Status::Exited(126)));
}

pub(crate) fn out_of_memory(pid: u32) {
    say(pid, |name, kernel| {
        let limits = kernel.limits();
        let (process, sandbox) = (limits.process_memory_bytes >> 10, limits.sandbox_memory_bytes >> 10);
        let limits = format!("the limits are {process} KiB for a process and {sandbox} KiB for all of a sandbox");
        format!("{name}: out of memory ({limits})\n")
    });
    if let Some(kernel) = kernel(pid) {
        lock(&kernel).out_of_memory(Pid(pid));
    }
    ended(pid, Status::Killed(Signal::Kill));
}

fn kernel(pid: u32) -> Option<SharedKernel> {
    guest(pid, |guest| Arc::clone(&guest.kernel))
}

fn say(pid: u32, line: impl FnOnce(&str, &tidebox_kernel::Kernel) -> String) {
    let Some(kernel) = kernel(pid) else { return };
    let mut kernel = lock(&kernel);
    let name = kernel.program_name(Pid(pid));
    let line = line(&name, &kernel);
    kernel.message(Pid(pid), &line);
}

fn ended(pid: u32, status: Status) {
    let Some(guest) = guests(|guests| guests.remove(&pid)) else { return };
    lock(&guest.kernel).exited(Pid(pid), status);
    wake_session(guest.session);
}

/// What V8 and its relatives say of a trap, in the words of the native engine, and the signal.
fn trap(error: &str) -> (String, Signal) {
    let has = |words: &[&str]| words.iter().any(|word| error.contains(word));
    if has(&["exception that nobody caught"]) {
        return (error.to_owned(), Signal::Abrt);
    }
    if has(&["unreachable"]) {
        return ("aborted".to_owned(), Signal::Abrt);
    }
    if has(&["call stack", "too much recursion"]) {
        return ("stack overflow".to_owned(), Signal::Segv);
    }
    if has(&["divide", "division", "remainder by zero", "unrepresentable", "integer overflow", "out of range"]) {
        return ("arithmetic fault".to_owned(), Signal::Fpe);
    }
    let what = if has(&["memory access", "memory"]) {
        "wasm trap: out of bounds memory access"
    } else if has(&["signature"]) {
        "wasm trap: indirect call type mismatch"
    } else if has(&["null function"]) {
        "wasm trap: uninitialized element"
    } else if has(&["table"]) {
        "wasm trap: undefined element: out of bounds table access"
    } else {
        error
    };
    (what.to_owned(), Signal::Segv)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traps_are_told_in_the_words_of_the_native_engine() {
        for (engine, what, signal) in [
            ("unreachable", "aborted", Signal::Abrt),
            ("Maximum call stack size exceeded", "stack overflow", Signal::Segv),
            ("divide by zero", "arithmetic fault", Signal::Fpe),
            ("float unrepresentable in integer range", "arithmetic fault", Signal::Fpe),
            ("memory access out of bounds", "wasm trap: out of bounds memory access", Signal::Segv),
            ("table index is out of bounds", "wasm trap: undefined element: out of bounds table access", Signal::Segv),
        ] {
            assert_eq!(trap(engine), (what.to_owned(), signal), "{engine}");
        }
    }
}
