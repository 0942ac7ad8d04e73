//! Time and randomness as JavaScript hands them in.

use tidebox_kernel::{Clock, Entropy};

use crate::host;

/// The platform's clocks.
#[derive(Debug)]
pub(crate) struct PlatformClock;

/// Browsers tell no more than microseconds, and a number of JavaScript could not hold nanoseconds since 1970.
fn nanoseconds(milliseconds: f64) -> u64 {
    ((milliseconds.max(0.0) * 1e3) as u64).saturating_mul(1000)
}

impl Clock for PlatformClock {
    fn realtime(&self) -> u64 {
        nanoseconds(host::realtime())
    }

    fn monotonic(&self) -> u64 {
        nanoseconds(host::monotonic())
    }

    fn fork(&self) -> Box<dyn Clock> {
        Box::new(Self)
    }
}

/// The platform's randomness.
#[derive(Debug)]
pub(crate) struct PlatformEntropy;

impl Entropy for PlatformEntropy {
    fn fill(&mut self, dst: &mut [u8]) {
        host::random(dst);
    }

    fn fork(&self) -> Box<dyn Entropy> {
        Box::new(Self)
    }
}
