//! Time and randomness are policy of the embedder: the kernel asks these two ports and nothing else.

use std::cell::Cell;

/// Where the kernel reads the time.
pub trait Clock: Send {
    /// Nanoseconds since the Unix epoch.
    fn realtime(&self) -> u64;

    /// Nanoseconds since a moment of the clock's choice; never goes back.
    fn monotonic(&self) -> u64;

    /// Lets time pass without waiting, for a clock that is not bound to the world's: after `true`, `monotonic` is at
    /// least `until`. A real clock answers `false` (the default), and the engine has to sleep.
    fn skip_to(&self, until: u64) -> bool {
        let _ = until;
        false
    }

    /// Whether time passes only by [`Self::skip_to`]. Then a run has to be repeatable, and engines take care that
    /// nothing depends on how fast the machine is. Default `false`.
    fn is_virtual(&self) -> bool {
        false
    }

    /// A clock for a fork of the sandbox, which goes on from the same moment and on its own.
    fn fork(&self) -> Box<dyn Clock>;
}

/// Where the kernel takes random bytes from.
pub trait Entropy: Send {
    /// Fills all of `dst`.
    fn fill(&mut self, dst: &mut [u8]);

    /// A source for a fork of the sandbox. One that is repeatable gives the fork the bytes that would have come here.
    fn fork(&self) -> Box<dyn Entropy>;
}

/// A clock that stands still while programs compute and jumps when all of them wait, so that a run is repeatable and
/// `sleep 60` takes no time. A program that spins until a later time never sees it; the wall-time limit ends it.
#[derive(Clone, Debug)]
pub struct FixedClock {
    start: u64,
    passed: Cell<u64>,
}

impl FixedClock {
    /// A clock that begins at `realtime` nanoseconds since the Unix epoch.
    pub fn new(realtime: u64) -> Self {
        Self { start: realtime, passed: Cell::new(0) }
    }
}

impl Clock for FixedClock {
    fn realtime(&self) -> u64 {
        self.start.saturating_add(self.passed.get())
    }

    fn monotonic(&self) -> u64 {
        self.passed.get()
    }

    fn skip_to(&self, until: u64) -> bool {
        self.passed.set(self.passed.get().max(until));
        true
    }

    fn is_virtual(&self) -> bool {
        true
    }

    fn fork(&self) -> Box<dyn Clock> {
        Box::new(self.clone())
    }
}

/// Repeatable bytes from a seed (SplitMix64). Not cryptographic: for deterministic mode only, where being guessable
/// is the point.
#[derive(Clone, Debug)]
pub struct SeededEntropy {
    state: u64,
}

impl SeededEntropy {
    /// Equal seeds give equal bytes.
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
        assert_ne!(bytes(7)[16..], [0; 5], "the tail that is no whole word is filled too");
    }

    #[test]
    fn a_fixed_clock_moves_only_when_told_and_never_back() {
        let clock = FixedClock::new(1_000);
        assert_eq!((clock.realtime(), clock.monotonic()), (1_000, 0));
        assert!(clock.skip_to(50));
        assert!(clock.skip_to(20));
        assert_eq!((clock.realtime(), clock.monotonic()), (1_050, 50));
    }
}
