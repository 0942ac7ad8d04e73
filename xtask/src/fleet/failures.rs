//! Failures of nodes, at random.

use std::collections::BTreeMap;
use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::link::State;
use super::nats::SERVERS;
use super::node::{NODES, Nodes};
use super::services::Service;

/// Maximum jump of a wall clock in seconds, below the lifetimes of the sandboxes.
const MAX_JUMP: u64 = 900;

/// A kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Failure {
    Kill,
    Stop,
    End,
    Clock,
    Server,
    Cut(usize),
    Silent(usize),
    Slow(usize),
}

/// Services whose links fail, by the numbers in [`Failure`].
const SERVICES: [Service; 2] = [Service::Directory, Service::Store];

/// Failures of every run: kills and stops are more frequent.
const OF_NODES: [Failure; 5] = [Failure::Kill, Failure::Kill, Failure::Stop, Failure::Stop, Failure::End];

/// Further ones if the nodes use servers.
const OF_SERVERS: [Failure; 8] = [
    Failure::Server,
    Failure::Server,
    Failure::Cut(0),
    Failure::Silent(0),
    Failure::Slow(0),
    Failure::Cut(1),
    Failure::Silent(1),
    Failure::Slow(1),
];

/// Failures that were caused.
#[derive(Debug, Default)]
pub(super) struct Happened {
    counts: BTreeMap<Failure, usize>,
    errors: Vec<String>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let service = |service: usize| match SERVICES[service] {
            Service::Directory => "the directory",
            Service::Store => "the store",
        };
        match *self {
            Self::Kill => f.write_str("kills of a node (SIGKILL)"),
            Self::Stop => f.write_str("stops of a node (SIGSTOP of 5 to 20 s)"),
            Self::End => f.write_str("ends of a node (SIGTERM)"),
            Self::Clock => write!(f, "jumps of a node's wall clock (up to {MAX_JUMP} s, forward and back)"),
            Self::Server => f.write_str("kills of a server of NATS (SIGKILL)"),
            Self::Cut(number) => write!(f, "cuts of a node's link to {}", service(number)),
            Self::Silent(number) => write!(f, "silences of a node's link to {}", service(number)),
            Self::Slow(number) => write!(f, "delays of a node's link to {}", service(number)),
        }
    }
}

impl fmt::Display for Happened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (failure, count) in &self.counts {
            write!(f, "\n  {count} {failure}")?;
        }
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

/// Causes failures until the end. One node fails at a time; the others must continue its work.
pub(super) fn cause(nodes: &Nodes, end: Instant) -> Happened {
    let (mut random, mut happened) = (Random::new(nodes.seed()), Happened::default());
    let mut kinds = OF_NODES.to_vec();
    if nodes.services().clocks.can_jump() {
        kinds.push(Failure::Clock);
    }
    if nodes.services().servers().is_some() {
        kinds.extend(OF_SERVERS);
    }
    loop {
        wait(Duration::from_millis(2000 + random.below(4000)), end);
        if Instant::now() >= end {
            return happened;
        }
        let number = usize::try_from(random.below(NODES as u64)).unwrap_or_default();
        let kind = kinds[usize::try_from(random.below(kinds.len() as u64)).unwrap_or_default()];
        *happened.counts.entry(kind).or_default() += 1;
        let failed = fail(nodes, number, kind, &mut random, end).and_then(|()| nodes.wait_until_ready(number));
        if let Err(error) = failed {
            happened.errors.push(format!("node {number}, after {kind}: {error:#}"));
        }
    }
}

/// Causes a failure of a node and ends it, except that a clock stays wrong until its next jump.
fn fail(nodes: &Nodes, number: usize, kind: Failure, random: &mut Random, end: Instant) -> Result<()> {
    match kind {
        Failure::Kill => {
            nodes.kill(number)?;
            wait(Duration::from_millis(random.below(15_000)), end);
            nodes.launch(number)
        }
        Failure::Stop => {
            nodes.signal(number, "STOP")?;
            wait(Duration::from_millis(5000 + random.below(15_000)), end);
            nodes.signal(number, "CONT")
        }
        Failure::End => {
            nodes.terminate(number)?;
            wait(Duration::from_millis(random.below(3000)), end);
            nodes.launch(number)
        }
        Failure::Clock => {
            let jump = i64::try_from(random.below(2 * MAX_JUMP)).unwrap_or_default() - MAX_JUMP.cast_signed();
            nodes.services().clocks.set(number, jump)
        }
        Failure::Server => {
            let Some(servers) = nodes.services().servers() else { return Ok(()) };
            let server = usize::try_from(random.below(SERVERS as u64)).unwrap_or_default();
            servers.nats.kill(server)?;
            wait(Duration::from_millis(random.below(10_000)), end);
            servers.nats.launch(server)
        }
        Failure::Cut(service) => break_link(nodes, number, service, State::Cut, random, end),
        Failure::Silent(service) => break_link(nodes, number, service, State::Silent, random, end),
        Failure::Slow(service) => {
            let delay = Duration::from_millis(20 + random.below(600));
            break_link(nodes, number, service, State::Slow(delay), random, end)
        }
    }
}

fn break_link(
    nodes: &Nodes,
    number: usize,
    service: usize,
    state: State,
    random: &mut Random,
    end: Instant,
) -> Result<()> {
    let Some(servers) = nodes.services().servers() else { return Ok(()) };
    servers.set(number, SERVICES[service], state);
    wait(Duration::from_millis(500 + random.below(15_000)), end);
    servers.set(number, SERVICES[service], State::Whole);
    Ok(())
}

fn wait(time: Duration, end: Instant) {
    thread::sleep(time.min(end.saturating_duration_since(Instant::now())));
}
