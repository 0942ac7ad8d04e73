//! The contract: what a sandbox is, as traits, plain values, one error and one limits struct. No I/O.

mod limits;

pub use limits::Limits;
