//! `patch`: applies the output of `diff`.
//!
//! The crates that apply patches support unified diffs only and either match exactly or by similarity; scripts depend on GNU's
//! search for a hunk (offsets, fuzz), its messages, and its reject files.

mod patch;
#[cfg(test)]
mod tests;

use tidebox_gnu::tool::{ToolMain, run};

/// Every tool, ordered by name.
const TOOLS: &[(&str, ToolMain)] = &[("patch", patch::main)];

fn main() {
    run("patch", TOOLS);
}
