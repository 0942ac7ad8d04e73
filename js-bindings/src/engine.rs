//! The engine port: guests are instances that JavaScript creates and runs one at a time from its run queue. This module starts
//! them, handles their exit and enforces the timeout.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, Stream as _};
use tidebox_kernel::engine::{Engine, EngineError};

use tidebox_kernel::{
    Errno, ExecutionId, HostProcess, OutputChunk, OutputStream, PendingProcess, Pid, ProcessFlags, SharedKernel,
    StopReason, Wait,
};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::call_context::CallContext;
use crate::guest::{Guest, guest, guests};
use crate::pack::Interrupts;
use crate::program::{ModuleSource, Programs};
use crate::{exit, js_imports};

/// Runs guests with the WebAssembly engine that runs this module.
#[derive(Debug)]
pub(crate) struct JsEngine {
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
            let mut drive = DriveFuture::new(self, kernel, session, wall_time, on_output);
            poll_fn(|cx| drive.poll(cx)).await;
            Ok(())
        })
    }
}

/// State of an execution that is accessed outside its future.
#[derive(Debug)]
pub(crate) struct ActiveExecution {
    pub(crate) kernel: SharedKernel,
    programs: Arc<Programs>,
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
    static ACTIVE: RefCell<BTreeMap<u32, ActiveExecution>> = const { RefCell::new(BTreeMap::new()) };
    /// True if JavaScript can suspend guests. Without JSPI they run to completion one after the other.
    static SUSPENDS: Cell<bool> = const { Cell::new(true) };
    /// True while output that was delivered before is passed on.
    static DELIVERED: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether the chunk being passed on was already delivered to the caller.
pub(crate) fn is_delivered() -> bool {
    DELIVERED.get()
}

pub(crate) fn with_execution<T>(session: u32, work: impl FnOnce(&mut ActiveExecution) -> T) -> Option<T> {
    ACTIVE.with(|all| all.borrow_mut().get_mut(&session).map(work))
}

pub(crate) fn suspends() -> bool {
    SUSPENDS.get()
}

pub(crate) fn set_suspends(suspends: bool) {
    SUSPENDS.set(suspends);
}

/// Executions are counted from 1. Numbers wrap around after 2^32.
pub(crate) fn number(session: ExecutionId) -> u32 {
    (session.0 & u64::from(u32::MAX)) as u32
}

struct DriveFuture<'a> {
    programs: &'a Programs,
    kernel: &'a SharedKernel,
    session: ExecutionId,
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
    ) -> Self {
        let milliseconds = wall_time.as_secs_f64() * 1e3;
        let deadline = js_imports::monotonic() + milliseconds;
        let (kernel_too, programs) = (Arc::clone(kernel), Arc::clone(&engine.programs));
        let entry = ActiveExecution {
            kernel: kernel_too,
            programs,
            session,
            context: CallContext::current(),
            deadline,
            waker: None,
            hosts: FuturesUnordered::new(),
            delivered: Vec::new(),
        };
        ACTIVE.with(|all| all.borrow_mut().insert(number(session), entry));
        js_imports::alarm(number(session), milliseconds);
        Self { programs: &engine.programs, kernel, session, deadline, on_output }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.update_caller(cx);
        loop {
            self.accept_guests();
            let host_finished = poll_hosts(number(self.session), cx);
            self.deliver_output();
            let mut kernel = self.kernel.lock();
            if kernel.has_finished(self.session) {
                return Poll::Ready(());
            }
            if js_imports::monotonic() >= self.deadline {
                kernel.stop_execution(self.session, StopReason::Timeout);
                return Poll::Ready(());
            }
            if kernel.remaining_cpu_time(self.session).is_some_and(|time| time.is_zero()) {
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
            js_imports::alarm(number(self.session), milliseconds);
        }
        let deadline = self.deadline;
        with_execution(number(self.session), |entry| {
            entry.waker = Some(cx.waker().clone());
            (entry.context, entry.deadline) = (CallContext::current(), deadline);
        });
    }

    /// Starts the processes that were spawned since the last call. Forked ones are already registered.
    fn accept_guests(&mut self) {
        let starts = self.kernel.lock().take_pending(self.session);
        for start in starts {
            match HostProcess::new(self.kernel, &start) {
                Some(process) => add_host_process(number(self.session), process),
                None => start_guest(self.kernel, self.programs, self.session, &start),
            }
        }
    }

    fn deliver_output(&mut self) {
        let Some(on_output) = &mut self.on_output else { return };
        let delivered =
            with_execution(number(self.session), |entry| std::mem::take(&mut entry.delivered)).unwrap_or_default();
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
        let session = number(self.session);
        // Dropped after the borrow has ended: dropping a host tool may wake a task that accesses the table.
        let removed = ACTIVE.with(|all| all.borrow_mut().remove(&session));
        drop(removed);
        guests(|guests| guests.retain(|_, guest| guest.session != session));
        js_imports::drop_guests(session);
    }
}

