//! Clock, entropy, executor and cache directory of the host. No other part of the library accesses them.

use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tidebox_core::BoxFuture;
use tidebox_kernel::{Clock, Entropy};
use tidebox_vfs_backend::Tasks;
use tidebox_wasi_runner::CacheDir;

/// The host's clocks.
#[derive(Debug)]
pub(crate) struct HostClock {
    start: Instant,
}

impl HostClock {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock for HostClock {
    fn realtime(&self) -> u64 {
        unix_nanos()
    }

    fn monotonic(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn fork(&self) -> Box<dyn Clock> {
        Box::new(Self { start: self.start })
    }
}

/// Returns nanoseconds since the Unix epoch; 0 if the clock is before it.
pub(crate) fn unix_nanos() -> u64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}

/// The operating system's random numbers.
#[derive(Debug)]
pub(crate) struct HostEntropy;

impl Entropy for HostEntropy {
    fn fill(&mut self, dst: &mut [u8]) {
        // Without random numbers the program must abort: predictable ones would be unsafe, and the guest ABI has no error here.
        getrandom::fill(dst).expect("the operating system gives random numbers");
    }

    fn fork(&self) -> Box<dyn Entropy> {
        Box::new(Self)
    }
}

/// The Tokio runtime of the caller.
#[derive(Debug)]
pub(crate) struct TokioTasks;

impl Tasks for TokioTasks {
    fn start(&self, task: BoxFuture<'static, ()>) -> Result<(), String> {
        let runtime = tokio::runtime::Handle::try_current()
            .map_err(|_| "a process that outlives its call must be started inside a Tokio runtime".to_owned())?;
        runtime.spawn(task);
        Ok(())
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(duration))
    }
}

/// Returns the cache of native code: `tidebox/aot` in the user's cache directory. `None` without a cache directory, or if others
/// may write to it; programs are then compiled again.
pub(crate) fn cache_dir() -> Option<CacheDir> {
    CacheDir::open(user_cache()?.join("aot")).ok()
}

/// Returns `tidebox/packs` in the user's cache directory.
pub(crate) fn packs_dir() -> Option<PathBuf> {
    Some(user_cache()?.join("packs"))
}

/// Returns `tidebox` in `XDG_CACHE_HOME`, or in `.cache` in the home directory.
pub(crate) fn user_cache() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
        .or_else(|| Some(std::env::home_dir()?.join(".cache")))?;
    Some(base.join("tidebox"))
}
