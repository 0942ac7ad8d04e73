//! Failures of nodes, at random.

use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use super::node::{NODES, Nodes};

/// Failures that were caused.
#[derive(Debug, Default)]
pub(super) struct Happened {
    kills: usize,
    stops: usize,
    ends: usize,
    errors: Vec<String>,
}

impl fmt::Display for Happened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} kills (SIGKILL), {} stops (SIGSTOP of 5 to 20 s), {} ends (SIGTERM)",
            self.kills, self.stops, self.ends
        )?;
        self.errors.iter().try_for_each(|error| write!(f, "\n  {error}"))
    }
}

/// Pseudo-random numbers (xorshift).
#[derive(Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `bound`.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

/// Causes failures until the end. One node fails at a time; the others must continue its work .
pub(super) fn cause(nodes: &Nodes, end: Instant) -> Happened {
    let (mut random, mut happened) = (Random::new(nodes.seed()), Happened::default());
    while Instant::now() < end {
        wait(Duration::from_millis(2000 + random.below(4000)), end);
        let number = usize::try_from(random.below(NODES as u64)).unwrap_or_default();
        if let Err(error) = fail(nodes, number, &mut random, &mut happened, end) {
            happened.errors.push(format!("node {number}: {error:#}"));
        }
    }
    happened
}

fn fail(
    nodes: &Nodes,
    number: usize,
    random: &mut Random,
    happened: &mut Happened,
    end: Instant,
) -> anyhow::Result<()> {
    match random.below(5) {
        0..=1 => {
            happened.kills += 1;
            nodes.kill(number)?;
            wait(Duration::from_millis(random.below(8000)), end);
            nodes.launch(number)?;
        }
        2..=3 => {
            happened.stops += 1;
            nodes.signal(number, "STOP")?;
            wait(Duration::from_millis(5000 + random.below(15_000)), end);
            return nodes.signal(number, "CONT");
        }
        _ => {
            happened.ends += 1;
            nodes.terminate(number)?;
            wait(Duration::from_millis(random.below(3000)), end);
            nodes.launch(number)?;
        }
    }
    nodes.wait_until_ready(number)
}

fn wait(time: Duration, end: Instant) {
    thread::sleep(time.min(end.saturating_duration_since(Instant::now())));
}
