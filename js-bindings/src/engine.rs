//! The engine port: guests are instances that JavaScript creates and runs one at a time from its run queue. This module starts
//! them, handles their exit and enforces the timeout.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, Stream as _};
use tidebox_kernel::engine::{Engine, EngineError};

use tidebox_kernel::{
    Errno, ExecutionId, HostProcess, OutputChunk, OutputStream, PendingProcess, SharedKernel, StopReason, Wait,
};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::call_context::CallContext;
use crate::guest::{Guest, guest, guests, process};
use crate::pack::Interrupts;
use crate::program::{ModuleSource, Programs};
use crate::slots::Slots;
use crate::{exit, js_imports};

/// Runs guests with the WebAssembly engine that runs this module.
#[derive(Debug)]
pub(crate) struct JsEngine {
    /// Number of the sandbox in JavaScript.
    pub(crate) sandbox: u32,
    pub(crate) programs: Arc<Programs>,
}

type OnOutput<'a> = Option<&'a mut (dyn FnMut(OutputChunk) + Send)>;

impl Engine for JsEngine {
    fn drive<'a>(
        &'a self,
        kernel: &'a SharedKernel,
        session: ExecutionId,
        wall_time: Duration,
        on_output: OnOutput<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<(), EngineError>> + Send + 'a>> {
        Box::pin(async move {
            let mut drive = DriveFuture::new(self, kernel, session, wall_time, on_output)?;
            poll_fn(|cx| drive.poll(cx)).await;
            Ok(())
        })
    }
}

/// State of an execution that is accessed outside its future.
#[derive(Debug)]
pub(crate) struct ActiveExecution {
    sandbox: u32,
    pub(crate) kernel: SharedKernel,
    programs: Arc<Programs>,
    /// Its number in its kernel.
    pub(crate) session: ExecutionId,
    context: CallContext,
    /// In milliseconds of [`js_imports::monotonic`].
    deadline: f64,
    /// Waker of the future.
    waker: Option<Waker>,
    /// Processes that are host tools.
    hosts: FuturesUnordered<HostProcess>,
    /// Output that was already delivered to the caller; used without JSPI.
    delivered: Vec<OutputChunk>,
}

thread_local! {
    static ACTIVE: RefCell<Slots<ActiveExecution>> = const { RefCell::new(Slots::new()) };
    /// True if JavaScript can suspend guests. Without JSPI they run to completion one after the other.
    static SUSPENDS: Cell<bool> = const { Cell::new(true) };
    /// True while output that was delivered before is passed on.
    static DELIVERED: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether the chunk being passed on was already delivered to the caller.
pub(crate) fn is_delivered() -> bool {
    DELIVERED.get()
}

pub(crate) fn with_execution<T>(execution: u32, work: impl FnOnce(&mut ActiveExecution) -> T) -> Option<T> {
    ACTIVE.with(|all| all.borrow_mut().get_mut(execution).map(work))
}

/// Returns the slot of an execution of a sandbox.
pub(crate) fn slot(sandbox: u32, session: ExecutionId) -> Option<u32> {
    ACTIVE.with(|all| {
        let all = all.borrow();
        all.iter().find(|(_, entry)| entry.sandbox == sandbox && entry.session == session).map(|(slot, _)| slot)
    })
}

pub(crate) fn suspends() -> bool {
    SUSPENDS.get()
}

pub(crate) fn set_suspends(suspends: bool) {
    SUSPENDS.set(suspends);
}

struct DriveFuture<'a> {
    kernel: &'a SharedKernel,
    session: ExecutionId,
    /// Slot of the execution.
    execution: u32,
    deadline: f64,
    on_output: OnOutput<'a>,
}

