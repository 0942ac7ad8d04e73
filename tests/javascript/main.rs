//! The npm package against what runs natively: its class keeps the contract of backends, and its engine does what Wasmtime
//! does. `cargo xtask npm test` runs these tests, once for each kind of JavaScript engine.

#![allow(clippy::print_stdout, reason = "the report belongs to the test's output")]

mod class;
mod contract;
#[allow(dead_code, reason = "the test of recorded cases prints them too")]
#[path = "../spec/format.rs"]
mod format;
#[allow(dead_code, unexpected_cfgs, reason = "the tests of the engine have more of them")]
#[path = "../../wasi-runner/tests/processes/guest.rs"]
mod guest;
mod hostile;
#[allow(dead_code, reason = "the tests of the native engine read all of the table")]
#[path = "../hostile/guest.rs"]
mod hostile_guest;
mod node;
mod parity;
mod remote;
