//! The engine port: guests are instances that JavaScript makes and runs, one after the other in the turns of its queue; this
//! side says what to start, notices ends, and watches the time.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, Stream as _};
use tidebox_kernel::engine::{Engine, EngineError};
use tidebox_kernel::wasi::Wait;
use tidebox_kernel::{Chunk, Errno, HostProcess, Pid, SessionId, SharedKernel, Start, Stop, Stream};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::cancel::Caller;
use crate::guest::{Guest, guest, guests, lock};
use crate::pack::Interrupts;
use crate::program::{Found, Programs};
use crate::{ending, host};

/// Runs guests with the WebAssembly of the JavaScript engine that this module itself runs in.
#[derive(Debug)]
pub(crate) struct JsEngine {
    pub(crate) programs: Arc<Programs>,
}

type OnOutput<'a> = Option<&'a mut (dyn FnMut(Chunk) + Send)>;

impl Engine for JsEngine {
    fn drive<'a>(
        &'a self,
        kernel: &'a SharedKernel,
        session: SessionId,
        wall_time: Duration,
        on_output: OnOutput<'a>,
    ) -> Pin<Box<dyn Future<Output = Result<(), EngineError>> + Send + 'a>> {
        Box::pin(async move {
            let mut driving = Driving::new(self, kernel, session, wall_time, on_output);
            poll_fn(|cx| driving.poll(cx)).await;
            Ok(())
        })
    }
}

/// What must be known of a session that is driven where its future cannot be asked.
#[derive(Debug)]
struct Driven {
    kernel: SharedKernel,
    programs: Arc<Programs>,
    session: SessionId,
    caller: Caller,
    /// In milliseconds of [`host::monotonic`].
    deadline: f64,
    /// Who waits for something to happen.
    waker: Option<Waker>,
    /// Processes of the application, which are futures.
    hosts: FuturesUnordered<HostProcess>,
    /// Output that the caller has been given already, where guests run to completion.
    delivered: Vec<Chunk>,
}

thread_local! {
    static DRIVEN: RefCell<BTreeMap<u32, Driven>> = const { RefCell::new(BTreeMap::new()) };
    /// Whether JavaScript can suspend guests. Where it cannot, they run to completion one after the other.
    static SUSPENDS: Cell<bool> = const { Cell::new(true) };
    /// Whether output that is handed out right now was delivered before.
    static DELIVERED: Cell<bool> = const { Cell::new(false) };
}

/// Whether the caller has been given the piece of output that is handed out right now.
pub(crate) fn is_delivered() -> bool {
    DELIVERED.get()
}

fn driven<T>(session: u32, work: impl FnOnce(&mut Driven) -> T) -> Option<T> {
    DRIVEN.with(|all| all.borrow_mut().get_mut(&session).map(work))
}

pub(crate) fn suspends() -> bool {
    SUSPENDS.get()
}

pub(crate) fn set_suspends(suspends: bool) {
    SUSPENDS.set(suspends);
}

/// Sessions are counted from 1; nobody runs four thousand million commands in one sandbox, and if so, numbers begin again.
pub(crate) fn number(session: SessionId) -> u32 {
    (session.0 & u64::from(u32::MAX)) as u32
}

struct Driving<'a> {
    programs: &'a Programs,
    kernel: &'a SharedKernel,
    session: SessionId,
    deadline: f64,
    on_output: OnOutput<'a>,
}

impl<'a> Driving<'a> {
    fn new(
        engine: &'a JsEngine,
        kernel: &'a SharedKernel,
        session: SessionId,
        wall_time: Duration,
        on_output: OnOutput<'a>,
    ) -> Self {
        let milliseconds = wall_time.as_secs_f64() * 1e3;
        let deadline = host::monotonic() + milliseconds;
        let (kernel_too, programs) = (Arc::clone(kernel), Arc::clone(&engine.programs));
        let entry = Driven {
            kernel: kernel_too,
            programs,
            session,
            caller: Caller::current(),
            deadline,
            waker: None,
            hosts: FuturesUnordered::new(),
            delivered: Vec::new(),
        };
        DRIVEN.with(|all| all.borrow_mut().insert(number(session), entry));
        host::alarm(number(session), milliseconds);
        Self { programs: &engine.programs, kernel, session, deadline, on_output }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.begin_turn(cx);
        loop {
            self.admit();
            let host_went = poll_hosts(number(self.session), cx);
            self.hand_out();
            let mut kernel = lock(self.kernel);
            if kernel.root_status(self.session).is_some() {
                return Poll::Ready(());
            }
            if host::monotonic() >= self.deadline {
                kernel.stop(self.session, Stop::Time);
                return Poll::Ready(());
            }
            let more = host_went || kernel.has_starts(self.session) || kernel.skip_waiting(self.session);
            if !more {
                return Poll::Pending;
            }
        }
    }

