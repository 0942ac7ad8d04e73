//! Threads that compile guest-supplied programs, so that a large or hostile module delays no other sandbox.
//!
//! Small modules have a separate lane and never wait for large ones. Each lane serves the sandboxes alternately, and a
//! sandbox has at most one job at a time: one that submits many modules delays only itself. A compilation whose caller
//! was dropped, or whose processor time is used up, stops at the next function.

use std::cell::RefCell;
use std::collections::{HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;
use std::time::Duration;

use tidebox_core::lock::Mutex;
use tokio::sync::oneshot;

use super::LoadError;
use crate::metered_process::thread_cpu_time;

/// Module size up to which a job uses the lane for small modules: compiling takes some 100 ms at most.
const SMALL_MODULE_BYTES: u64 = 256 << 10;

/// Nice value of threads that compile large modules, of at most 19. An abandoned compilation finishes its current
/// function, which may take seconds, with the time that other threads leave.
const LARGE_MODULE_NICE: i32 = 10;

/// Identifies the sandbox that a job belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SandboxKey(pub(crate) usize);

/// The two lanes. Threads start with the first job and exit when their lane has no job left.
#[derive(Debug, Default)]
pub(crate) struct CompilePool {
    small: Arc<Mutex<Lane>>,
    large: Arc<Mutex<Lane>>,
}

/// A compilation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CompileJob {
    pub(crate) sandbox: SandboxKey,
    /// Size of the module in bytes, which selects the lane.
    pub(crate) size: u64,
    /// Processor time that it may use; `None` is unlimited.
    pub(crate) budget: Option<Duration>,
}

impl CompilePool {
    /// Runs `work`, which compiles a module, on a thread of its lane. Returns its result and the processor time it took.
    /// Dropping the future removes a waiting job, and makes a running one fail at its next [`check`].
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        job: CompileJob,
        work: impl FnOnce() -> Result<T, LoadError> + Send + 'static,
    ) -> (Result<T, LoadError>, Duration) {
        let (lane, nice) =
            if job.size <= SMALL_MODULE_BYTES { (&self.small, None) } else { (&self.large, Some(LARGE_MODULE_NICE)) };
        let abandoned = Abandoned::default();
        let _abandon_on_drop = AbandonOnDrop(Arc::clone(&abandoned));
        let (done, compiled) = oneshot::channel();
        let flag = Arc::clone(&abandoned);
        let run = move || {
            let started = thread_cpu_time().unwrap_or_default();
            let deadline = job.budget.and_then(|budget| started.checked_add(budget));
            CURRENT.set(Some(Current { abandoned: flag, deadline }));
            // A bug in the compiler ends only the guest's command. The unwinding of a stopped job ends here too.
            let result = catch_unwind(AssertUnwindSafe(work));
            let stopped = check();
            CURRENT.set(None);
            let failed = || stopped.err().unwrap_or_else(LoadError::compiler_failed);
            let cpu_time = thread_cpu_time().unwrap_or_default().saturating_sub(started);
            let _ = done.send((result.unwrap_or_else(|_| Err(failed())), cpu_time));
        };
        let queued = Lane::submit(lane, nice, Job { sandbox: job.sandbox, abandoned, run: Box::new(run) });
        match queued {
            Ok(()) => compiled.await.unwrap_or_else(|_| (Err(LoadError::compiler_failed()), Duration::ZERO)),
            Err(error) => (Err(error), Duration::ZERO),
        }
    }
}

/// Set when the caller of a job was dropped.
type Abandoned = Arc<AtomicBool>;

struct AbandonOnDrop(Abandoned);

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Conditions of the job that runs on a thread.
struct Current {
    abandoned: Abandoned,
    /// Processor time of the thread at which the job must stop.
    deadline: Option<Duration>,
}

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// Fails if the job on this thread must stop: its caller was dropped, or its processor time is used up.
pub(super) fn check() -> Result<(), LoadError> {
    CURRENT.with_borrow(|current| {
        let Some(current) = current else { return Ok(()) };
        if current.abandoned.load(Ordering::Relaxed) {
            return Err(LoadError("its command has ended".to_owned()));
        }
        let is_used_up = |deadline| thread_cpu_time().is_some_and(|now| now >= deadline);
        if current.deadline.is_some_and(is_used_up) {
            return Err(LoadError("compiling it takes more processor time than the command has left".to_owned()));
        }
        Ok(())
    })
}

