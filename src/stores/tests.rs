//! Tests of the store: what a provider sees, forged objects, and every interleaving of three writers.

mod chains;
mod folder;
mod forged;
mod model;
mod storages;
pub(crate) mod support;
