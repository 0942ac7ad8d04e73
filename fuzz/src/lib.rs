//! Fuzz targets: code that reads untrusted bytes and must return without a panic.
//!
//! A target is a function of bytes. `cargo fuzz run TARGET --features libfuzzer` runs it with coverage feedback; the program of this
//! package (`cargo xtask fuzz`) runs it on a stable compiler with random mutations of the seeds, reproducible by seed. Every finding
//! becomes a test next to the code it concerns.

#![allow(clippy::print_stdout, reason = "the program says what it does")]

mod corpus;
mod modules;
mod mutate;
mod replies;
mod shell;
mod snapshots;
mod system;
mod web;

pub use corpus::examples;
pub use mutate::{Dice, mutate};

/// A function of bytes. It panics if the code under test violates a property, and must not panic otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name on the command line.
    pub name: &'static str,
    /// Runs the target on one input.
    pub run: fn(&[u8]),
    /// Number of inputs in a short run: more for faster targets.
    pub inputs: u64,
}

/// All targets.
pub const TARGETS: [Target; 13] = [
    Target { name: "system_calls", run: system::calls, inputs: 1500 },
    Target { name: "path_walk", run: system::paths, inputs: 1500 },
    Target { name: "shell_parser", run: shell::parser, inputs: 6000 },
    Target { name: "shell_expansion", run: shell::expansion, inputs: 3000 },
    Target { name: "shell_matching", run: shell::matching, inputs: 3000 },
    Target { name: "shell_session", run: shell::session, inputs: 6000 },
    Target { name: "provider_replies", run: replies::read, inputs: 4000 },
    Target { name: "module_rewriting", run: modules::rewritten, inputs: 1500 },
    Target { name: "module_bounding", run: modules::bounded, inputs: 1500 },
    Target { name: "modules_made", run: modules::run_generated_module, inputs: 400 },
    Target { name: "snapshots", run: snapshots::compact, inputs: 1500 },
    Target { name: "tars", run: snapshots::tar, inputs: 1500 },
    Target { name: "urls_and_rules", run: web::urls, inputs: 6000 },
];
