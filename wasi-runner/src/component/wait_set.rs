//! Waiting for several streams and timers in one process that the kernel can park.
//!
//! The kernel parks a process with one waker and one deadline. A component may wait for several streams and timers at
//! the same time, and its engine polls each in its own future. Those waits are collected here. The process is parked
//! when none of its futures can progress, until the earliest deadline. Any wakeup makes all of them check again.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use tidebox_core::lock::Mutex;

use tidebox_kernel::Wait;

use super::handle::ProcessHandle;

/// The pending waits of one process.
#[derive(Debug, Default)]
pub(crate) struct WaitSet {
    entries: Mutex<Entries>,
    /// Bytes buffered in output streams of the process.
    pub(super) buffered_bytes: AtomicUsize,
}

#[derive(Debug, Default)]
struct Entries {
    last: u64,
    waiting: BTreeMap<u64, (Option<Waker>, Option<u64>)>,
}

impl WaitSet {
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock()
    }

    /// Call the wakers without holding the lock: one of them may be the process's own.
    fn wake_all(&self) {
        let wakers: Vec<Waker> = self.entries().waiting.values_mut().filter_map(|(waker, _)| waker.take()).collect();
        for waker in wakers {
            waker.wake();
        }
    }

    /// The earliest deadline, in nanoseconds of the kernel's monotonic clock.
    fn deadline(&self) -> Option<u64> {
        self.entries().waiting.values().filter_map(|(_, until)| *until).min()
    }
}

/// The registration of one future's wait, removed on drop.
pub(super) struct WaitRegistration {
    waits: Arc<WaitSet>,
    number: u64,
}

impl WaitRegistration {
    pub(super) fn new(waits: &Arc<WaitSet>) -> Self {
        let mut entries = waits.entries();
        entries.last += 1;
        Self { waits: Arc::clone(waits), number: entries.last }
    }

    pub(super) fn wait(&self, until: Option<u64>, waker: &Waker) {
        self.waits.entries().waiting.insert(self.number, (Some(waker.clone()), until));
    }
}

impl WaitRegistration {
    /// Marks the wait as finished for now.
    pub(super) fn clear(&self) {
        self.waits.entries().waiting.remove(&self.number);
    }
}

impl Drop for WaitRegistration {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Distinguishes a future that is parked from one that only yields.
#[derive(Default)]
struct WakeTracker {
    polling: AtomicBool,
    woken: AtomicBool,
    outer: Mutex<Option<Waker>>,
}

impl Wake for WakeTracker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::SeqCst);
        if !self.polling.load(Ordering::SeqCst)
            && let Some(outer) = &*self.outer.lock()
        {
            outer.wake_by_ref();
        }
    }
}

/// Drives a component's future and parks its process while the future is pending.
pub(super) async fn drive_component<T>(handle: &ProcessHandle, body: impl Future<Output = T>) -> T {
    let mut future = pin!(body);
    let tracker = Arc::new(WakeTracker::default());
    let waker = Waker::from(Arc::clone(&tracker));
    let mut alarm = Alarm::default();
    let mut parked = false;
    poll_fn(|cx| {
        tracker.outer.lock().clone_from(&Some(cx.waker().clone()));
        tracker.polling.store(true, Ordering::SeqCst);
        let happened = handle.kernel.lock().unpark(handle.pid);
        // Wake only then: waking waits without new events on every poll would be a busy loop.
        if std::mem::take(&mut parked) || happened {
            handle.waits.wake_all();
        }
        tracker.woken.store(false, Ordering::SeqCst);
        let polled = future.as_mut().poll(&mut Context::from_waker(&waker));
        tracker.polling.store(false, Ordering::SeqCst);
        if polled.is_ready() {
            return polled;
        }
        if tracker.woken.load(Ordering::SeqCst) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        parked = true;
        let deadline = handle.waits.deadline();
        let remaining = {
            let mut kernel = handle.kernel.lock();
            kernel.park(handle.pid, Wait { deadline }, cx.waker());
            // Deterministic time advances only when all processes wait, so no timer is needed.
            deadline.filter(|_| !kernel.is_deterministic()).map(|deadline| deadline.saturating_sub(kernel.monotonic()))
        };
        alarm.set(remaining.map(Duration::from_nanos), cx);
        Poll::Pending
    })
    .await
}

/// The timer of a parked process.
#[derive(Default)]
struct Alarm(Option<Pin<Box<tokio::time::Sleep>>>);

impl Alarm {
    fn set(&mut self, remaining: Option<Duration>, cx: &mut Context<'_>) {
        let Some(remaining) = remaining else {
            self.0 = None;
            return;
        };
        let sleep = self.0.insert(Box::pin(tokio::time::sleep(remaining)));
        if sleep.as_mut().poll(cx).is_ready() {
            cx.waker().wake_by_ref();
        }
    }
}
