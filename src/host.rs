//! Time, randomness and the cache folder of the real machine: the one place where the library looks at them.

use std::path::PathBuf;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use tidebox_kernel::{Clock, Entropy};
use tidebox_wasi_runner::CacheDir;

/// The machine's clocks.
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
        let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX)
    }

    fn monotonic(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn fork(&self) -> Box<dyn Clock> {
        Box::new(Self { start: self.start })
    }
}

/// The operating system's random numbers.
#[derive(Debug)]
pub(crate) struct HostEntropy;

impl Entropy for HostEntropy {
    fn fill(&mut self, dst: &mut [u8]) {
        // A machine that cannot give random numbers must not go on with predictable ones, and there is no value that a
        // guest could be given instead.
        getrandom::fill(dst).expect("the operating system gives random numbers");
    }

    fn fork(&self) -> Box<dyn Entropy> {
        Box::new(Self)
    }
}

/// Where native code is kept between runs: `tidebox/aot` in the user's cache folder. `None` when there is no such place, or
/// others could write to it; programs are compiled anew then.
pub(crate) fn cache_dir() -> Option<CacheDir> {
    CacheDir::open(user_cache()?.join("aot")).ok()
}

/// Where packs are kept: `tidebox/packs` in the user's cache folder.
pub(crate) fn packs_dir() -> Option<PathBuf> {
    Some(user_cache()?.join("packs"))
}

/// `tidebox` in `XDG_CACHE_HOME`, or in `.cache` in the home folder.
fn user_cache() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
        .or_else(|| Some(std::env::home_dir()?.join(".cache")))?;
    Some(base.join("tidebox"))
}
