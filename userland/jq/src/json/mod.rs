//! JSON parser for a stream of values, and writer.

mod events;
mod read;
mod values;
mod write;

pub(crate) use read::{Reader, parse_all, parse_one};
pub(crate) use write::{Layout, compact, write};