struct Job {
    sandbox: SandboxKey,
    abandoned: Abandoned,
    run: Box<dyn FnOnce() + Send>,
}

/// Waiting jobs of one lane, and the sandboxes that have a running one.
#[derive(Default)]
struct Lane {
    /// Jobs by sandbox. The sandbox at the front is served next.
    waiting: VecDeque<(SandboxKey, VecDeque<Job>)>,
    running: HashSet<SandboxKey>,
    threads: usize,
}

impl std::fmt::Debug for Lane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lane").field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl Lane {
    /// Adds a job, and starts a thread unless all threads of the lane run.
    fn submit(lane: &Arc<Mutex<Self>>, nice: Option<i32>, job: Job) -> Result<(), LoadError> {
        let mut locked = lane.lock();
        let sandbox = job.sandbox;
        match locked.waiting.iter_mut().find(|(key, _)| *key == sandbox) {
            Some((_, jobs)) => jobs.push_back(job),
            None => locked.waiting.push_back((sandbox, VecDeque::from([job]))),
        }
        if locked.threads >= max_threads() {
            return Ok(());
        }
        let shared = Arc::clone(lane);
        let work = move || {
            if let Some(nice) = nice {
                lower_priority(nice);
            }
            Self::work(&shared);
        };
        match std::thread::Builder::new().name("tidebox-compile".to_owned()).spawn(work) {
            Ok(_) => locked.threads += 1,
            // The running threads will serve it.
            Err(_) if locked.threads > 0 => {}
            Err(_) => {
                locked.waiting.retain(|(key, _)| *key != sandbox);
                return Err(LoadError("cannot compile it: the host cannot start a thread".to_owned()));
            }
        }
        Ok(())
    }

    /// Runs jobs until none can start.
    fn work(lane: &Mutex<Self>) {
        let mut finished = None;
        loop {
            let job = {
                let mut lane = lane.lock();
                if let Some(sandbox) = finished.take() {
                    lane.running.remove(&sandbox);
                }
                let Some(job) = lane.take_next() else {
                    lane.threads -= 1;
                    return;
                };
                job
            };
            finished = Some(job.sandbox);
            (job.run)();
        }
    }

    /// Removes the next job of the first sandbox without a running one, and moves that sandbox to the end. Abandoned
    /// jobs are dropped.
    fn take_next(&mut self) -> Option<Job> {
        for (_, jobs) in &mut self.waiting {
            jobs.retain(|job| !job.abandoned.load(Ordering::Relaxed));
        }
        self.waiting.retain(|(_, jobs)| !jobs.is_empty());
        let at = self.waiting.iter().position(|(key, _)| !self.running.contains(key))?;
        let (sandbox, mut jobs) = self.waiting.remove(at)?;
        let job = jobs.pop_front()?;
        if !jobs.is_empty() {
            self.waiting.push_back((sandbox, jobs));
        }
        self.running.insert(sandbox);
        Some(job)
    }
}

/// Threads of one lane: half of the processors, so that the rest stays available to guests.
fn max_threads() -> usize {
    available_parallelism().map_or(1, |all| all.get().div_ceil(2))
}

/// Raises the nice value of this thread. Failing has no effect on results.
#[cfg(target_os = "linux")]
fn lower_priority(nice: i32) {
    // Linux applies the call to the calling thread, not to the process.
    let _ = rustix::process::setpriority_process(None, nice);
}

