//! `zip`, `unzip` and `zipinfo`.

mod archive;
mod entry;
mod info;
mod list;
mod pattern;
#[cfg(test)]
mod tests;
mod unzip;
mod words;
mod zip;

use tidebox_gnu::tool::{ToolMain, run};

/// Every tool, ordered by name.
const TOOLS: &[(&str, ToolMain)] = &[("unzip", unzip::main), ("zip", zip::main), ("zipinfo", info::main)];

fn main() {
    run("zip", TOOLS);
}
