//! Policies that wrap any backend.
//!
//! A layer ([`Layer`]) is one function from a call ([`Call`]) to a response ([`Response`]); [`from_layer`] turns it into a
//! backend. A layer therefore covers every method, and a new method of the contract does not compile until every layer handles
//! it.
//!
//! | layer | effect |
//! |---|---|
//! | [`Recorder`], [`Replayer`], [`RecordReplay`] | record a backend or a provider once and replay it without one |
//! | [`timeout()`] | a default and a maximum for the wall time of commands |
//! | [`output_limit()`] | a limit on the output that one command returns |
//! | [`trace()`] | reports every call and its result to an observer |
//! | [`map_sandboxes()`] | applies layers to every sandbox that a provider returns |
//!
//! Order matters. A recorder records the backend below it: put [`output_limit()`] below it to record limited output, above it to
//! record all output. An outer [`trace()`] reports the calls of the caller, an inner one those that reach the backend.

mod call;
mod cassette;
mod map_sandboxes;
mod mismatch;
mod output_limit;
mod process_log;
mod record;
mod record_replay;
mod redaction;
mod replay;
mod response;
mod timeout;
mod trace;

pub use call::{Call, Layer, from_layer};
pub use cassette::Cassette;
pub use map_sandboxes::map_sandboxes;
pub use output_limit::output_limit;
pub use record::Recorder;
pub use record_replay::{RecordMode, RecordReplay};
pub use redaction::Redaction;
pub use replay::{Matching, Replayer};
pub use response::Response;
pub use timeout::timeout;
pub use trace::{CallEnd, TraceEvent, trace};

#[cfg(test)]
mod tests;
