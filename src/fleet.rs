//! Several nodes that serve the same saved sandboxes.
//!
//! Sandboxes are divided into [`SHARDS`] by their ids. A [`Directory`] has a table of the node of each shard, and signs of life of
//! the nodes. A node serves only for its shards, and passes other requests on once.
//!
//! Two fences keep acknowledged changes and hide old ones:
//! - A node serves while it has a lease: for two thirds of its time, by its own monotonic clock, after it has given a sign of life
//!   and then read the table. Another node takes its shards only after the whole time without a sign of life.
//! - Every save is a generation that is created only if its number is free (see [`stores`](crate::stores)). A node that writes
//!   in spite of the first fence fails, so a wrong directory costs time and never data.

mod directory;
pub(crate) mod membership;
mod memory;
#[cfg(feature = "nats")]
mod nats;
mod objects;
mod open;
mod placement;
mod run;
mod shard;

#[cfg(test)]
mod tests;

pub use directory::{Beat, Directory, DirectoryView, Node, ShardTable};
pub use memory::MemoryDirectory;
#[cfg(feature = "nats")]
pub use nats::NatsDirectory;
pub use objects::ObjectDirectory;
pub use open::open_directory;
pub use run::{Fleet, FleetConfig};
pub use shard::{SHARDS, shard_of};