fn add_host_process(session: u32, process: HostProcess) {
    with_execution(session, |entry| entry.hosts.push(process));
}

/// Polls the host tools of an execution. Returns whether one has ended. They are removed from the table during the poll.
fn poll_hosts(session: u32, cx: &mut Context<'_>) -> bool {
    let mut hosts = with_execution(session, |entry| std::mem::take(&mut entry.hosts));
    let finished = hosts.as_mut().is_some_and(|hosts| matches!(Pin::new(hosts).poll_next(cx), Poll::Ready(Some(()))));
    with_execution(session, |entry| entry.hosts = hosts.take().unwrap_or_default());
    finished
}

/// Without JSPI: polls the host tools while a blocked guest is on the stack. Returns whether there are any.
#[wasm_bindgen(js_name = pollHostProcesses)]
pub fn poll_host_processes(session: u32) -> bool {
    // No waker is needed: this is called repeatedly while a guest is blocked.
    while poll_hosts(session, &mut Context::from_waker(Waker::noop())) {}
    with_execution(session, |entry| !entry.hosts.is_empty()).unwrap_or(false)
}

/// Without JSPI: returns whether a guest that has not started would block on one that may be below it on the stack. Until it
/// starts it is parked; otherwise a deterministic execution would wait for it.
#[wasm_bindgen(js_name = wouldBlock)]
pub fn would_block(pid: u32) -> bool {
    let Some(kernel) = guest(pid, |guest| Arc::clone(&guest.kernel)) else { return false };
    let mut kernel = kernel.lock();
    let waits = kernel.would_block(Pid(pid));
    if waits {
        kernel.park(Pid(pid), Wait::default(), Waker::noop());
    }
    waits
}

/// Without JSPI: delivers pending output to a caller that streams it.
pub(crate) fn flush_output(session: u32) {
    let found = with_execution(session, |entry| {
        entry.context.streams_output.then(|| (Arc::clone(&entry.kernel), entry.session, entry.context.call))
    });
    let Some(Some((kernel, id, call))) = found else { return };
    let chunks = kernel.lock().take_output(id);
    for chunk in &chunks {
        js_imports::deliver(call, chunk.stream == OutputStream::Stderr, &chunk.bytes);
    }
    with_execution(session, |entry| entry.delivered.extend(chunks));
}

/// Starts a guest in JavaScript, or reports why it cannot be started.
fn start_guest(kernel: &SharedKernel, programs: &Programs, session: ExecutionId, start: &PendingProcess) {
    let pid = start.pid.0;
    register_guest(kernel, session, pid, &start.flags, programs.interrupts(&start.image));
    let limits = kernel.lock().limits().clone();
    match programs.find(&start.image, &limits) {
        Ok(ModuleSource::Loaded(name)) => js_imports::guest_start(number(session), pid, &name),
        Ok(ModuleSource::New(name, wasm)) => {
            js_imports::add_program(&name, &wasm);
            js_imports::guest_start(number(session), pid, &name);
        }
        Err(error) => exit::cannot_execute(pid, &error.to_string()),
    }
}

fn register_guest(
    kernel: &SharedKernel,
    session: ExecutionId,
    pid: u32,
    flags: &Arc<ProcessFlags>,
    interrupts: Option<Arc<Interrupts>>,
) {
    let guest = Guest {
        kernel: Arc::clone(kernel),
        session: number(session),
        flags: Arc::clone(flags),
        exit_status: None,
        memory_denied: false,
        deadline: None,
        response: Vec::new(),
        interrupts,
    };
    guests(|guests| guests.insert(pid, guest));
}

/// Forks a guest. The kernel has already approved it.
pub(crate) fn fork(parent: u32, start: &PendingProcess, arg: i32) -> Result<(), Errno> {
    let found = guest(parent, |guest| (Arc::clone(&guest.kernel), guest.session));
    let Some((kernel, session)) = found else { return Err(Errno::Srch) };
    let child = start.pid.0;
    register_guest(&kernel, ExecutionId(u64::from(session)), child, &start.flags, None);
    if js_imports::guest_fork(session, parent, child, arg) {
        return Ok(());
    }
    guests(|guests| guests.remove(&child));
    kernel.lock().cancel_spawn(Pid(child));
    Err(Errno::Again)
}

