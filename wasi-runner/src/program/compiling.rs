//! Threads for compiling what guests bring: few, so that modules which take long leave the rest of the machine to others.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::thread::available_parallelism;

use rayon::{ThreadPool, ThreadPoolBuilder};
use tokio::sync::oneshot;

use super::NotAProgram;

/// The threads, started with the first module of a guest.
#[derive(Debug, Default)]
pub(crate) struct Compiling {
    threads: OnceLock<Option<ThreadPool>>,
}

impl Compiling {
    /// Half of the processors.
    fn threads(&self) -> Option<&ThreadPool> {
        let make = || {
            let count = available_parallelism().map_or(1, |all| all.get().div_ceil(2));
            ThreadPoolBuilder::new().num_threads(count).thread_name(|_| "tidebox-compile".to_owned()).build().ok()
        };
        self.threads.get_or_init(make).as_ref()
    }

    /// Compiles on one of the threads. Work that nobody waits for any more when its turn comes is not begun; what was begun goes on
    /// to its end, because a compiler cannot be interrupted.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, NotAProgram> + Send + 'static,
    ) -> Result<T, NotAProgram> {
        let Some(threads) = self.threads() else {
            return Err(NotAProgram("the machine has no thread left to compile it".to_owned()));
        };
        let (done, compiled) = oneshot::channel();
        threads.spawn(move || {
            if done.is_closed() {
                return;
            }
            // A defect of the compiler ends the guest's command and nothing else.
            let result = catch_unwind(AssertUnwindSafe(work));
            let _ = done.send(result.unwrap_or_else(|_| Err(NotAProgram::compiler_failed())));
        });
        compiled.await.unwrap_or_else(|_| Err(NotAProgram::compiler_failed()))
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
    fn a_panic_of_the_compiler_is_an_answer() {
        let compiling = Compiling::default();
        let failed = block_on(compiling.run(|| -> Result<(), _> { panic!("a defect") }));
        assert_eq!(failed, Err(NotAProgram::compiler_failed()));
        assert_eq!(block_on(compiling.run(|| Ok(7))), Ok(7), "the thread is still there");
    }

    #[test]
    fn what_nobody_waits_for_is_not_begun() {
        let (compiling, begun) = (Compiling::default(), Arc::new(AtomicUsize::new(0)));
        block_on(async {
            let (release, wait) = mpsc::channel::<()>();
            let wait = std::sync::Mutex::new(wait);
            let wait = Arc::new(wait);
            let threads = available_parallelism().map_or(1, |all| all.get().div_ceil(2));
            // All threads are busy; the others' work waits for them.
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
                let begun = Arc::clone(&begun);
                let mut work = Box::pin(compiling.run(move || {
                    begun.fetch_add(1, Ordering::Relaxed);
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
        assert_eq!(begun.load(Ordering::Relaxed), 0);
    }
}
