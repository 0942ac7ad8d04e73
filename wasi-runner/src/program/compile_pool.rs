//! Thread pool for compiling guest-supplied programs: few threads, so that slow compilations leave processors to other
//! work.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::thread::available_parallelism;

use rayon::{ThreadPool, ThreadPoolBuilder};
use tokio::sync::oneshot;

use super::LoadError;

/// The threads, started for the first guest-supplied module.
#[derive(Debug, Default)]
pub(crate) struct CompilePool {
    threads: OnceLock<Option<ThreadPool>>,
}

impl CompilePool {
    /// Half of the processors.
    fn threads(&self) -> Option<&ThreadPool> {
        let make = || {
            let count = available_parallelism().map_or(1, |all| all.get().div_ceil(2));
            ThreadPoolBuilder::new().num_threads(count).thread_name(|_| "tidebox-compile".to_owned()).build().ok()
        };
        self.threads.get_or_init(make).as_ref()
    }

    /// Compiles on one of the threads. A job whose caller was dropped before it starts is skipped. A started job runs
    /// to completion, because a compiler cannot be interrupted.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, LoadError> + Send + 'static,
    ) -> Result<T, LoadError> {
        let Some(threads) = self.threads() else {
            return Err(LoadError("cannot compile it: the host cannot start a thread".to_owned()));
        };
        let (done, compiled) = oneshot::channel();
        threads.spawn(move || {
            if done.is_closed() {
                return;
            }
            // A bug in the compiler ends only the guest's command.
            let result = catch_unwind(AssertUnwindSafe(work));
            let _ = done.send(result.unwrap_or_else(|_| Err(LoadError::compiler_failed())));
        });
        compiled.await.unwrap_or_else(|_| Err(LoadError::compiler_failed()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::{Arc, mpsc};

    use super::*;

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().build().expect("a runtime starts").block_on(future)
    }

    fn is_pending(future: std::pin::Pin<&mut impl Future>) -> bool {
        future.poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).is_pending()
    }

    #[test]
    fn a_compiler_panic_is_an_error() {
        let compiling = CompilePool::default();
        let failed = block_on(compiling.run(|| -> Result<(), _> { panic!("a defect") }));
        assert_eq!(failed, Err(LoadError::compiler_failed()));
        assert_eq!(block_on(compiling.run(|| Ok(7))), Ok(7), "the thread still runs");
    }

    #[test]
    fn abandoned_compilations_are_not_started() {
        let (compiling, started) = (CompilePool::default(), Arc::new(AtomicUsize::new(0)));
        block_on(async {
            let (release, wait) = mpsc::channel::<()>();
            let wait = std::sync::Mutex::new(wait);
            let wait = Arc::new(wait);
            let threads = available_parallelism().map_or(1, |all| all.get().div_ceil(2));
            // Occupy all threads, so that the other jobs have to queue.
            let mut busy = Vec::new();
            for _ in 0..threads {
                let wait = Arc::clone(&wait);
                let mut work = Box::pin(compiling.run(move || {
                    let _ = wait.lock().map(|wait| wait.recv());
                    Ok(())
                }));
                assert!(is_pending(work.as_mut()));
                busy.push(work);
            }
            for _ in 0..10 {
                let started = Arc::clone(&started);
                let mut work = Box::pin(compiling.run(move || {
                    started.fetch_add(1, Ordering::Relaxed);
                    Ok(())
                }));
                assert!(is_pending(work.as_mut()));
            }
            for _ in 0..threads {
                release.send(()).expect("the threads wait");
            }
            for work in busy {
                assert_eq!(work.await, Ok(()));
            }
            assert_eq!(compiling.run(|| Ok(1)).await, Ok(1));
        });
        assert_eq!(started.load(Ordering::Relaxed), 0);
    }
}
