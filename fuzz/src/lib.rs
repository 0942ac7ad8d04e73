//! What is fed with bytes that nobody wrote, to find out that it answers and never panics.
//!
//! A target is a plain function of bytes. It is run by `cargo fuzz run TARGET --features libfuzzer`, which learns from the code that
//! bytes reach, and by this package's own program on a stable compiler (`cargo xtask fuzz`), which changes examples at random, the same
//! for the same seed. What one of them finds is kept as a test beside the code that was wrong.

#![allow(clippy::print_stdout, reason = "the program says what it does")]

mod corpus;
mod mutate;
mod shell;

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
pub const TARGETS: [Target; 4] = [
    Target { name: "shell_parser", run: shell::parser, inputs: 6000 },
    Target { name: "shell_expansion", run: shell::expansion, inputs: 3000 },
    Target { name: "shell_matching", run: shell::matching, inputs: 3000 },
    Target { name: "shell_session", run: shell::session, inputs: 6000 },
];
