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

use std::process::exit;

use tidebox_gnu::message::{arguments, complain, program};

/// Runs a tool: arguments without its name, to its exit code.
type Main = fn(Vec<Vec<u8>>) -> i32;

/// Every tool, ordered by name.
const TOOLS: &[(&str, Main)] = &[("unzip", unzip::main), ("zip", zip::main), ("zipinfo", info::main)];

fn find(name: &str) -> Option<Main> {
    let at = TOOLS.binary_search_by(|(known, _)| known.cmp(&name)).ok()?;
    TOOLS.get(at).map(|(_, tool)| *tool)
}

fn main() {
    tidebox_rt::start();
    let name = program();
    let Some(tool) = find(&name) else {
        let names: Vec<&str> = TOOLS.iter().map(|(name, _)| *name).collect();
        complain("zip", &format!("unknown program '{name}'; there are: {}", names.join(" ")));
        exit(127);
    };
    let code = tool(arguments());
    // Returning is the cheaper way to exit code 0: leaving from inside unwinds the instance.
    if code != 0 {
        exit(code);
    }
}
