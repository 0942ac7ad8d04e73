//! How a process of many waits becomes one that the kernel can park.
//!
//! The kernel parks a process with one waker and one deadline. A component may wait for several streams and timers at
//! once, and its engine for each in a future of its own. So waits are collected here, and the process is parked when all of
//! its future has come to rest, until the earliest of them; whatever wakes it has all of them look again.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use tidebox_kernel::wasi::Wait;

use super::handle::Handle;
use crate::guest::lock;

/// What the futures of one process wait for.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    entries: Mutex<Entries>,
    /// Bytes that output streams of the process hold back.
    pub(super) held: AtomicUsize,
}

#[derive(Debug, Default)]
struct Entries {
    last: u64,
    waiting: BTreeMap<u64, (Option<Waker>, Option<u64>)>,
}

impl Waits {
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The wakers are called without the lock: one may be the process's own.
    fn wake_all(&self) {
        let wakers: Vec<Waker> = self.entries().waiting.values_mut().filter_map(|(waker, _)| waker.take()).collect();
        for waker in wakers {
            waker.wake();
        }
    }

    /// When the first of them is over by itself, in nanoseconds of the kernel's monotonic clock.
    fn deadline(&self) -> Option<u64> {
        self.entries().waiting.values().filter_map(|(_, until)| *until).min()
    }
}

/// One future's place among the waits, given back when it is dropped.
pub(super) struct Ticket {
    waits: Arc<Waits>,
    number: u64,
}

impl Ticket {
    pub(super) fn new(waits: &Arc<Waits>) -> Self {
        let mut entries = waits.entries();
        entries.last += 1;
        Self { waits: Arc::clone(waits), number: entries.last }
    }

    pub(super) fn wait(&self, until: Option<u64>, waker: &Waker) {
        self.waits.entries().waiting.insert(self.number, (Some(waker.clone()), until));
    }
}

impl Ticket {
    /// The wait is over for now.
    pub(super) fn rest(&self) {
        self.waits.entries().waiting.remove(&self.number);
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.rest();
    }
}

/// Tells a future that has come to rest from one that only lets others have a turn.
#[derive(Default)]
struct Gate {
    polling: AtomicBool,
    woken: AtomicBool,
    outer: Mutex<Option<Waker>>,
}

impl Wake for Gate {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::SeqCst);
        if !self.polling.load(Ordering::SeqCst)
            && let Some(outer) = &*self.outer.lock().unwrap_or_else(PoisonError::into_inner)
        {
            outer.wake_by_ref();
        }
    }
}

/// Drives a component's future, parking its process while it has nothing to do.
pub(super) async fn drive<T>(handle: &Handle, life: impl Future<Output = T>) -> T {
    let mut life = pin!(life);
    let gate = Arc::new(Gate::default());
    let waker = Waker::from(Arc::clone(&gate));
    let mut alarm = Alarm::default();
    let mut parked = false;
    poll_fn(|cx| {
        gate.outer.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&Some(cx.waker().clone()));
        gate.polling.store(true, Ordering::SeqCst);
        let happened = lock(&handle.kernel).unpark(handle.pid);
        // Only then: to wake those that wait for nothing new at every turn would be to wait busily.
        if std::mem::take(&mut parked) || happened {
            handle.waits.wake_all();
        }
        gate.woken.store(false, Ordering::SeqCst);
        let polled = life.as_mut().poll(&mut Context::from_waker(&waker));
        gate.polling.store(false, Ordering::SeqCst);
        if polled.is_ready() {
            return polled;
        }
        if gate.woken.load(Ordering::SeqCst) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        parked = true;
        let deadline = handle.waits.deadline();
        let left = {
            let mut kernel = lock(&handle.kernel);
            kernel.park(handle.pid, Wait { deadline }, cx.waker());
            // Time that passes only when all wait needs no timer.
            deadline.filter(|_| !kernel.is_repeatable()).map(|deadline| deadline.saturating_sub(kernel.monotonic()))
        };
        alarm.set(left.map(Duration::from_nanos), cx);
        Poll::Pending
    })
    .await
}

/// The timer of a parked process.
#[derive(Default)]
struct Alarm(Option<Pin<Box<tokio::time::Sleep>>>);

impl Alarm {
    fn set(&mut self, left: Option<Duration>, cx: &mut Context<'_>) {
        let Some(left) = left else {
            self.0 = None;
            return;
        };
        let sleep = self.0.insert(Box::pin(tokio::time::sleep(left)));
        if sleep.as_mut().poll(cx).is_ready() {
            cx.waker().wake_by_ref();
        }
    }
}
