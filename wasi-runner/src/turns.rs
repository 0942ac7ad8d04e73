//! The processes of a session, and whose turn it is.

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::stream::{FuturesUnordered, Stream};
use tidebox_kernel::{Pid, SharedKernel};

use crate::guest::lock;

pub(crate) type Process = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What came of running one process or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// There is more to run.
    Went,
    /// One was interrupted by the engine and must go on before others may; it wakes the task when it can.
    Interrupted,
    /// All wait.
    Idle,
    /// There is none.
    Empty,
}

/// The processes, in one of two ways to take turns.
pub(crate) enum Turns {
    /// As it comes: whoever is woken runs, and the engine's epochs end turns.
    Free(FuturesUnordered<Process>),
    /// Repeatable: in the order of what the processes do, and of nothing else.
    Ordered(Ordered),
}

impl Turns {
    pub(crate) fn new(kernel: &SharedKernel) -> Self {
        if lock(kernel).is_repeatable() {
            Self::Ordered(Ordered::new(kernel))
        } else {
            Self::Free(FuturesUnordered::new())
        }
    }

    pub(crate) fn push(&mut self, pid: Pid, process: Process) {
        match self {
            Self::Free(all) => all.push(process),
            Self::Ordered(ordered) => ordered.push(pid, process),
        }
    }

    pub(crate) fn run(&mut self, cx: &mut Context<'_>) -> Step {
        match self {
            Self::Free(all) => match Pin::new(all).poll_next(cx) {
                Poll::Ready(Some(())) => Step::Went,
                Poll::Ready(None) => Step::Empty,
                Poll::Pending => Step::Idle,
            },
            Self::Ordered(ordered) => ordered.run(cx),
        }
    }
}

/// Turns in the order in which processes were started and woken. Both are done by other processes of the session while
/// they have their turn, so the order is the same in every run. What comes from outside, an epoch or a compiler that is
/// done, reaches only the process whose turn it is.
pub(crate) struct Ordered {
    kernel: SharedKernel,
    processes: BTreeMap<u64, Member>,
    last: u64,
    ready: Arc<Ready>,
    /// Whose turn was interrupted.
    current: Option<u64>,
}

struct Member {
    pid: Pid,
    process: Process,
    waker: Arc<Woken>,
}

#[derive(Default)]
struct Ready {
    state: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    numbers: VecDeque<u64>,
    task: Option<Waker>,
}

impl Ready {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, number: u64) {
        let task = {
            let mut queue = self.queue();
            queue.numbers.push_back(number);
            queue.task.take()
        };
        if let Some(task) = task {
            task.wake();
        }
    }
}

/// Wakes one process.
struct Woken {
    number: u64,
    queued: AtomicBool,
    ready: Arc<Ready>,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            self.ready.add(self.number);
        }
    }
}

impl Ordered {
    fn new(kernel: &SharedKernel) -> Self {
        let (processes, ready) = (BTreeMap::new(), Arc::default());
        Self { kernel: Arc::clone(kernel), processes, last: 0, ready, current: None }
    }

    fn push(&mut self, pid: Pid, process: Process) {
        self.last += 1;
        let waker =
            Arc::new(Woken { number: self.last, queued: AtomicBool::new(false), ready: Arc::clone(&self.ready) });
        waker.wake_by_ref();
        self.processes.insert(self.last, Member { pid, process, waker });
    }

    fn run(&mut self, cx: &mut Context<'_>) -> Step {
        let number = {
            let mut queue = self.ready.queue();
            let next = match self.current {
                Some(current) => queue.numbers.iter().position(|&number| number == current),
                None => (!queue.numbers.is_empty()).then_some(0),
            };
            let next = next.and_then(|at| queue.numbers.remove(at));
            if next.is_none() {
                queue.task = Some(cx.waker().clone());
            }
            next
        };
        let Some(number) = number else {
            return match self.current {
                Some(_) => Step::Interrupted,
                None if self.processes.is_empty() => Step::Empty,
                None => Step::Idle,
            };
        };
        self.current = None;
        // A process that has ended may still be woken by who does not know.
        let Some(member) = self.processes.get_mut(&number) else { return Step::Went };
        member.waker.queued.store(false, Ordering::Release);
        let waker = Waker::from(Arc::clone(&member.waker));
        match member.process.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(()) => {
                self.processes.remove(&number);
                Step::Went
            }
            Poll::Pending if lock(&self.kernel).gave_way(member.pid) => Step::Went,
            Poll::Pending => {
                self.current = Some(number);
                self.ready.queue().task = Some(cx.waker().clone());
                self.interrupted(number)
            }
        }
    }

    /// The process may have been woken before the task's waker was left.
    fn interrupted(&self, number: u64) -> Step {
        let mut queue = self.ready.queue();
        if queue.numbers.contains(&number)
            && let Some(task) = queue.task.take()
        {
            drop(queue);
            task.wake();
        }
        Step::Interrupted
    }
}
