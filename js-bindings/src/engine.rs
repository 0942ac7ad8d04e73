//! The engine port: guests are instances that JavaScript makes and runs, one after the other in the turns of its queue; this
//! side says what to start, notices ends, and watches the time.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, Stream};
use tidebox_kernel::engine::{Engine, EngineError};
use tidebox_kernel::{Chunk, Errno, HostProcess, Pid, SessionId, SharedKernel, Start, Stop};
use wasm_bindgen::prelude::wasm_bindgen;

use crate::guest::{Guest, guest, guests, lock};
use crate::program::{Found, Programs};
use crate::{ending, host};

/// Runs guests with the WebAssembly of the JavaScript engine that this module itself runs in.
#[derive(Debug)]
pub(crate) struct JsEngine {
    pub(crate) programs: Programs,
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

thread_local! {
    /// Who waits for something to happen in a session.
    static DRIVEN: RefCell<BTreeMap<u32, Waker>> = const { RefCell::new(BTreeMap::new()) };
}

fn driven<T>(work: impl FnOnce(&mut BTreeMap<u32, Waker>) -> T) -> T {
    DRIVEN.with(|driven| work(&mut driven.borrow_mut()))
}

/// Sessions are counted from 1; nobody runs four thousand million commands in one sandbox, and if so, numbers begin again.
fn number(session: SessionId) -> u32 {
    (session.0 & u64::from(u32::MAX)) as u32
}

struct Driving<'a> {
    engine: &'a JsEngine,
    kernel: &'a SharedKernel,
    session: SessionId,
    deadline: f64,
    /// Processes of the application, which are futures.
    hosts: FuturesUnordered<HostProcess>,
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
        host::alarm(number(session), milliseconds);
        Self { engine, kernel, session, deadline, hosts: FuturesUnordered::new(), on_output }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        driven(|all| all.insert(number(self.session), cx.waker().clone()));
        loop {
            self.admit();
            let host_went = matches!(Pin::new(&mut self.hosts).poll_next(cx), Poll::Ready(Some(())));
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

    /// Takes in what was spawned since the last look. What was forked is there already.
    fn admit(&mut self) {
        let starts = lock(self.kernel).take_starts(self.session);
        for start in starts {
            match HostProcess::new(self.kernel, &start) {
                Some(process) => self.hosts.push(process),
                None => self.start(&start),
            }
        }
    }

    fn start(&self, start: &Start) {
        let pid = start.pid.0;
        born(self.kernel, self.session, pid, &start.kill_flag);
        let limits = lock(self.kernel).limits().clone();
        match self.engine.programs.find(&start.image, &limits) {
            Ok(Found::Known(name)) => host::guest_start(number(self.session), pid, &name),
            Ok(Found::New(name, wasm)) => {
                host::program_add(&name, &wasm);
                host::guest_start(number(self.session), pid, &name);
            }
            Err(refusal) => ending::cannot_execute(pid, &refusal.to_string()),
        }
    }

    fn hand_out(&mut self) {
        let Some(on_output) = &mut self.on_output else { return };
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
        driven(|all| all.remove(&session));
        guests(|guests| guests.retain(|_, guest| guest.session != session));
        host::guests_drop(session);
    }
}

fn born(kernel: &SharedKernel, session: SessionId, pid: u32, kill_flag: &Arc<AtomicU32>) {
    let guest = Guest {
        kernel: Arc::clone(kernel),
        session: number(session),
        kill_flag: Arc::clone(kill_flag),
        leaving: None,
        refused: false,
        deadline: None,
    };
    guests(|guests| guests.insert(pid, guest));
}

/// Makes the copy of a guest that the kernel has agreed to.
pub(crate) fn fork(parent: u32, start: &Start, arg: i32) -> Result<(), Errno> {
    let found = guest(parent, |guest| (Arc::clone(&guest.kernel), guest.session));
    let Some((kernel, session)) = found else { return Err(Errno::Srch) };
    let child = start.pid.0;
    born(&kernel, SessionId(u64::from(session)), child, &start.kill_flag);
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
    let waker = driven(|all| all.remove(&session));
    if let Some(waker) = waker {
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