    /// Notes who waits, and for whom: each request of a conversation has a caller of its own, and as much time as that may take.
    fn begin_turn(&mut self, cx: &Context<'_>) {
        let time = lock(self.kernel).take_time(self.session).map(|time| time.as_secs_f64() * 1e3);
        if let Some(milliseconds) = time {
            self.deadline = host::monotonic() + milliseconds;
            host::alarm(number(self.session), milliseconds);
        }
        let deadline = self.deadline;
        driven(number(self.session), |entry| {
            entry.waker = Some(cx.waker().clone());
            (entry.caller, entry.deadline) = (Caller::current(), deadline);
        });
    }

    /// Takes in what was spawned since the last look. What was forked is there already.
    fn admit(&mut self) {
        let starts = lock(self.kernel).take_starts(self.session);
        for start in starts {
            match HostProcess::new(self.kernel, &start) {
                Some(process) => host_begins(number(self.session), process),
                None => begin(self.kernel, self.programs, self.session, &start),
            }
        }
    }

    fn hand_out(&mut self) {
        let Some(on_output) = &mut self.on_output else { return };
        let delivered = driven(number(self.session), |entry| std::mem::take(&mut entry.delivered)).unwrap_or_default();
        DELIVERED.set(true);
        for chunk in delivered {
            on_output(chunk);
        }
        DELIVERED.set(false);
        // The chunks are taken first: the caller's function must not run under the kernel's lock.
        let chunks = lock(self.kernel).take_output(self.session);
        for chunk in chunks {
            on_output(chunk);
        }
    }
}

impl Drop for Driving<'_> {
    fn drop(&mut self) {
        let session = number(self.session);
        // Dropped after the table was given back: what the application does may wake somebody when it goes.
        let gone = DRIVEN.with(|all| all.borrow_mut().remove(&session));
        drop(gone);
        guests(|guests| guests.retain(|_, guest| guest.session != session));
        host::guests_drop(session);
    }
}

fn host_begins(session: u32, process: HostProcess) {
    driven(session, |entry| entry.hosts.push(process));
}

/// Lets the application's processes of a session go on; whether one has ended. They are out of the table meanwhile.
fn poll_hosts(session: u32, cx: &mut Context<'_>) -> bool {
    let mut hosts = driven(session, |entry| std::mem::take(&mut entry.hosts));
    let went = hosts.as_mut().is_some_and(|hosts| matches!(Pin::new(hosts).poll_next(cx), Poll::Ready(Some(()))));
    driven(session, |entry| entry.hosts = hosts.take().unwrap_or_default());
    went
}

/// Where guests run to completion: lets the application's processes go on, while a guest that waits is on the stack. Whether
/// there are any, which the application may help on.
#[wasm_bindgen(js_name = hostsGoOn)]
pub fn hosts_go_on(session: u32) -> bool {
    // Nobody need be woken: this is asked again and again for as long as a guest waits.
    while poll_hosts(session, &mut Context::from_waker(Waker::noop())) {}
    driven(session, |entry| !entry.hosts.is_empty()).unwrap_or(false)
}

/// Where guests run to completion: whether a guest that has not begun would wait for one that may be below it on the stack.
/// Until it begins it counts as one that waits, or a deterministic session would wait for it.
#[wasm_bindgen(js_name = wouldWait)]
pub fn would_wait(pid: u32) -> bool {
    let Some(kernel) = guest(pid, |guest| Arc::clone(&guest.kernel)) else { return false };
    let mut kernel = lock(&kernel);
    let waits = kernel.would_wait(Pid(pid));
    if waits {
        kernel.park(Pid(pid), Wait::default(), Waker::noop());
    }
    waits
}

/// Where guests run to completion: gives a caller that watches what was written by now.
pub(crate) fn deliver_now(session: u32) {
    let found = driven(session, |entry| {
        entry.caller.watches.then(|| (Arc::clone(&entry.kernel), entry.session, entry.caller.call))
    });
    let Some(Some((kernel, id, call))) = found else { return };
    let chunks = lock(&kernel).take_output(id);
    for chunk in &chunks {
        host::deliver(call, chunk.stream == Stream::Stderr, &chunk.bytes);
    }
    driven(session, |entry| entry.delivered.extend(chunks));
}

/// Has JavaScript start a guest, or says why it cannot.
fn begin(kernel: &SharedKernel, programs: &Programs, session: SessionId, start: &Start) {
    let pid = start.pid.0;
    born(kernel, session, pid, &start.kill_flag, programs.interrupts(&start.image));
    let limits = lock(kernel).limits().clone();
    match programs.find(&start.image, &limits) {
        Ok(Found::Known(name)) => host::guest_start(number(session), pid, &name),
        Ok(Found::New(name, wasm)) => {
            host::program_add(&name, &wasm);
            host::guest_start(number(session), pid, &name);
        }
        Err(refusal) => ending::cannot_execute(pid, &refusal.to_string()),
    }
}

fn born(
    kernel: &SharedKernel,
    session: SessionId,
    pid: u32,
    kill_flag: &Arc<AtomicU32>,
    interrupts: Option<Arc<Interrupts>>,
) {
    let guest = Guest {
        kernel: Arc::clone(kernel),
        session: number(session),
        kill_flag: Arc::clone(kill_flag),
        leaving: None,
        refused: false,
        deadline: None,
        answer: Vec::new(),
        interrupts,
    };
    guests(|guests| guests.insert(pid, guest));
}

