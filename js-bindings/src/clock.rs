//! Clock and entropy from JavaScript.

use tidebox_kernel::{Clock, Entropy};

use crate::js_imports;

/// The platform's clocks.
#[derive(Debug)]
pub(crate) struct PlatformClock;

/// Browsers have microsecond resolution, and a JavaScript number cannot represent the nanoseconds since 1970.
fn nanoseconds(milliseconds: f64) -> u64 {
    ((milliseconds.max(0.0) * 1e3) as u64).saturating_mul(1000)
}

impl Clock for PlatformClock {
    fn realtime(&self) -> u64 {
        nanoseconds(js_imports::realtime())
    }

    fn monotonic(&self) -> u64 {
        nanoseconds(js_imports::monotonic())
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
        js_imports::random(dst);
    }

    fn fork(&self) -> Box<dyn Entropy> {
        Box::new(Self)
    }
}
