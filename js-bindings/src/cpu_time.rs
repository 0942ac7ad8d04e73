//! Processor time of guests: the time from when JavaScript resumes a guest until it continues with something else.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use tidebox_kernel::{Pid, StopReason};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::engine::with_execution;
use crate::guest::guest;
use crate::js_imports;

/// The guest whose code is running.
#[derive(Clone, Copy, Debug)]
struct RunningGuest {
    slot: u32,
    pid: Pid,
    /// Slot of its execution.
    execution: u32,
    /// Start of the time that was not charged yet, in milliseconds of [`js_imports::monotonic`].
    since: f64,
}

thread_local! {
    static RUNNING: Cell<Option<RunningGuest>> = const { Cell::new(None) };
}

/// Called when a guest starts to run, or with 0 when no guest runs. Charges the previous one. Returns its slot, or 0.
#[wasm_bindgen(js_name = switchGuest)]
pub fn switch_guest(slot: u32) -> u32 {
    charge();
    let found = guest(slot, |guest| (guest.pid, guest.execution));
    let next = found.map(|(pid, execution)| RunningGuest { slot, pid, execution, since: js_imports::monotonic() });
    RUNNING.replace(next).map_or(0, |previous| previous.slot)
}

/// Charges the running guest for the time until now.
fn charge() {
    let Some(running) = RUNNING.get() else { return };
    let now = js_imports::monotonic();
    RUNNING.set(Some(RunningGuest { since: now, ..running }));
    let time = Duration::try_from_secs_f64((now - running.since).max(0.0) / 1e3).unwrap_or_default();
    let execution = with_execution(running.execution, |entry| (Arc::clone(&entry.kernel), entry.session));
    if let Some((kernel, session)) = execution {
        kernel.lock().charge_cpu_time(session, running.pid, time);
    }
}

/// Stops an execution that has used up its processor time. Charges the running guest first, because without JSPI it may never
/// return to JavaScript.
pub(crate) fn stop_if_used_up(execution: u32) {
    charge();
    let found = with_execution(execution, |entry| (Arc::clone(&entry.kernel), entry.session));
    let Some((kernel, session)) = found else { return };
    let mut kernel = kernel.lock();
    if kernel.remaining_cpu_time(session).is_some_and(|time| time.is_zero()) {
        kernel.stop_execution(session, StopReason::CpuTime);
    }
}