/// Makes the copy of a guest that the kernel has agreed to.
pub(crate) fn fork(parent: u32, start: &Start, arg: i32) -> Result<(), Errno> {
    let found = guest(parent, |guest| (Arc::clone(&guest.kernel), guest.session));
    let Some((kernel, session)) = found else { return Err(Errno::Srch) };
    let child = start.pid.0;
    born(&kernel, SessionId(u64::from(session)), child, &start.kill_flag, None);
    if host::guest_fork(session, parent, child, arg) {
        return Ok(());
    }
    guests(|guests| guests.remove(&child));
    lock(&kernel).abandon(Pid(child));
    Err(Errno::Again)
}

/// JavaScript says that a turn is over or that a session's alarm rang: there may be something to start, to hand out or to
/// end.
#[wasm_bindgen(js_name = wakeSession)]
pub fn wake_session(session: u32) {
    let waker = driven(session, |entry| entry.waker.take());
    if let Some(Some(waker)) = waker {
        waker.wake();
    }
}

/// How long a guest that waits may wait, in milliseconds; negative when only a wake-up ends it.
#[wasm_bindgen(js_name = waitsFor)]
pub fn waits_for(pid: u32) -> f64 {
    let left = guest(pid, |guest| {
        let deadline = guest.deadline?;
        Some(deadline.saturating_sub(lock(&guest.kernel).monotonic()) as f64 / 1e6)
    });
    left.flatten().unwrap_or(-1.0)
}

/// Whether the processes of this sandbox take turns in a repeatable order.
#[wasm_bindgen(js_name = isRepeatable)]
pub fn is_repeatable(pid: u32) -> bool {
    guest(pid, |guest| lock(&guest.kernel).is_repeatable()).unwrap_or(false)
}

/// Stops a session whose time is up or whose caller has given it up, where nothing else runs that could.
pub(crate) fn stop_if_unwanted(session: u32) {
    let found = driven(session, |entry| {
        let why = if entry.caller.call != 0 && host::cancelled(entry.caller.call) {
            Stop::Caller
        } else if host::monotonic() >= entry.deadline {
            Stop::Time
        } else {
            return None;
        };
        Some((Arc::clone(&entry.kernel), entry.session, why))
    });
    if let Some(Some((kernel, session, why))) = found {
        lock(&kernel).stop(session, why);
    }
}

/// Stops the command of a call, when it still runs.
pub(crate) fn stop_call(call: u32) {
    let found = DRIVEN.with(|all| {
        let all = all.borrow();
        let (number, entry) = all.iter().find(|(_, entry)| entry.caller.call == call)?;
        Some((*number, Arc::clone(&entry.kernel), entry.session))
    });
    if let Some((number, kernel, session)) = found {
        lock(&kernel).stop(session, Stop::Caller);
        wake_session(number);
    }
}

/// Where guests run to completion: has JavaScript take in what was spawned, while the guest that waits is on the stack. What
/// the application answers can begin where JavaScript `listens` to it meanwhile.
#[wasm_bindgen(js_name = admitNow)]
pub fn admit_now(session: u32, listens: bool) {
    let found = driven(session, |entry| (Arc::clone(&entry.kernel), Arc::clone(&entry.programs), entry.session));
    let Some((kernel, programs, session)) = found else { return };
    let starts = lock(&kernel).take_starts(session);
    for start in starts {
        match HostProcess::new(&kernel, &start) {
            Some(process) if listens => host_begins(number(session), process),
            Some(_) => {
                born(&kernel, session, start.pid.0, &start.kill_flag, None);
                ending::cannot_execute(start.pid.0, ending::AT_ONCE);
            }
            None => begin(&kernel, &programs, session, &start),
        }
    }
}

/// Lets time pass in a deterministic session of which all guests wait.
#[wasm_bindgen(js_name = skipWaiting)]
pub fn skip_waiting(session: u32) -> bool {
    let found = driven(session, |entry| (Arc::clone(&entry.kernel), entry.session));
    found.is_some_and(|(kernel, session)| lock(&kernel).skip_waiting(session))
}

/// Tells the kernel, before a guest runs, which functions it knows and how much memory it begins with. `false` when it may
/// not have that much; it has ended then.
#[wasm_bindgen(js_name = guestBegins)]
pub fn guest_begins(pid: u32, aware: bool, pages: u32, fork: bool) -> bool {
    let Some(kernel) = guest(pid, |guest| Arc::clone(&guest.kernel)) else { return false };
    if !fork {
        lock(&kernel).set_aware(Pid(pid), aware);
    }
    if crate::syscalls::grow(pid, 0, pages) == 1 {
        return true;
    }
    if !fork {
        ending::out_of_memory(pid);
    }
    false
}

/// Whether anything still counts on this guest.
#[wasm_bindgen(js_name = guestLives)]
pub fn guest_lives(pid: u32) -> bool {
    guest(pid, |guest| guest.kill_flag.load(Ordering::Relaxed) == 0).unwrap_or(false)
}
