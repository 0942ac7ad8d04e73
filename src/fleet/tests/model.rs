//! Every interleaving of three nodes that renew their leases, claim one shard and append to the log of one sandbox.
//!
//! Nodes are futures that stop before each operation on the directory and on the log. Time passes between any two operations. After
//! each step at most one node may serve, and what was acknowledged is in the log of the node that serves it.

#![allow(clippy::print_stdout, reason = "the numbers show that the search is exhaustive")]

use std::collections::{BTreeMap, HashSet};
use std::future::poll_fn;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use futures_executor::block_on;
use tidebox_core::lock::Mutex;
use tidebox_core::{BoxFuture, Error, ErrorKind, Result};

use crate::choices::Choices;
use crate::fleet::MemoryDirectory;
use crate::fleet::directory::{Beat, Directory, DirectoryView, Node, ShardTable};
use crate::fleet::membership::Membership;

const NODES: usize = 3;

/// Their names. By their hashes the shard belongs to the second node.
const NAMES: [&str; NODES] = ["1", "0", "2"];

const LEASE: Duration = Duration::from_secs(3);

/// State of a run that all nodes share.
#[derive(Debug)]
struct World {
    directory: MemoryDirectory,
    time: Mutex<Duration>,
    /// The node that may do its next operation, and whether the response is lost.
    turn: Mutex<Option<(usize, bool)>>,
    nodes: Mutex<Vec<Position>>,
    /// Entries: node, whether it is a claim, and whether it was acknowledged.
    log: Mutex<Vec<(usize, bool)>>,
    acknowledged: Mutex<Vec<usize>>,
    faults: Mutex<usize>,
    ticks: Mutex<usize>,
    tick: Duration,
    has_appends: bool,
    has_gifts: bool,
}

/// Position of a node, for the comparison of states.
#[derive(Clone, Debug, Default, Hash)]
struct Position {
    step: usize,
    operation: &'static str,
    /// Times that the node remembers outside its state.
    begun: Duration,
    last: Duration,
    head: usize,
}

#[derive(Clone, Debug)]
struct NodeView {
    world: Arc<World>,
    node: usize,
}

impl NodeView {
    /// Waits for the turn of the node. Returns whether the response of the operation is lost.
    async fn turn(&self, operation: &'static str) -> bool {
        let is_lost = poll_fn(|_| {
            let mut turn = self.world.turn.lock();
            match *turn {
                Some((node, is_lost)) if node == self.node => {
                    *turn = None;
                    Poll::Ready(is_lost)
                }
                _ => {
                    self.world.nodes.lock()[self.node].operation = operation;
                    Poll::Pending
                }
            }
        })
        .await;
        let mut nodes = self.world.nodes.lock();
        nodes[self.node].step += 1;
        nodes[self.node].last = *self.world.time.lock();
        is_lost
    }

    /// Waits for the time between two rounds.
    async fn begin(&self) {
        self.turn("begin").await;
        self.world.nodes.lock()[self.node].begun = *self.world.time.lock();
    }
}

fn lost() -> Error {
    Error::new(ErrorKind::Storage, "use directory", "the response was lost")
}

impl Directory for NodeView {
    fn beat<'a>(&'a self, beat: &'a Beat) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.turn("beat").await;
            self.world.directory.beat_now(beat);
            Ok(())
        })
    }

    fn view(&self) -> BoxFuture<'_, Result<DirectoryView>> {
        Box::pin(async move {
            self.turn("view").await;
            Ok(self.world.directory.view_now())
        })
    }

    fn propose<'a>(&'a self, table: &'a ShardTable) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            let is_lost = self.turn("propose").await;
            let is_written = self.world.directory.propose_now(table);
            if is_lost { Err(lost()) } else { Ok(is_written) }
        })
    }

    fn forget<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<()>> {
        unreachable!("no node leaves")
    }
}

