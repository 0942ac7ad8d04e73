//! Core tools that uutils cannot offer in WASI, because std has no modes, owners, processes and threads there.
//!
//! As in `coreutils`, the name under which the module is started chooses the tool.

mod answer;
mod chmod;
mod dd;
mod du;
mod env;
mod file_system;
mod hostname;
mod kill;
mod ls;
mod mkdir;
mod nice;
mod nohup;
mod run;
mod signal;
mod sleep;
mod stat;
mod sync;
#[cfg(test)]
mod tests;
mod timeout;
mod uname;
mod user;
mod which;

use std::io::Write;
use std::process::exit;

use answer::Answer;
use tidebox_gnu::message::{arguments, complain, program};

/// Runs a tool: arguments without its name, to what it answers.
type Main = fn(Vec<Vec<u8>>) -> Answer;

/// Every tool, ordered by name.
const TOOLS: &[(&str, Main)] = &[
    ("chmod", chmod::main),
    ("dd", dd::main),
    ("dir", ls::dir),
    ("du", du::main),
    ("env", env::main),
    ("groups", user::groups),
    ("hostname", hostname::main),
    ("id", user::id),
    ("kill", kill::main),
    ("logname", user::logname),
    ("ls", ls::main),
    ("mkdir", mkdir::main),
    ("nice", nice::main),
    ("nohup", nohup::main),
    ("sleep", sleep::main),
    ("stat", stat::main),
    ("sync", sync::main),
    ("timeout", timeout::main),
    ("uname", uname::main),
    ("vdir", ls::vdir),
    ("which", which::main),
    ("whoami", user::whoami),
];

fn find(name: &str) -> Option<(&'static str, Main)> {
    let at = TOOLS.binary_search_by(|(known, _)| known.cmp(&name)).ok()?;
    TOOLS.get(at).copied()
}

fn main() {
    tidebox_rt::start();
    let mut arguments = arguments();
    let mut name = program();
    // `extras chmod` does what `chmod` does.
    if find(&name).is_none() && !arguments.is_empty() {
        name = String::from_utf8_lossy(&arguments.remove(0)).into_owned();
    }
    let Some((name, tool)) = find(&name) else {
        let names: Vec<&str> = TOOLS.iter().map(|(name, _)| *name).collect();
        complain("extras", &format!("unknown program '{name}'; there are: {}", names.join(" ")));
        exit(127);
    };
    exit(tool(arguments).end(name));
}

/// Prints on stdout; the answer is whether that went well.
fn print(bytes: &[u8]) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}