impl<'a> DriveFuture<'a> {
    fn new(
        engine: &'a JsEngine,
        kernel: &'a SharedKernel,
        session: ExecutionId,
        wall_time: Duration,
        on_output: OnOutput<'a>,
    ) -> Result<Self, EngineError> {
        let milliseconds = wall_time.as_secs_f64() * 1e3;
        let deadline = js_imports::monotonic() + milliseconds;
        let entry = ActiveExecution {
            sandbox: engine.sandbox,
            kernel: Arc::clone(kernel),
            programs: Arc::clone(&engine.programs),
            session,
            context: CallContext::current(),
            deadline,
            waker: None,
            hosts: FuturesUnordered::new(),
            delivered: Vec::new(),
        };
        let execution = ACTIVE
            .with(|all| all.borrow_mut().insert(entry))
            .ok_or_else(|| EngineError::new("cannot start the command: too many commands run at once"))?;
        js_imports::alarm(execution, milliseconds);
        let share = {
            let kernel = kernel.lock();
            kernel.is_background(session).then(|| kernel.limits().background_cpu_percent.max(1))
        };
        if let Some(percent) = share {
            js_imports::limit_cpu(execution, percent);
        }
        Ok(Self { kernel, session, execution, deadline, on_output })
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.update_caller(cx);
        loop {
            self.accept_guests();
            let host_finished = poll_hosts(self.execution, cx);
            self.deliver_output();
            let mut kernel = self.kernel.lock();
            if kernel.has_finished(self.session) {
                return Poll::Ready(());
            }
            if js_imports::monotonic() >= self.deadline {
                kernel.stop_execution(self.session, StopReason::Timeout);
                return Poll::Ready(());
            }
            // The processor time of a command does not limit the processes that outlive it.
            let is_root_alive = kernel.root_status(self.session).is_none();
            if is_root_alive && kernel.remaining_cpu_time(self.session).is_some_and(|time| time.is_zero()) {
                kernel.stop_execution(self.session, StopReason::CpuTime);
                return Poll::Ready(());
            }
            let more = host_finished || kernel.has_pending(self.session) || kernel.advance_clock(self.session);
            if !more {
                return Poll::Pending;
            }
        }
    }

    /// Records the waker, the calling context and a new deadline: each request to an interactive process has its own caller and
    /// timeout.
    fn update_caller(&mut self, cx: &Context<'_>) {
        let time = self.kernel.lock().take_new_deadline(self.session).map(|time| time.as_secs_f64() * 1e3);
        if let Some(milliseconds) = time {
            self.deadline = js_imports::monotonic() + milliseconds;
            js_imports::alarm(self.execution, milliseconds);
        }
        let deadline = self.deadline;
        with_execution(self.execution, |entry| {
            entry.waker = Some(cx.waker().clone());
            (entry.context, entry.deadline) = (CallContext::current(), deadline);
        });
    }

    /// Starts the processes that were spawned since the last call. Forked ones are already registered.
    fn accept_guests(&mut self) {
        let starts = self.kernel.lock().take_pending(self.session);
        for start in starts {
            match HostProcess::new(self.kernel, &start) {
                Some(process) => add_host_process(self.execution, process),
                None => start_guest(self.execution, &start),
            }
        }
    }

    fn deliver_output(&mut self) {
        let Some(on_output) = &mut self.on_output else { return };
        let delivered =
            with_execution(self.execution, |entry| std::mem::take(&mut entry.delivered)).unwrap_or_default();
        DELIVERED.set(true);
        for chunk in delivered {
            on_output(chunk);
        }
        DELIVERED.set(false);
        // Take the chunks first: the caller's callback must not run under the kernel's lock.
        let chunks = self.kernel.lock().take_output(self.session);
        for chunk in chunks {
            on_output(chunk);
        }
    }
}

impl Drop for DriveFuture<'_> {
    fn drop(&mut self) {
        // Dropped after the borrow has ended: dropping a host tool may wake a task that accesses the table.
        let removed = ACTIVE.with(|all| all.borrow_mut().remove(self.execution));
        drop(removed);
        let guests = guests(|guests| guests.extract(|guest| guest.execution == self.execution));
        drop(guests);
        js_imports::drop_guests(self.execution);
    }
}

fn add_host_process(execution: u32, process: HostProcess) {
    with_execution(execution, |entry| entry.hosts.push(process));
}

/// Polls the host tools of an execution. Returns whether one has ended. They are removed from the table during the poll.
fn poll_hosts(execution: u32, cx: &mut Context<'_>) -> bool {
    let mut hosts = with_execution(execution, |entry| std::mem::take(&mut entry.hosts));
    let finished = hosts.as_mut().is_some_and(|hosts| matches!(Pin::new(hosts).poll_next(cx), Poll::Ready(Some(()))));
    with_execution(execution, |entry| entry.hosts = hosts.take().unwrap_or_default());
    finished
}

