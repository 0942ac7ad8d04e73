//! What is fed with bytes that nobody wrote, to find out that it answers and never panics.
//!
//! A target is a plain function of bytes. It is run by `cargo fuzz run TARGET --features libfuzzer`, which learns from the code that
//! bytes reach, and by this package's own program on a stable compiler (`cargo xtask fuzz`), which changes examples at random, the same
//! for the same seed. What one of them finds is kept as a test beside the code that was wrong.

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

/// A function of bytes that must not panic, and says by a panic when it did what it must not.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Feeds it.
    pub run: fn(&[u8]),
    /// Inputs that it gets where the time of all is short: most where they are quick.
    pub inputs: u64,
}

/// All of them.
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
    Target { name: "modules_made", run: modules::made, inputs: 400 },
    Target { name: "snapshots", run: snapshots::compact, inputs: 1500 },
    Target { name: "tars", run: snapshots::tar, inputs: 1500 },
    Target { name: "urls_and_rules", run: web::urls, inputs: 6000 },
];
