//! Run queue of an execution's processes.

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};

use tidebox_core::lock::Mutex;

use futures_util::stream::{FuturesUnordered, Stream};
use tidebox_kernel::SharedKernel;

use crate::metered_process::Process;

/// Result of running processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// More processes can run.
    Progressed,
    /// The engine interrupted a process, which must continue before others may run; it wakes the task when ready.
    Interrupted,
    /// All processes wait.
    Idle,
    /// No process is left.
    Empty,
}

/// The processes, with one of two scheduling policies.
pub(crate) enum RunQueue {
    /// Processes run as they are woken; the engine's epochs end time slices.
    Unordered(FuturesUnordered<Process>),
    /// Deterministic: the order depends only on the actions of the processes.
    RoundRobin(RoundRobin),
}

impl RunQueue {
    pub(crate) fn new(kernel: &SharedKernel, is_deterministic: bool) -> Self {
        if is_deterministic {
            Self::RoundRobin(RoundRobin::new(kernel))
        } else {
            Self::Unordered(FuturesUnordered::new())
        }
    }

    pub(crate) fn push(&mut self, process: Process) {
        match self {
            Self::Unordered(all) => all.push(process),
            Self::RoundRobin(ordered) => ordered.push(process),
        }
    }

    pub(crate) fn run(&mut self, cx: &mut Context<'_>) -> Step {
        match self {
            Self::Unordered(all) => match Pin::new(all).poll_next(cx) {
                Poll::Ready(Some(())) => Step::Progressed,
                Poll::Ready(None) => Step::Empty,
                Poll::Pending => Step::Idle,
            },
            Self::RoundRobin(ordered) => ordered.run(cx),
        }
    }
}

/// Schedules processes in the order in which they were started and woken. Only other processes of the execution start
/// and wake them, so the order is the same in every run. External events, such as an epoch or a finished compilation,
/// reach only the current process.
pub(crate) struct RoundRobin {
    kernel: SharedKernel,
    processes: BTreeMap<u64, QueuedProcess>,
    last: u64,
    ready: Arc<Ready>,
    /// The process whose time slice was interrupted.
    current: Option<u64>,
}

struct QueuedProcess {
    process: Process,
    waker: Arc<ProcessWaker>,
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
        self.state.lock()
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
struct ProcessWaker {
    number: u64,
    queued: AtomicBool,
    ready: Arc<Ready>,
}

impl Wake for ProcessWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::AcqRel) {
            self.ready.add(self.number);
        }
    }
}

impl RoundRobin {
    fn new(kernel: &SharedKernel) -> Self {
        let (processes, ready) = (BTreeMap::new(), Arc::default());
        Self { kernel: Arc::clone(kernel), processes, last: 0, ready, current: None }
    }

    fn push(&mut self, process: Process) {
        self.last += 1;
        let waker = Arc::new(ProcessWaker {
            number: self.last,
            queued: AtomicBool::new(false),
            ready: Arc::clone(&self.ready),
        });
        waker.wake_by_ref();
        self.processes.insert(self.last, QueuedProcess { process, waker });
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
        // A waker may outlive its process.
        let Some(member) = self.processes.get_mut(&number) else { return Step::Progressed };
        member.waker.queued.store(false, Ordering::Release);
        let waker = Waker::from(Arc::clone(&member.waker));
        match Pin::new(&mut member.process).poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(()) => {
                self.processes.remove(&number);
                Step::Progressed
            }
            Poll::Pending if self.kernel.lock().has_yielded(member.process.pid()) => Step::Progressed,
            Poll::Pending => {
                self.current = Some(number);
                self.ready.queue().task = Some(cx.waker().clone());
                self.interrupted(number)
            }
        }
    }

    /// The process may have been woken before the task's waker was registered.
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
