//! Tasks that outlive the call which starts them, and timers. The event loop of the worker runs both.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::future::{AbortHandle, Abortable};
use tidebox_core::BoxFuture;
use tidebox_core::lock::Mutex;
use tidebox_vfs_backend::Tasks;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::spawn_local;

use crate::call_context::{CallContext, WithContext};
use crate::js_imports;
use crate::slots::Slots;

/// The tasks of a sandbox.
#[derive(Debug, Default)]
pub(crate) struct LocalTasks {
    running: Arc<Mutex<RunningTasks>>,
}

#[derive(Debug, Default)]
struct RunningTasks {
    last: u64,
    handles: BTreeMap<u64, AbortHandle>,
}

impl LocalTasks {
    /// Drops all tasks. Their executions end without running their guests, which JavaScript has dropped.
    pub(crate) fn abort(&self) {
        let handles = std::mem::take(&mut self.running.lock().handles);
        handles.values().for_each(AbortHandle::abort);
    }
}

impl Tasks for LocalTasks {
    fn start(&self, task: BoxFuture<'static, ()>) -> Result<(), String> {
        let (handle, registration) = AbortHandle::new_pair();
        let number = {
            let mut running = self.running.lock();
            running.last += 1;
            let number = running.last;
            running.handles.insert(number, handle);
            number
        };
        let running = Arc::clone(&self.running);
        // A command that keeps its processes runs in a task from its first step, and is cancelled by the number of its call.
        let context = CallContext { streams_output: false, ..CallContext::current() };
        let task = Abortable::new(WithContext::new(context, task), registration);
        spawn_local(async move {
            // The task is dropped here, whether it has ended or was aborted.
            let _ = task.await;
            running.lock().handles.remove(&number);
        });
        Ok(())
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(Timer::start(duration))
    }
}

/// State of a timer.
#[derive(Debug, Default)]
struct TimerState {
    has_fired: bool,
    waker: Option<Waker>,
}

thread_local! {
    static TIMERS: RefCell<Slots<TimerState>> = const { RefCell::new(Slots::new()) };
}

/// A timer of JavaScript. Dropping it stops it.
#[derive(Debug)]
struct Timer {
    /// `None` if there are too many timers; it has fired then.
    number: Option<u32>,
}

impl Timer {
    fn start(duration: Duration) -> Self {
        let number = TIMERS.with_borrow_mut(|timers| timers.insert(TimerState::default()));
        if let Some(number) = number {
            js_imports::start_timer(number, duration.as_secs_f64() * 1e3);
        }
        Self { number }
    }
}

impl Future for Timer {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Some(number) = self.number else { return Poll::Ready(()) };
        TIMERS.with_borrow_mut(|timers| match timers.get_mut(number) {
            Some(timer) if !timer.has_fired => {
                timer.waker = Some(cx.waker().clone());
                Poll::Pending
            }
            _ => Poll::Ready(()),
        })
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let timer = TIMERS.with_borrow_mut(|timers| timers.remove(number));
        if timer.is_some_and(|timer| !timer.has_fired) {
            js_imports::stop_timer(number);
        }
    }
}

/// Called when a timer has expired.
#[wasm_bindgen(js_name = timerFired)]
pub fn timer_fired(number: u32) {
    let waker = TIMERS.with_borrow_mut(|timers| {
        let timer = timers.get_mut(number)?;
        timer.has_fired = true;
        timer.waker.take()
    });
    if let Some(waker) = waker {
        waker.wake();
    }
}
