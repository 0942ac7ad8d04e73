//! Placement of shards on nodes.

use std::sync::Arc;

use sha2::{Digest as _, Sha256};

/// Returns the node of each shard: the one with the highest hash of both (rendezvous hashing) among those that have not reached their
/// share. It depends only on the set of nodes, and few shards move when that changes. Empty without nodes.
pub(super) fn place(nodes: &[Arc<str>], shards: usize) -> Vec<Arc<str>> {
    // A twentieth more than an equal share, so that most shards get their first choice.
    let share = (shards * 21).div_ceil(20 * nodes.len().max(1));
    let mut loads = vec![0_usize; nodes.len()];
    (0..shards)
        .filter_map(|shard| {
            let free = loads.iter().enumerate().filter(|(_, load)| **load < share);
            let best =
                free.map(|(index, _)| index).max_by_key(|index| nodes.get(*index).map(|node| score(node, shard)))?;
            if let Some(load) = loads.get_mut(best) {
                *load += 1;
            }
            nodes.get(best).cloned()
        })
        .collect()
}

fn score(node: &str, shard: usize) -> [u8; 32] {
    let hash = Sha256::new_with_prefix(node.as_bytes());
    hash.chain_update((shard as u64).to_le_bytes()).finalize().into()
}
