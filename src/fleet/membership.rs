//! Lease and shards of one node. The rules are those of the model in `tests/model.rs`.
//!
//! 1. A node serves a shard while it has a lease: until two thirds of its time after the *start* of a sign of life that was
//!    followed by a view whose table names the node.
//! 2. A node takes shards of another one only after the whole time without a new sign of life from it, by its own clock. Afterwards
//!    it serves immediately if the other one has had the shard for the whole time, and no sign of life has come until the table was
//!    written: each later one is followed by a view of that table. Otherwise it waits for the whole time, in which all earlier
//!    leases end.
//! 3. A node that gives a shard away stops to serve it first. The new one serves as soon as it sees the table.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tidebox_core::lock::Mutex;
use tidebox_core::{Error, ErrorKind, Result};

use crate::fleet::directory::{Beat, Directory, DirectoryView, Node, ShardTable};
use crate::fleet::placement;

/// Attempts to write a table while others write some.
const ATTEMPTS: usize = 5;

/// Returns the time since an arbitrary moment. It never goes back.
pub(super) type Now = Arc<dyn Fn() -> Duration + Send + Sync>;

/// The part of one node in a fleet.
pub(crate) struct Membership {
    directory: Arc<dyn Directory>,
    node: Node,
    me: Arc<str>,
    lease: Duration,
    now: Now,
    state: Mutex<State>,
    /// Requests in progress by shard.
    running: Vec<Arc<AtomicUsize>>,
}

#[derive(Debug, Default, Hash)]
struct State {
    count: u64,
    is_leaving: bool,
    lease_end: Option<Duration>,
    table: ShardTable,
    /// The node of each shard, and the time since which it was seen to be that one.
    seen_owners: Vec<(Option<Arc<str>>, Duration)>,
    beats: BTreeMap<Arc<str>, SeenBeat>,
    /// Own shards for which the node serves only later.
    ready_at: BTreeMap<u16, Duration>,
    /// Own shards that are being given away.
    closing: BTreeSet<u16>,
    /// Shards of other nodes that were claimed with an unknown result.
    attempted: BTreeSet<u16>,
    /// Shards that the node has lost.
    lost: BTreeSet<u16>,
    /// Placement for a set of nodes.
    placed: (Vec<Arc<str>>, Vec<Arc<str>>),
}

/// The newest sign of life of a node.
#[derive(Clone, Debug, Hash)]
struct SeenBeat {
    beat: Beat,
    since: Duration,
}

/// The node of a shard, as this node knows.
#[derive(Debug)]
pub(crate) enum ShardLocation {
    Here(RunningRequest),
    Elsewhere(Node),
    Nowhere,
}

/// A request in progress, until it is dropped.
#[derive(Debug)]
pub(crate) struct RunningRequest(Arc<AtomicUsize>);

impl RunningRequest {
    pub(crate) fn into_guard(self) -> Box<dyn Any + Send + Sync> {
        Box::new(self)
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl fmt::Debug for Membership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Membership").field("node", &self.node).field("lease", &self.lease).finish_non_exhaustive()
    }
}

impl State {
    fn owner(&self, shard: u16) -> Option<&Arc<str>> {
        self.table.owner(shard)
    }

    fn shards(&self) -> impl Iterator<Item = u16> + use<> {
        0..u16::try_from(self.table.owners.len()).unwrap_or(u16::MAX)
    }

    /// Returns whether a node has given no sign of life for the time of a lease.
    fn is_dead(&self, node: &str, lease: Duration, now: Duration) -> bool {
        self.beats.get(node).is_none_or(|seen| now.saturating_sub(seen.since) >= lease)
    }
}

impl Membership {
    pub(super) fn new(directory: Arc<dyn Directory>, node: Node, lease: Duration, now: Now) -> Self {
        Self::with_shards(directory, node, lease, now, usize::from(super::SHARDS))
    }

