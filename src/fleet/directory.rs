//! Port of a directory of nodes.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tidebox_core::{BoxFuture, Result};

use crate::fleet::shard::SHARDS;
use crate::stores::name::{hex, unhex};

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Node {
    /// Random name, another one after a restart: lower-case letters and digits.
    pub name: String,
    /// Addresses of its servers, as in `10.0.0.7:8080`, by their kinds: `rest` or the name of a provider.
    pub addresses: BTreeMap<String, String>,
}

/// A sign of life.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Beat {
    /// The node.
    pub node: Node,
    /// Number of the sign, which rises with each.
    pub count: u64,
    /// True if the node ends and takes no further shards.
    pub is_leaving: bool,
}

/// The nodes of all shards.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ShardTable {
    /// Number of the table. 0 is the one before any other, without nodes.
    pub number: u64,
    /// Names of nodes by shard. `None`: no node.
    pub owners: Vec<Option<Arc<str>>>,
}

impl Default for ShardTable {
    fn default() -> Self {
        Self { number: 0, owners: vec![None; usize::from(SHARDS)] }
    }
}

/// Content of a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectoryView {
    /// The newest sign of life of each node, in any order.
    pub beats: Vec<Beat>,
    /// The newest table.
    pub table: ShardTable,
}

/// A directory of nodes. It needs no clock.
///
/// # For implementors
///
/// Methods take effect at one time between call and response, also for other nodes: what was written before [`view`](Self::view) is
/// called is in its result. An error of a method that writes means that the outcome is unknown: it may take effect later.
pub trait Directory: Send + Sync + fmt::Debug {
    /// Writes a sign of life, which replaces the one before.
    fn beat<'a>(&'a self, beat: &'a Beat) -> BoxFuture<'a, Result<()>>;

    /// Reads everything.
    fn view(&self) -> BoxFuture<'_, Result<DirectoryView>>;

    /// Writes a table if its number is one more than that of the newest table. Returns false, and writes nothing, if another table has
    /// its number.
    fn propose<'a>(&'a self, table: &'a ShardTable) -> BoxFuture<'a, Result<bool>>;

    /// Removes the signs of life of a node that has ended.
    fn forget<'a>(&'a self, node: &'a str) -> BoxFuture<'a, Result<()>>;
}

/// A table as it is stored: the shards of each node as a set of bits in hexadecimal digits.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct StoredTable {
    pub(super) number: u64,
    owners: BTreeMap<String, String>,
}

impl ShardTable {
    /// Returns the node of a shard.
    pub fn owner(&self, shard: u16) -> Option<&Arc<str>> {
        self.owners.get(usize::from(shard))?.as_ref()
    }

    /// Returns the next table, in which the shards have other nodes.
    pub(crate) fn with(&self, changes: impl IntoIterator<Item = (u16, Option<Arc<str>>)>) -> Self {
        let mut next = Self { number: self.number.saturating_add(1), owners: self.owners.clone() };
        for (shard, owner) in changes {
            if let Some(place) = next.owners.get_mut(usize::from(shard)) {
                *place = owner;
            }
        }
        next
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        // A map of texts can always be encoded.
        serde_json::to_vec(&self.to_stored()).unwrap_or_default()
    }

    pub(super) fn to_stored(&self) -> StoredTable {
        let mut sets: BTreeMap<String, Vec<u8>> = BTreeMap::new();
        for (shard, owner) in self.owners.iter().enumerate() {
            let Some(owner) = owner else { continue };
            let set = sets.entry(owner.to_string()).or_insert_with(|| vec![0; self.owners.len().div_ceil(8)]);
            if let Some(byte) = set.get_mut(shard / 8) {
                *byte |= 1 << (shard % 8);
            }
        }
        let owners = sets.into_iter().map(|(name, set)| (name, hex(&set))).collect();
        StoredTable { number: self.number, owners }
    }

    /// Decodes a table of [`SHARDS`]. `None` if it is corrupt.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::from_stored(&serde_json::from_slice(bytes).ok()?)
    }

    /// Same as [`from_bytes`](Self::from_bytes).
    pub(super) fn from_stored(stored: &StoredTable) -> Option<Self> {
        let mut table = Self { number: stored.number, ..Self::default() };
        for (name, set) in &stored.owners {
            let (name, set) = (Arc::<str>::from(name.as_str()), unhex(set)?);
            if set.len() != usize::from(SHARDS) / 8 {
                return None;
            }
            for (shard, owner) in table.owners.iter_mut().enumerate() {
                let has_bit = set.get(shard / 8).is_some_and(|byte| byte & (1 << (shard % 8)) != 0);
                // A shard has one node.
                if has_bit && owner.replace(Arc::clone(&name)).is_some() {
                    return None;
                }
            }
        }
        Some(table)
    }
}
