//! Clock and entropy interfaces; the embedder provides both.

use std::cell::Cell;

/// Source of time.
pub trait Clock: Send {
    /// Returns nanoseconds since the Unix epoch.
    fn realtime(&self) -> u64;

    /// Returns nanoseconds since an arbitrary moment; never goes back.
    fn monotonic(&self) -> u64;

    /// Advances a virtual clock without waiting: after `true`, `monotonic` is at least `until`. A real clock returns `false` (the
    /// default), and the engine has to sleep.
    fn advance_to(&self, until: u64) -> bool {
        let _ = until;
        false
    }

    /// Returns whether time passes only by [`Self::advance_to`]. Runs must be deterministic then, and engines must not let
    /// anything depend on the speed of the host. Default `false`.
    fn is_virtual(&self) -> bool {
        false
    }

    /// Creates a clock for a fork of the sandbox, which continues independently from the same moment.
    fn fork(&self) -> Box<dyn Clock>;
}

/// Source of random bytes.
pub trait Entropy: Send {
    /// Fills all of `dst`.
    fn fill(&mut self, dst: &mut [u8]);

    /// Creates a source for a fork of the sandbox. A deterministic one gives the fork the bytes that this source would have
    /// returned.
    fn fork(&self) -> Box<dyn Entropy>;
}

/// A clock that stands still while programs compute and jumps when all of them wait, so that a run is deterministic and `sleep
/// 60` takes no time. A program that spins until a later time never reaches it; the timeout ends it.
#[derive(Clone, Debug)]
pub struct VirtualClock {
    start: u64,
    elapsed: Cell<u64>,
}

impl VirtualClock {
    /// Creates a clock that starts at `realtime` nanoseconds since the Unix epoch.
    pub fn new(realtime: u64) -> Self {
        Self { start: realtime, elapsed: Cell::new(0) }
    }
}

impl Clock for VirtualClock {
    fn realtime(&self) -> u64 {
        self.start.saturating_add(self.elapsed.get())
    }

    fn monotonic(&self) -> u64 {
        self.elapsed.get()
    }

    fn advance_to(&self, until: u64) -> bool {
        self.elapsed.set(self.elapsed.get().max(until));
        true
    }

    fn is_virtual(&self) -> bool {
        true
    }

    fn fork(&self) -> Box<dyn Clock> {
        Box::new(self.clone())
    }
}

/// Deterministic bytes from a seed (SplitMix64). Not cryptographic: only for deterministic mode, which requires predictable
/// bytes.
#[derive(Clone, Debug)]
pub struct SeededEntropy {
    state: u64,
}

impl SeededEntropy {
    /// Creates a source. Equal seeds give equal bytes.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Entropy for SeededEntropy {
    fn fill(&mut self, dst: &mut [u8]) {
        for chunk in dst.chunks_mut(8) {
            let word = self.next().to_le_bytes();
            for (to, from) in chunk.iter_mut().zip(word) {
                *to = from;
            }
        }
    }

    fn fork(&self) -> Box<dyn Entropy> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_bytes_and_others_do_not() {
        let bytes = |seed| {
            let mut out = [0u8; 21];
            SeededEntropy::new(seed).fill(&mut out);
            out
        };
        assert_eq!(bytes(7), bytes(7));
        assert_ne!(bytes(7), bytes(8));
        assert_ne!(bytes(7)[16..], [0; 5], "the incomplete last word is filled");
    }

    #[test]
    fn a_virtual_clock_moves_only_forward_on_request() {
        let clock = VirtualClock::new(1_000);
        assert_eq!((clock.realtime(), clock.monotonic()), (1_000, 0));
        assert!(clock.advance_to(50));
        assert!(clock.advance_to(20));
        assert_eq!((clock.realtime(), clock.monotonic()), (1_050, 50));
    }
}