/// Rounds of a node. While it serves, it takes the sandbox over once and appends once in each round.
async fn rounds(view: NodeView, membership: Arc<Membership>, rounds: usize) {
    let mut head = None;
    for _ in 0..rounds {
        view.begin().await;
        // The next round follows after an error.
        let _ = match membership.renew().await {
            Ok(()) => membership.claim().await.map(|_| ()),
            Err(error) => Err(error),
        };
        if view.world.has_gifts {
            let excess = membership.close_excess();
            if !excess.is_empty() {
                // After an error the shard stays closed, and the next round repeats it.
                let _ = membership.give(&excess).await;
            }
        }
        if !view.world.has_appends || !membership.serves(0) {
            continue;
        }
        let mut is_owner = true;
        for is_claim in [true, false] {
            if is_claim && head.is_some() {
                continue;
            }
            if is_claim {
                view.turn("load").await;
                head = Some(view.world.log.lock().len());
                note_head(&view, head);
            }
            view.turn("append").await;
            is_owner = append(&view, &mut head, is_claim);
            note_head(&view, head);
            if !is_owner {
                break;
            }
        }
        if is_owner && membership.serves(0) {
            let entry = head.unwrap_or_default() - 1;
            view.world.acknowledged.lock().push(entry);
        }
    }
}

fn note_head(view: &NodeView, head: Option<usize>) {
    view.world.nodes.lock()[view.node].head = head.map_or(0, |head| head + 1);
}

/// Creates the next entry if its number is free.
fn append(view: &NodeView, head: &mut Option<usize>, is_claim: bool) -> bool {
    let mut log = view.world.log.lock();
    if *head != Some(log.len()) {
        *head = None;
        return false;
    }
    log.push((view.node, is_claim));
    *head = Some(log.len());
    true
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Go(usize, bool),
    Tick,
}

#[derive(Clone, Copy, Debug)]
struct Bounds {
    rounds: [usize; NODES],
    /// Number of times that pass, and how many thirds of a lease each is.
    ticks: usize,
    thirds: u32,
    /// Responses to a claim that are lost.
    faults: usize,
    has_appends: bool,
    /// The owner gives the shard to the node that should have it.
    has_gifts: bool,
}

type Running = Pin<Box<dyn Future<Output = ()>>>;

#[derive(Debug, Default)]
struct Totals {
    runs: usize,
    states: usize,
    acknowledged: usize,
    /// Nodes that served the shard at any time.
    owners: HashSet<usize>,
}

fn new_world(bounds: Bounds) -> Arc<World> {
    Arc::new(World {
        directory: MemoryDirectory::with_shards(1),
        time: Mutex::default(),
        turn: Mutex::default(),
        nodes: Mutex::new(vec![Position::default(); NODES]),
        log: Mutex::default(),
        acknowledged: Mutex::default(),
        faults: Mutex::new(bounds.faults),
        ticks: Mutex::new(bounds.ticks),
        tick: LEASE / 3 * bounds.thirds,
        has_appends: bounds.has_appends,
        has_gifts: bounds.has_gifts,
    })
}

fn member(world: &Arc<World>, directory: Arc<dyn Directory>, node: usize) -> Membership {
    let clock = Arc::clone(world);
    let node = Node { name: NAMES[node].to_owned(), addresses: BTreeMap::new() };
    Membership::with_shards(directory, node, LEASE, Arc::new(move || *clock.time.lock()), 1)
}

fn steps(world: &World, running: &[bool]) -> Vec<Step> {
    let mut steps = Vec::new();
    for (node, _) in running.iter().enumerate().filter(|(_, is_running)| **is_running) {
        steps.push(Step::Go(node, false));
        if world.nodes.lock()[node].operation == "propose" && *world.faults.lock() > 0 {
            steps.push(Step::Go(node, true));
        }
    }
    if *world.ticks.lock() > 0 {
        steps.push(Step::Tick);
    }
    steps
}

fn state(world: &World, members: &[Arc<Membership>], running: &[bool]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for member in members {
        member.fingerprint().hash(&mut hasher);
    }
    let view = world.directory.view_now();
    (view.beats, view.table, &*world.nodes.lock(), &*world.log.lock(), running).hash(&mut hasher);
    (*world.time.lock(), *world.faults.lock(), &*world.acknowledged.lock()).hash(&mut hasher);
    hasher.finish()
}

fn check(world: &World, members: &[Arc<Membership>], choices: &Choices) {
    let serving = members.iter().filter(|member| member.serves(0)).count();
    assert!(serving <= 1, "{serving} nodes serve: {choices:?} {world:?}");
    let log = world.log.lock();
    let mut owner = None;
    for (node, is_claim) in log.iter() {
        assert!(*is_claim || owner == Some(node), "{node} writes what another one has taken: {log:?}");
        owner = Some(node);
    }
    assert!(world.acknowledged.lock().iter().all(|entry| *entry < log.len()), "{log:?}");
}

