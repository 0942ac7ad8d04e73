//! Converts the end of a guest to the exit status of its process.

use tidebox_kernel::{ExitStatus, Signal};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::engine::wake_execution;
use crate::guest::{guest, guests, process};

/// Called when a guest's function has returned or has thrown an error with this message.
#[wasm_bindgen(js_name = guestEnded)]
pub fn guest_ended(slot: u32, error: Option<String>) {
    let found = guest(slot, |guest| (guest.exit_status, guest.fatal(), guest.memory_denied));
    let Some((exit_status, fatal, memory_denied)) = found else { return };
    match (exit_status, fatal, error) {
        (Some(status), ..) => report_exit(slot, status),
        (None, Some(signal), _) => report_exit(slot, ExitStatus::Killed(signal)),
        (None, None, None) => report_exit(slot, ExitStatus::Exited(0)),
        (None, None, Some(_)) if memory_denied => out_of_memory(slot),
        (None, None, Some(error)) => {
            let (what, signal) = trap(&error);
            write_stderr(slot, |name, _| format!("{name}: {what}\n"));
            report_exit(slot, ExitStatus::Killed(signal));
        }
    }
}

/// Called when the entry of a pre-initialized program has returned its exit code.
#[wasm_bindgen(js_name = guestReturned)]
pub fn guest_returned(slot: u32, code: i32) {
    let found = guest(slot, |guest| (guest.exit_status, guest.fatal()));
    let Some((exit_status, fatal)) = found else { return };
    report_exit(slot, exit_status.or(fatal.map(ExitStatus::Killed)).unwrap_or(ExitStatus::from_exit(code)));
}

/// Called when a program could not be compiled or instantiated.
#[wasm_bindgen(js_name = guestCannotStart)]
pub fn cannot_execute(slot: u32, reason: &str) {
    write_stderr(slot, |name, _| format!("{name}: cannot execute: {reason}\n"));
    // Exit code 126, as in shells for a file that cannot be executed.
    report_exit(slot, ExitStatus::Exited(126));
}

/// Message for operations that are not supported if guests run to completion.
pub(crate) const NEEDS_SUSPENSION: &str = "another program must run at the same time, which requires an engine that can suspend \
    WebAssembly (JSPI): Node 24.20, Deno 2.4 or a current browser";

/// Without JSPI: called if a guest waits for another one that waits below it on the stack. The guest must exit.
#[wasm_bindgen(js_name = rejectWait)]
pub fn cannot_wait(slot: u32) {
    write_stderr(slot, |name, _| format!("{name}: cannot wait: {NEEDS_SUSPENSION}\n"));
    guest(slot, |guest| guest.exit_status = Some(ExitStatus::Exited(126)));
}

pub(crate) fn out_of_memory(slot: u32) {
    write_stderr(slot, |name, kernel| {
        let limits = kernel.limits();
        let (process, sandbox) = (limits.process_memory_bytes >> 10, limits.sandbox_memory_bytes >> 10);
        let limits = format!("the limits are {process} KiB for a process and {sandbox} KiB for all of a sandbox");
        format!("{name}: out of memory ({limits})\n")
    });
    if let Some((kernel, pid)) = process(slot) {
        kernel.lock().report_out_of_memory(pid);
    }
    report_exit(slot, ExitStatus::Killed(Signal::Kill));
}

fn write_stderr(slot: u32, line: impl FnOnce(&str, &tidebox_kernel::Kernel) -> String) {
    let Some((kernel, pid)) = process(slot) else { return };
    let mut kernel = kernel.lock();
    let name = kernel.program_name(pid);
    let line = line(&name, &kernel);
    kernel.write_stderr(pid, &line);
}

fn report_exit(slot: u32, status: ExitStatus) {
    let Some(guest) = guests(|guests| guests.remove(slot)) else { return };
    guest.kernel.lock().process_exited(guest.pid, status);
    wake_execution(guest.execution);
}

/// Maps the trap messages of JavaScript engines to those of the native engine, and to signals.
fn trap(error: &str) -> (String, Signal) {
    let has = |words: &[&str]| words.iter().any(|word| error.contains(word));
    if has(&["uncaught exception"]) {
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
    fn traps_have_the_messages_of_the_native_engine() {
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
