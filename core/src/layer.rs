//! Policies wrapped round any backend.
//!
//! A layer ([`Layer`]) is one function over calls as values ([`Call`] in, [`Answer`] out); [`layered`] makes it a backend
//! again. So a layer cannot forget a method, and a new method of the contract does not compile until every layer knows it.
//!
//! | layer | what it does |
//! |---|---|
//! | [`Recorder`], [`Player`], [`Deck`] | record a backend or a provider once and replay it without one |
//! | [`time_limit()`] | a default and an upper bound for the wall time of commands |
//! | [`output_cap()`] | a bound on the output that one command returns |
//! | [`trace()`] | tells an observer of every call and how it ended |
//! | [`each_sandbox()`] | puts layers round every sandbox that a provider hands out |
//!
//! Order matters. A recorder records what is below it: put [`output_cap()`] below to record capped output, above to record all
//! of it. A [`trace()`] outside sees what the caller sees, inside what the backend gets.

mod answer;
mod call;
mod cassette;
mod deck;
mod each_sandbox;
mod nearest;
mod output_cap;
mod record;
mod redaction;
mod replay;
mod time_limit;
mod trace;

pub use answer::Answer;
pub use call::{Call, Layer, layered};
pub use cassette::Cassette;
pub use deck::{Deck, RecordMode};
pub use each_sandbox::each_sandbox;
pub use output_cap::output_cap;
pub use record::Recorder;
pub use redaction::Redaction;
pub use replay::{Matching, Player};
pub use time_limit::time_limit;
pub use trace::{CallEnd, TraceEvent, trace};

#[cfg(test)]
mod tests;