fn run(bounds: Bounds, choices: &mut Choices, known: &mut HashSet<u64>, totals: &mut Totals) {
    let world = new_world(bounds);
    let view = |node| NodeView { world: Arc::clone(&world), node };
    let members: Vec<Arc<Membership>> =
        (0..NODES).map(|node| Arc::new(member(&world, Arc::new(view(node)), node))).collect();
    let mut nodes: Vec<Option<Running>> = (0..NODES)
        .map(|node| Some(Box::pin(rounds(view(node), Arc::clone(&members[node]), bounds.rounds[node])) as Running))
        .collect();
    let mut context = Context::from_waker(Waker::noop());
    let mut poll = |nodes: &mut Vec<Option<Running>>, node: usize| {
        let is_done = nodes[node].as_mut().is_some_and(|running| running.as_mut().poll(&mut context).is_ready());
        if is_done {
            nodes[node] = None;
        }
    };
    (0..NODES).for_each(|node| poll(&mut nodes, node));
    // The first node has the shard before the others start.
    while world.nodes.lock()[0].step < 5 {
        *world.turn.lock() = Some((0, false));
        poll(&mut nodes, 0);
    }
    assert!(members[0].serves(0));
    loop {
        let running: Vec<bool> = nodes.iter().map(Option::is_some).collect();
        let steps = steps(&world, &running);
        if !running.contains(&true) {
            break;
        }
        if choices.is_new() && !known.insert(state(&world, &members, &running)) {
            return;
        }
        match steps[choices.choose(steps.len())] {
            Step::Go(node, is_lost) => {
                *world.faults.lock() -= usize::from(is_lost);
                *world.turn.lock() = Some((node, is_lost));
                poll(&mut nodes, node);
            }
            Step::Tick => {
                *world.ticks.lock() -= 1;
                *world.time.lock() += world.tick;
            }
        }
        check(&world, &members, choices);
        totals.owners.extend((0..NODES).filter(|node| members[*node].serves(0)));
    }
    totals.acknowledged += world.acknowledged.lock().len();
}

fn search(bounds: Bounds) {
    let (mut choices, mut known, mut totals, start) =
        (Choices::default(), HashSet::new(), Totals::default(), Instant::now());
    loop {
        run(bounds, &mut choices, &mut known, &mut totals);
        totals.runs += 1;
        if !choices.advance() {
            break;
        }
    }
    totals.states = known.len();
    println!(
        "{bounds:?}: {} runs, {} states, {} acknowledged, {} nodes served, {:.1} s",
        totals.runs,
        totals.states,
        totals.acknowledged,
        totals.owners.len(),
        start.elapsed().as_secs_f64()
    );
    assert!((totals.acknowledged > 0) == bounds.has_appends && totals.owners.len() >= 2, "{totals:?}");
}

#[test]
fn every_order_of_an_owner_and_a_claim_has_one_owner() {
    search(Bounds { rounds: [2, 2, 0], ticks: 4, thirds: 1, faults: 1, has_appends: true, has_gifts: false });
}

#[test]
fn every_order_of_three_nodes_has_one_owner() {
    search(Bounds { rounds: [2, 2, 1], ticks: 2, thirds: 2, faults: 0, has_appends: false, has_gifts: false });
}

#[test]
fn every_order_of_two_claims_has_one_owner() {
    search(Bounds { rounds: [1, 2, 2], ticks: 3, thirds: 1, faults: 0, has_appends: false, has_gifts: false });
}

#[test]
fn every_order_of_a_gift_and_a_claim_has_one_owner() {
    search(Bounds { rounds: [2, 2, 0], ticks: 4, thirds: 1, faults: 1, has_appends: false, has_gifts: true });
}

#[test]
fn a_node_serves_alone_from_the_start() {
    let world =
        new_world(Bounds { rounds: [0; NODES], ticks: 0, thirds: 1, faults: 0, has_appends: false, has_gifts: false });
    let alone = member(&world, Arc::new(world.directory.clone()), 0);
    block_on(async {
        alone.renew().await.unwrap();
        assert_eq!(alone.claim().await.unwrap(), 1);
    });
    assert!(alone.serves(0));
    *world.time.lock() += LEASE * 2 / 3;
    assert!(!alone.serves(0), "two thirds of the lease are over");
}