/// Other systems have no nice value of a thread.
#[cfg(not(target_os = "linux"))]
fn lower_priority(_: i32) {}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc;

    use super::*;

    const SMALL: u64 = 100;
    const LARGE: u64 = SMALL_MODULE_BYTES + 1;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().expect("a runtime starts").block_on(future)
    }

    fn is_pending(future: std::pin::Pin<&mut impl Future>) -> bool {
        future.poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).is_pending()
    }

    fn job(sandbox: usize, size: u64) -> CompileJob {
        CompileJob { sandbox: SandboxKey(sandbox), size, budget: None }
    }

    fn wait<T>(future: impl Future<Output = (Result<T, LoadError>, Duration)>) -> Result<T, LoadError> {
        block_on(future).0
    }

    /// Work that waits until `release` sends.
    fn blocker() -> (mpsc::Sender<()>, impl FnOnce() -> Result<(), LoadError> + Send + 'static) {
        let (release, wait) = mpsc::channel::<()>();
        (release, move || {
            let _ = wait.recv();
            Ok(())
        })
    }

    #[test]
    fn a_compiler_panic_is_an_error() {
        let pool = CompilePool::default();
        let failed = wait(pool.run(job(1, SMALL), || -> Result<(), _> { panic!("a defect") }));
        assert_eq!(failed, Err(LoadError::compiler_failed()));
        assert_eq!(wait(pool.run(job(1, SMALL), || Ok(7))), Ok(7), "the next job runs");
    }

    #[test]
    fn small_modules_never_wait_for_large_ones() {
        let pool = CompilePool::default();
        let mut releases = Vec::new();
        let mut large = Vec::new();
        for sandbox in 0..max_threads() + 2 {
            let (release, work) = blocker();
            let mut job = Box::pin(pool.run(job(sandbox, LARGE), work));
            assert!(is_pending(job.as_mut()));
            releases.push(release);
            large.push(job);
        }
        assert_eq!(wait(pool.run(job(0, SMALL), || Ok(7))), Ok(7));
        drop(releases);
        for job in large {
            assert_eq!(wait(job), Ok(()));
        }
    }

    #[test]
    fn a_sandbox_has_one_job_at_a_time() {
        let pool = CompilePool::default();
        let (release, work) = blocker();
        let mut first = Box::pin(pool.run(job(1, LARGE), work));
        assert!(is_pending(first.as_mut()));
        let started = Arc::new(AtomicUsize::new(0));
        let mut more = Vec::new();
        for _ in 0..10 {
            let started = Arc::clone(&started);
            let work = move || Ok(started.fetch_add(1, Ordering::Relaxed));
            let mut job = Box::pin(pool.run(job(1, LARGE), work));
            assert!(is_pending(job.as_mut()));
            more.push(job);
        }
        if max_threads() > 1 {
            assert_eq!(wait(pool.run(job(2, LARGE), || Ok(()))), Ok(()));
        }
        assert_eq!(started.load(Ordering::Relaxed), 0);
        release.send(()).expect("the job waits");
        let order: Vec<_> = more.into_iter().map(|job| wait(job).expect("it runs")).collect();
        assert_eq!(order, (0..10).collect::<Vec<_>>(), "the jobs of a sandbox run in order");
    }

    #[test]
    fn abandoned_jobs_are_not_started() {
        let pool = CompilePool::default();
        let (release, work) = blocker();
        let mut first = Box::pin(pool.run(job(1, LARGE), work));
        assert!(is_pending(first.as_mut()));
        let started = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&started);
        let mut second = Box::pin(pool.run(job(1, LARGE), move || Ok(count.fetch_add(1, Ordering::Relaxed))));
        assert!(is_pending(second.as_mut()));
        drop(second);
        release.send(()).expect("the job waits");
        assert_eq!(wait(first), Ok(()));
        assert_eq!(wait(pool.run(job(1, LARGE), || Ok(7))), Ok(7));
        assert_eq!(started.load(Ordering::Relaxed), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_job_stops_when_its_processor_time_is_used_up() {
        let pool = CompilePool::default();
        let budget = Some(Duration::from_millis(5));
        let (result, cpu_time) = block_on(pool.run(CompileJob { budget, ..job(1, SMALL) }, || {
            while check().is_ok() {}
            check()
        }));
        let message = result.expect_err("it stops").to_string();
        assert!(message.contains("more processor time than the command has left"), "{message}");
        assert!(cpu_time >= Duration::from_millis(5), "{cpu_time:?}");
    }

    #[test]
    fn a_running_job_sees_that_it_is_abandoned() {
        let pool = CompilePool::default();
        let (started, wait) = mpsc::channel();
        let (report, seen) = mpsc::channel();
        let mut job = Box::pin(pool.run(job(1, LARGE), move || {
            let _ = started.send(());
            while check().is_ok() {
                std::thread::yield_now();
            }
            let _ = report.send(());
            Ok(())
        }));
        assert!(is_pending(job.as_mut()));
        wait.recv().expect("it starts");
        drop(job);
        seen.recv_timeout(std::time::Duration::from_secs(60)).expect("it stops");
    }
}