/// Without JSPI: polls the host tools while a blocked guest is on the stack. Returns whether there are any.
#[wasm_bindgen(js_name = pollHostProcesses)]
pub fn poll_host_processes(execution: u32) -> bool {
    // No waker is needed: this is called repeatedly while a guest is blocked.
    while poll_hosts(execution, &mut Context::from_waker(Waker::noop())) {}
    with_execution(execution, |entry| !entry.hosts.is_empty()).unwrap_or(false)
}

/// Without JSPI: returns whether a guest that has not started would block on one that may be below it on the stack. Until it
/// starts it is parked; otherwise a deterministic execution would wait for it.
#[wasm_bindgen(js_name = wouldBlock)]
pub fn would_block(slot: u32) -> bool {
    let Some((kernel, pid)) = process(slot) else { return false };
    let mut kernel = kernel.lock();
    let waits = kernel.would_block(pid);
    if waits {
        kernel.park(pid, Wait::default(), Waker::noop());
    }
    waits
}

/// Without JSPI: delivers pending output to a caller that streams it.
pub(crate) fn flush_output(execution: u32) {
    let found = with_execution(execution, |entry| {
        entry
            .context
            .streams_output
            .then(|| (entry.sandbox, Arc::clone(&entry.kernel), entry.session, entry.context.call))
    });
    let Some(Some((sandbox, kernel, id, call))) = found else { return };
    let chunks = kernel.lock().take_output(id);
    for chunk in &chunks {
        js_imports::deliver(sandbox, call, chunk.stream == OutputStream::Stderr, &chunk.bytes);
    }
    with_execution(execution, |entry| entry.delivered.extend(chunks));
}

/// Starts a guest in JavaScript, or reports why it cannot be started.
fn start_guest(execution: u32, start: &PendingProcess) {
    let found = with_execution(execution, |entry| {
        (entry.sandbox, Arc::clone(&entry.kernel), Arc::clone(&entry.programs), entry.session)
    });
    let Some((sandbox, kernel, programs, session)) = found else { return };
    let Some(slot) = register_guest(&kernel, execution, start, programs.interrupts(&start.image)) else {
        kernel.lock().stop_execution(session, StopReason::Cancelled);
        return;
    };
    let limits = kernel.lock().limits().clone();
    match programs.find(sandbox, &start.image, &limits) {
        Ok(ModuleSource::Loaded(name)) => js_imports::guest_start(sandbox, execution, slot, &name),
        Ok(ModuleSource::New(name, wasm)) => {
            js_imports::add_program(sandbox, &name, &wasm);
            js_imports::guest_start(sandbox, execution, slot, &name);
        }
        Err(error) => exit::cannot_execute(slot, &error.to_string()),
    }
}

/// Returns the slot of the new guest, or `None` if there are too many guests.
fn register_guest(
    kernel: &SharedKernel,
    execution: u32,
    start: &PendingProcess,
    interrupts: Option<Arc<Interrupts>>,
) -> Option<u32> {
    let guest = Guest {
        kernel: Arc::clone(kernel),
        pid: start.pid,
        execution,
        flags: Arc::clone(&start.flags),
        exit_status: None,
        memory_denied: false,
        deadline: None,
        response: Vec::new(),
        interrupts,
    };
    guests(|guests| guests.insert(guest))
}

/// Forks a guest. The kernel has already approved it.
pub(crate) fn fork(parent: u32, start: &PendingProcess, arg: i32) -> Result<(), Errno> {
    let found = guest(parent, |guest| (Arc::clone(&guest.kernel), guest.execution));
    let Some((kernel, execution)) = found else { return Err(Errno::Srch) };
    let child = register_guest(&kernel, execution, start, None);
    if child.is_some_and(|child| js_imports::guest_fork(parent, child, arg)) {
        return Ok(());
    }
    guests(|guests| child.map(|child| guests.remove(child)));
    kernel.lock().cancel_spawn(start.pid);
    Err(Errno::Again)
}

/// Called when a time slice has ended or the alarm of an execution has fired: there may be processes to start, output to deliver,
/// or a timeout.
#[wasm_bindgen(js_name = wakeExecution)]
pub fn wake_execution(execution: u32) {
    let waker = with_execution(execution, |entry| entry.waker.take());
    if let Some(Some(waker)) = waker {
        waker.wake();
    }
}

