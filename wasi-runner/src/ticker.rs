//! Thread that advances the engine's epoch, so that a guest that never calls the host can still be interrupted.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread::Thread;
use std::time::Duration;

use wasmtime::{Engine, EngineWeak};

/// Time between two epochs. A runaway guest exceeds its deadline by about one period. A shorter period would send every
/// busy guest through the scheduler more often than useful.
pub(crate) const PERIOD: Duration = Duration::from_millis(1);

/// Periods without a poll after which the thread sleeps. Waking it costs a system call, so it stays awake
/// between two commands.
const IDLE_PERIODS: u64 = 500;

/// Starts and stops ticking with the executions that need it.
#[derive(Debug)]
pub(crate) struct Ticker {
    state: Arc<State>,
    thread: Thread,
}

#[derive(Debug, Default)]
struct State {
    /// Polls that have started, so that the thread notices those between two epochs.
    started: AtomicU64,
    /// Polls that have ended.
    ended: AtomicU64,
    asleep: AtomicBool,
}

impl State {
    /// Returns whether a poll is in progress, and the number of polls that have started.
    fn polls(&self) -> (bool, u64) {
        // In this order: no poll can then have ended without being counted as started.
        let ended = self.ended.load(Ordering::SeqCst);
        let started = self.started.load(Ordering::SeqCst);
        (started != ended, started)
    }
}

impl Ticker {
    /// Starts the thread. It exits once both the engine and the ticker are dropped.
    pub(crate) fn start(engine: &Engine) -> std::io::Result<Self> {
        let state = Arc::new(State::default());
        let (weak_state, weak_engine) = (Arc::downgrade(&state), engine.weak());
        let thread = std::thread::Builder::new()
            .name("tidebox-epoch".into())
            .spawn(move || tick(&weak_engine, &weak_state))?
            .thread()
            .clone();
        Ok(Self { state, thread })
    }

    /// Polls `future` to its end, and ticks during each poll. A guest that waits needs no epochs, so that waiting processes leave
    /// the thread asleep.
    pub(crate) async fn tick_during<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        poll_fn(|cx| {
            let _polling = self.acquire();
            future.as_mut().poll(cx)
        })
        .await
    }

    /// Keeps the ticker running until the returned guard is dropped.
    fn acquire(&self) -> TickGuard<'_> {
        self.state.started.fetch_add(1, Ordering::SeqCst);
        if self.state.asleep.load(Ordering::SeqCst) {
            self.thread.unpark();
        }
        TickGuard { state: &self.state }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.thread.unpark();
    }
}

/// Guard that keeps the epochs ticking.
struct TickGuard<'a> {
    state: &'a State,
}

impl Drop for TickGuard<'_> {
    fn drop(&mut self) {
        self.state.ended.fetch_add(1, Ordering::Release);
    }
}

fn tick(engine: &EngineWeak, state: &Weak<State>) {
    let (mut idle, mut seen) = (0, 0);
    loop {
        let Some(engine) = engine.upgrade() else { return };
        engine.increment_epoch();
        drop(engine);
        let Some(state) = state.upgrade() else { return };
        let (is_running, started) = state.polls();
        (idle, seen) = (if is_running || started != seen { 0 } else { idle + 1 }, started);
        if idle < IDLE_PERIODS {
            drop(state);
            std::thread::sleep(PERIOD);
            continue;
        }
        // The polls are read again after `asleep` is published: for one that starts in between, either this thread sees the poll or
        // the poll sees `asleep`.
        state.asleep.store(true, Ordering::SeqCst);
        let still_idle = !state.polls().0;
        let published = Arc::downgrade(&state);
        drop(state);
        if still_idle {
            std::thread::park();
        }
        if let Some(state) = published.upgrade() {
            state.asleep.store(false, Ordering::SeqCst);
        }
        idle = 0;
    }
}