    pub(super) fn with_shards(
        directory: Arc<dyn Directory>,
        node: Node,
        lease: Duration,
        now: Now,
        shards: usize,
    ) -> Self {
        let table = ShardTable { number: 0, owners: vec![None; shards] };
        let seen_owners = vec![(None, now()); shards];
        let state = Mutex::new(State { table, seen_owners, ..State::default() });
        let (me, running) = (node.name.as_str().into(), (0..shards).map(|_| Arc::default()).collect());
        Self { directory, node, me, lease, now, state, running }
    }

    fn is_mine(&self, state: &State, shard: u16) -> bool {
        state.owner(shard) == Some(&self.me)
    }

    /// Returns whether the node serves a shard.
    pub(crate) fn serves(&self, shard: u16) -> bool {
        self.serves_at(&self.state.lock(), shard, (self.now)())
    }

    fn serves_at(&self, state: &State, shard: u16, now: Duration) -> bool {
        let has_lease = state.lease_end.is_some_and(|end| now < end);
        let is_ready = state.ready_at.get(&shard).is_none_or(|ready| now >= *ready);
        has_lease && is_ready && self.is_mine(state, shard) && !state.closing.contains(&shard)
    }

    /// Returns the location of a shard, and registers a request if it is here.
    pub(crate) fn locate(&self, shard: u16) -> ShardLocation {
        let state = self.state.lock();
        if self.is_mine(&state, shard) {
            let (Some(running), true) =
                (self.running.get(usize::from(shard)), self.serves_at(&state, shard, (self.now)()))
            else {
                return ShardLocation::Nowhere;
            };
            // Under the lock: the shard cannot start to close in between.
            running.fetch_add(1, Ordering::AcqRel);
            return ShardLocation::Here(RunningRequest(Arc::clone(running)));
        }
        let owner = state.owner(shard).and_then(|owner| state.beats.get(owner));
        owner.map_or(ShardLocation::Nowhere, |seen| ShardLocation::Elsewhere(seen.beat.node.clone()))
    }

    /// Gives a sign of life and reads the directory. Renews the lease.
    pub(super) async fn renew(&self) -> Result<()> {
        let start = (self.now)();
        let (beat, known) = {
            let mut state = self.state.lock();
            state.count = state.count.saturating_add(1);
            let beat = Beat { node: self.node.clone(), count: state.count, is_leaving: state.is_leaving };
            (beat, state.table.clone())
        };
        self.directory.beat(&beat).await?;
        let view = self.directory.view().await?;
        let is_other = view.table.number == known.number && view.table != known;
        if view.table.number < known.number || is_other {
            // Another node may have claimed the shards of this one in a table that it does not take over.
            let message = "the directory of nodes has lost its table of shards; restart this node";
            return Err(Error::new(ErrorKind::Storage, "renew lease", message));
        }
        self.apply(view);
        self.state.lock().lease_end = start.checked_add(self.lease * 2 / 3);
        Ok(())
    }

    /// Takes over what was read. Two tasks may do so in another order than they have read.
    fn apply(&self, view: DirectoryView) {
        let now = (self.now)();
        let mut state = self.state.lock();
        if view.table.number >= state.table.number {
            self.apply_table(&mut state, view.table, now);
        }
        let mut beats = BTreeMap::new();
        for beat in view.beats {
            let name: Arc<str> = beat.node.name.as_str().into();
            let seen = match state.beats.get(&name) {
                Some(seen) if seen.beat.count >= beat.count => seen.clone(),
                _ => SeenBeat { beat, since: now },
            };
            beats.insert(name, seen);
        }
        state.beats = beats;
    }

