//! The npm package compared with the native library: its class passes the conformance suite, and its engine behaves like
//! Wasmtime. `cargo xtask npm test` runs these tests once per kind of JavaScript engine.

#![allow(clippy::print_stdout, reason = "the report belongs to the test's output")]

mod backend;
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
#[path = "../conformance/port_probe.rs"]
mod port_probe;
mod process;
mod remote;
