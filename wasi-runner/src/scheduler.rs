//! One session: its processes as futures of one task, so that they take turns and share one thread at a time.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tidebox_kernel::engine::EngineError;
use tidebox_kernel::{Chunk, HostProcess, SessionId, SharedKernel, Stop};

use crate::engine::Inner;
use crate::fork::Forked;
use crate::guest::lock;
use crate::process::{self, Surroundings};
use crate::turns::{Process, Step, Turns};

/// Steps after which the task returns to its executor.
const STEPS: u32 = 256;

type OnOutput<'a> = Option<&'a mut (dyn FnMut(Chunk) + Send)>;

/// Drives a session until its first process has ended or its time is up. What still runs then is dropped.
pub(crate) async fn drive(
    inner: &Arc<Inner>,
    kernel: &SharedKernel,
    session: SessionId,
    wall_time: Duration,
    on_output: OnOutput<'_>,
) -> Result<(), EngineError> {
    if tokio::runtime::Handle::try_current().is_err() {
        return Err(EngineError::new("execute must be awaited inside a Tokio runtime with its timer enabled"));
    }
    let _ticking = inner.ticker.keep_ticking();
    let nursery = Arc::default();
    let mut running = Running {
        around: Surroundings {
            inner: Arc::clone(inner),
            kernel: Arc::clone(kernel),
            nursery: Arc::downgrade(&nursery),
        },
        nursery,
        session,
        turns: Turns::new(kernel),
        // A wall time beyond what the clock can hold is no limit.
        deadline: Instant::now().checked_add(wall_time),
        alarm: None,
        on_output,
    };
    poll_fn(|cx| running.poll(cx)).await;
    Ok(())
}

struct Running<'a> {
    around: Surroundings,
    nursery: Arc<Mutex<Vec<Forked>>>,
    session: SessionId,
    turns: Turns,
    deadline: Option<Instant>,
    alarm: Option<Pin<Box<tokio::time::Sleep>>>,
    on_output: OnOutput<'a>,
}

impl Running<'_> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // A conversation has as much time for each request as that may take.
        if let Some(time) = lock(&self.around.kernel).take_time(self.session) {
            (self.deadline, self.alarm) = (Instant::now().checked_add(time), None);
        }
        for _ in 0..STEPS {
            self.admit();
            let step = self.turns.run(cx);
            if step == Step::Interrupted {
                // What it has written is not handed out yet, so that pieces of output begin and end where turns do.
                return self.sleep(cx);
            }
            self.hand_out();
            let mut kernel = lock(&self.around.kernel);
            if kernel.root_status(self.session).is_some() {
                return Poll::Ready(());
            }
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                kernel.stop(self.session, Stop::Time);
                return Poll::Ready(());
            }
            let starts = kernel.has_starts(self.session) || !self.nursery().is_empty();
            drop(kernel);
            match step {
                // Without a process that could end it, a session would wait for its deadline.
                Step::Empty if !starts => return Poll::Ready(()),
                Step::Idle if !starts && !lock(&self.around.kernel).skip_waiting(self.session) => {
                    return self.sleep(cx);
                }
                _ => {}
            }
        }
        // The caller's other tasks have a turn, too.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Takes in what was spawned or forked since the last look.
    fn admit(&mut self) {
        let starts = lock(&self.around.kernel).take_starts(self.session);
        for start in starts {
            let pid = start.pid;
            let process: Process = match HostProcess::new(&self.around.kernel, &start) {
                Some(process) => Box::pin(process),
                None => Box::pin(process::spawned(self.around.clone(), start)),
            };
            self.turns.push(pid, process);
        }
        let forked = std::mem::take(&mut *self.nursery());
        for child in forked {
            self.turns.push(child.start.pid, Box::pin(process::forked(Arc::clone(&self.around.kernel), child)));
        }
    }

    fn nursery(&self) -> MutexGuard<'_, Vec<Forked>> {
        self.nursery.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn hand_out(&mut self) {
        let Some(on_output) = &mut self.on_output else { return };
        // The chunks are taken first: the caller's function must not run under the kernel's lock.
        let chunks = lock(&self.around.kernel).take_output(self.session);
        for chunk in chunks {
            on_output(chunk);
        }
    }

    /// Waits for a process or for the deadline. Busy processes wake the task themselves, so the timer is only made
    /// when everything waits.
    fn sleep(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(deadline) = self.deadline else { return Poll::Pending };
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline.into())));
        if alarm.as_mut().poll(cx).is_ready() {
            lock(&self.around.kernel).stop(self.session, Stop::Time);
            return Poll::Ready(());
        }
        Poll::Pending
    }
}