    fn apply_table(&self, state: &mut State, table: ShardTable, now: Duration) {
        for shard in state.shards() {
            let owner = table.owner(shard).cloned();
            let Some(seen) = state.seen_owners.get_mut(usize::from(shard)) else { continue };
            if seen.0 == owner {
                continue;
            }
            let (had, has) = (seen.0.as_ref() == Some(&self.me), owner.as_ref() == Some(&self.me));
            *seen = (owner, now);
            state.ready_at.remove(&shard);
            if had {
                state.closing.remove(&shard);
                state.lost.insert(shard);
            }
            if has && state.attempted.contains(&shard) {
                // Rule 2. An attempt that was reported as failed can have succeeded after all.
                state.ready_at.insert(shard, now.saturating_add(self.lease));
            }
        }
        state.table = table;
    }

    /// Returns the shards that the node has lost since the last call.
    pub(super) fn take_lost(&self) -> BTreeSet<u16> {
        std::mem::take(&mut self.state.lock().lost)
    }

    /// Returns the node of each shard as it should be. Empty while no node takes any.
    fn wanted(&self, state: &mut State, now: Duration) -> Vec<Arc<str>> {
        let is_candidate = |(name, seen): &(&Arc<str>, &SeenBeat)| {
            !seen.beat.is_leaving && (**name == self.me || !state.is_dead(name, self.lease, now))
        };
        let nodes: Vec<Arc<str>> = state.beats.iter().filter(is_candidate).map(|(name, _)| Arc::clone(name)).collect();
        if state.placed.0 != nodes || state.placed.1.is_empty() {
            let placed = if nodes.is_empty() { Vec::new() } else { placement::place(&nodes, state.table.owners.len()) };
            state.placed = (nodes, placed);
        }
        state.placed.1.clone()
    }

    /// Claims shards without a node, and those of nodes that have failed. Returns how many.
    pub(super) async fn claim(&self) -> Result<usize> {
        for _ in 0..ATTEMPTS {
            let Some(claim) = self.next_claim() else { return Ok(0) };
            let is_written = self.directory.propose(&claim.table).await?;
            let view = self.directory.view().await?;
            self.apply(view);
            self.settle(&claim, is_written);
            if is_written {
                return Ok(claim.shards.len());
            }
        }
        Ok(0)
    }

    fn next_claim(&self) -> Option<Claim> {
        let now = (self.now)();
        let mut state = self.state.lock();
        if state.is_leaving {
            return None;
        }
        let wanted = self.wanted(&mut state, now);
        let mut claim = Claim::default();
        for (shard, wanted) in state.shards().zip(&wanted) {
            if *wanted != self.me || self.is_mine(&state, shard) {
                continue;
            }
            match state.owner(shard) {
                None => claim.shards.push(shard),
                Some(owner) if state.is_dead(owner, self.lease, now) => {
                    let since = state.seen_owners.get(usize::from(shard)).map_or(now, |seen| seen.1);
                    let count = state.beats.get(owner).map(|seen| seen.beat.count);
                    if now.saturating_sub(since) >= self.lease {
                        claim.ended.push((shard, Arc::clone(owner), count));
                    }
                    claim.shards.push(shard);
                    state.attempted.insert(shard);
                }
                Some(_) => {}
            }
        }
        claim.table = state.table.with(claim.shards.iter().map(|shard| (*shard, Some(Arc::clone(&self.me)))));
        (!claim.shards.is_empty()).then_some(claim)
    }

    /// Shortens the time of rule 2 for shards whose node has certainly ended.
    fn settle(&self, claim: &Claim, is_written: bool) {
        let mut state = self.state.lock();
        if is_written {
            for (shard, owner, count) in &claim.ended {
                let current = state.beats.get(owner).map(|seen| seen.beat.count);
                if current == *count && self.is_mine(&state, *shard) {
                    state.ready_at.remove(shard);
                }
            }
        }
        // The number of the attempt is taken, so its fate is decided.
        if state.table.number >= claim.table.number {
            for shard in &claim.shards {
                state.attempted.remove(shard);
            }
        }
    }

