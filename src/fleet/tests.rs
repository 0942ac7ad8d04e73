//! Tests of the directories and of the rules of leases.

mod directories;
mod model;
mod moves;
#[cfg(feature = "nats")]
mod nats;