/// Called when a time slice has ended or the alarm of an execution has fired: there may be processes to start, output to deliver,
/// or a timeout.
#[wasm_bindgen(js_name = wakeExecution)]
pub fn wake_execution(session: u32) {
    let waker = with_execution(session, |entry| entry.waker.take());
    if let Some(Some(waker)) = waker {
        waker.wake();
    }
}

/// Returns the remaining wait of a blocked guest in milliseconds, or a negative number if only a wake-up ends it.
#[wasm_bindgen(js_name = waitTimeoutMs)]
pub fn wait_timeout_ms(pid: u32) -> f64 {
    let left = guest(pid, |guest| {
        let deadline = guest.deadline?;
        Some(deadline.saturating_sub(guest.kernel.lock().monotonic()) as f64 / 1e6)
    });
    left.flatten().unwrap_or(-1.0)
}

/// Returns whether a signal has stopped the guest. It is woken when it may continue.
#[wasm_bindgen(js_name = parkIfStopped)]
pub fn park_if_stopped(pid: u32) -> bool {
    let Some(kernel) = guest(pid, |guest| Arc::clone(&guest.kernel)) else { return false };
    kernel.lock().park_if_stopped(Pid(pid), &crate::syscalls::waker(pid))
}

/// Returns whether the processes of this sandbox are scheduled in a deterministic order.
#[wasm_bindgen(js_name = isDeterministic)]
pub fn is_deterministic(pid: u32) -> bool {
    guest(pid, |guest| guest.kernel.lock().is_deterministic()).unwrap_or(false)
}

/// Stops an execution that timed out or was cancelled. Called if the event loop cannot run.
pub(crate) fn stop_if_cancelled(session: u32) {
    let found = with_execution(session, |entry| {
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
pub(crate) fn stop_call(call: u32) {
    let found = ACTIVE.with(|all| {
        let all = all.borrow();
        let (number, entry) = all.iter().find(|(_, entry)| entry.context.call == call)?;
        Some((*number, Arc::clone(&entry.kernel), entry.session))
    });
    if let Some((number, kernel, session)) = found {
        kernel.lock().stop_execution(session, StopReason::Cancelled);
        wake_execution(number);
    }
}

/// Without JSPI: starts spawned processes while the blocked guest is on the stack. Host tools can start only if JavaScript
/// `listens` for their messages.
#[wasm_bindgen(js_name = acceptNewGuests)]
pub fn accept_new_guests(session: u32, listens: bool) {
    let found =
        with_execution(session, |entry| (Arc::clone(&entry.kernel), Arc::clone(&entry.programs), entry.session));
    let Some((kernel, programs, session)) = found else { return };
    let starts = kernel.lock().take_pending(session);
    for start in starts {
        match HostProcess::new(&kernel, &start) {
            Some(process) if listens => add_host_process(number(session), process),
            Some(_) => {
                register_guest(&kernel, session, start.pid.0, &start.flags, None);
                exit::cannot_execute(start.pid.0, exit::NEEDS_SUSPENSION);
            }
            None => start_guest(&kernel, &programs, session, &start),
        }
    }
}

/// Advances the clock of a deterministic execution if all of its guests wait.
#[wasm_bindgen(js_name = advanceClock)]
pub fn advance_clock(session: u32) -> bool {
    let found = with_execution(session, |entry| (Arc::clone(&entry.kernel), entry.session));
    found.is_some_and(|(kernel, session)| kernel.lock().advance_clock(session))
}

/// Registers a guest before it runs: its ABI and its initial memory. Returns `false` if the memory limit is exceeded; the guest
/// has exited then.
#[wasm_bindgen(js_name = registerInstance)]
pub fn register_instance(pid: u32, aware: bool, pages: u32, fork: bool) -> bool {
    let Some(kernel) = guest(pid, |guest| Arc::clone(&guest.kernel)) else { return false };
    if !fork {
        kernel.lock().set_tidebox_guest(Pid(pid), aware);
    }
    if crate::syscalls::grow(pid, 0, pages) == 1 {
        return true;
    }
    if !fork {
        exit::out_of_memory(pid);
    }
    false
}

/// Returns whether the guest has not been killed.
#[wasm_bindgen(js_name = isGuestAlive)]
pub fn is_guest_alive(pid: u32) -> bool {
    guest(pid, |guest| guest.flags.fatal_signal().is_none()).unwrap_or(false)
}