/// Returns the remaining wait of a blocked guest in milliseconds, or a negative number if only a wake-up ends it.
#[wasm_bindgen(js_name = waitTimeoutMs)]
pub fn wait_timeout_ms(slot: u32) -> f64 {
    let left = guest(slot, |guest| {
        let deadline = guest.deadline?;
        Some(deadline.saturating_sub(guest.kernel.lock().monotonic()) as f64 / 1e6)
    });
    left.flatten().unwrap_or(-1.0)
}

/// Returns whether a signal has stopped the guest. It is woken when it may continue.
#[wasm_bindgen(js_name = parkIfStopped)]
pub fn park_if_stopped(slot: u32) -> bool {
    let Some((kernel, pid)) = process(slot) else { return false };
    kernel.lock().park_if_stopped(pid, &crate::syscalls::waker(slot))
}

/// Returns whether the processes of this sandbox are scheduled in a deterministic order.
#[wasm_bindgen(js_name = isDeterministic)]
pub fn is_deterministic(slot: u32) -> bool {
    guest(slot, |guest| guest.kernel.lock().is_deterministic()).unwrap_or(false)
}

/// Stops an execution that timed out or was cancelled. Called if the event loop cannot run.
pub(crate) fn stop_if_cancelled(execution: u32) {
    let found = with_execution(execution, |entry| {
        let reason = if entry.context.call != 0 && js_imports::cancelled(entry.context.call) {
            StopReason::Cancelled
        } else if js_imports::monotonic() >= entry.deadline {
            StopReason::Timeout
        } else {
            return None;
        };
        Some((Arc::clone(&entry.kernel), entry.session, reason))
    });
    if let Some(Some((kernel, session, reason))) = found {
        kernel.lock().stop_execution(session, reason);
    }
}

/// Stops the command of a call if it is still running.
pub(crate) fn stop_call(sandbox: u32, call: u32) {
    let found = ACTIVE.with(|all| {
        let all = all.borrow();
        let (slot, entry) = all.iter().find(|(_, entry)| entry.sandbox == sandbox && entry.context.call == call)?;
        Some((slot, Arc::clone(&entry.kernel), entry.session))
    });
    if let Some((slot, kernel, session)) = found {
        kernel.lock().stop_execution(session, StopReason::Cancelled);
        wake_execution(slot);
    }
}

/// Without JSPI: starts spawned processes while the blocked guest is on the stack. Host tools can start only if JavaScript
/// `listens` for their messages.
#[wasm_bindgen(js_name = acceptNewGuests)]
pub fn accept_new_guests(execution: u32, listens: bool) {
    let found = with_execution(execution, |entry| (Arc::clone(&entry.kernel), entry.session));
    let Some((kernel, session)) = found else { return };
    let starts = kernel.lock().take_pending(session);
    for start in starts {
        match HostProcess::new(&kernel, &start) {
            Some(process) if listens => add_host_process(execution, process),
            Some(_) => {
                if let Some(slot) = register_guest(&kernel, execution, &start, None) {
                    exit::cannot_execute(slot, exit::NEEDS_SUSPENSION);
                }
            }
            None => start_guest(execution, &start),
        }
    }
}

/// Advances the clock of a deterministic execution if all of its guests wait.
#[wasm_bindgen(js_name = advanceClock)]
pub fn advance_clock(execution: u32) -> bool {
    let found = with_execution(execution, |entry| (Arc::clone(&entry.kernel), entry.session));
    found.is_some_and(|(kernel, session)| kernel.lock().advance_clock(session))
}

/// Registers a guest before it runs: its ABI and its initial memory. Returns `false` if the memory limit is exceeded; the guest
/// has exited then.
#[wasm_bindgen(js_name = registerInstance)]
pub fn register_instance(slot: u32, aware: bool, pages: u32, fork: bool) -> bool {
    let Some((kernel, pid)) = process(slot) else { return false };
    if !fork {
        kernel.lock().set_tidebox_guest(pid, aware);
    }
    if crate::syscalls::grow(slot, 0, pages) == 1 {
        return true;
    }
    if !fork {
        exit::out_of_memory(slot);
    }
    false
}

/// Returns whether the guest has not been killed.
#[wasm_bindgen(js_name = isGuestAlive)]
pub fn is_guest_alive(slot: u32) -> bool {
    guest(slot, |guest| guest.flags.fatal_signal().is_none()).unwrap_or(false)
}
