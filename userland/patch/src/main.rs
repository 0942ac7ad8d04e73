//! `patch`: applies what `diff` wrote.
//!
//! The crates that apply patches know unified diffs only and either match exactly or guess by likeness; what scripts see
//! of `patch` is how GNU looks for a hunk (offsets, fuzz), what it says of it, and the rejects that it leaves.

mod patch;
#[cfg(test)]
mod tests;

use tidebox_gnu::tool::{Main, run};

/// Every tool, ordered by name.
const TOOLS: &[(&str, Main)] = &[("patch", patch::main)];

fn main() {
    run("patch", TOOLS);
}