    /// Removes the signs of life of nodes that have failed and have no shard any more.
    pub(super) async fn forget_failed(&self) -> Result<()> {
        let failed: Vec<Arc<str>> = {
            let (now, state) = ((self.now)(), self.state.lock());
            let owners: BTreeSet<&Arc<str>> = state.table.owners.iter().flatten().collect();
            let is_failed = |name: &&Arc<str>| {
                // Long enough that a view which is being read is not confused.
                **name != self.me && !owners.contains(*name) && state.is_dead(name, self.lease * 6, now)
            };
            state.beats.keys().filter(is_failed).cloned().collect()
        };
        for node in failed {
            self.directory.forget(&node).await?;
        }
        Ok(())
    }

    /// Starts to give away the shards that belong to other nodes and have no request in progress; all that the node serves if it
    /// leaves. Returns them with the new nodes. The node does not serve them any more.
    pub(super) fn close_excess(&self) -> BTreeMap<u16, Option<Arc<str>>> {
        let now = (self.now)();
        let mut state = self.state.lock();
        let wanted = self.wanted(&mut state, now);
        let mut excess = BTreeMap::new();
        for shard in state.shards() {
            let target = wanted.get(usize::from(shard)).filter(|wanted| **wanted != self.me).cloned();
            let is_excess = target.is_some() || state.is_leaving;
            // One that is closing was not given away the last time.
            let is_own =
                self.serves_at(&state, shard, now) || (state.closing.contains(&shard) && self.is_mine(&state, shard));
            if is_excess && is_own && (state.is_leaving || self.is_idle(shard)) {
                excess.insert(shard, target);
            }
        }
        state.closing.extend(excess.keys());
        excess
    }

    /// Answers for shards again.
    fn reopen(&self, shards: impl IntoIterator<Item = u16>) {
        let mut state = self.state.lock();
        for shard in shards {
            state.closing.remove(&shard);
        }
    }

    /// Returns whether no request of a shard is in progress.
    fn is_idle(&self, shard: u16) -> bool {
        self.running.get(usize::from(shard)).is_none_or(|running| running.load(Ordering::Acquire) == 0)
    }

    /// Gives closed shards to other nodes. On an error they stay closed, because the table may have been written.
    pub(super) async fn give(&self, shards: &BTreeMap<u16, Option<Arc<str>>>) -> Result<()> {
        for _ in 0..ATTEMPTS {
            let table = {
                let state = self.state.lock();
                let own = shards.iter().filter(|(shard, _)| self.is_mine(&state, **shard));
                state.table.with(own.map(|(shard, node)| (*shard, node.clone())))
            };
            let is_written = self.directory.propose(&table).await?;
            self.apply(self.directory.view().await?);
            if is_written {
                return Ok(());
            }
        }
        self.reopen(shards.keys().copied());
        Ok(())
    }

    /// Takes no further shards.
    pub(super) fn begin_leave(&self) {
        self.state.lock().is_leaving = true;
    }

    /// Removes the node from the directory.
    pub(super) async fn leave(&self) -> Result<()> {
        // Its shards that it could not give away are taken after the time of a lease.
        self.state.lock().lease_end = None;
        self.directory.forget(&self.me).await
    }

    /// A number that differs for different states.
    #[cfg(test)]
    pub(super) fn fingerprint(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let mut hasher = DefaultHasher::new();
        self.state.lock().hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the number of shards for which the node serves.
    pub(crate) fn served_shards(&self) -> usize {
        let (now, state) = ((self.now)(), self.state.lock());
        state.shards().filter(|shard| self.serves_at(&state, *shard, now)).count()
    }
}

/// A table with further shards of this node.
#[derive(Debug, Default)]
struct Claim {
    table: ShardTable,
    shards: Vec<u16>,
    /// Shards of failed nodes that have had them for the time of a lease, and the last sign of life of each.
    ended: Vec<(u16, Arc<str>, Option<u64>)>,
}
