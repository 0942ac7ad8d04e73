//! Core tools that uutils cannot offer in WASI, because std has no modes, owners, processes and threads there.
//!
//! As in `coreutils`, the name under which the module is started chooses the tool.

mod block_size;
mod chmod;
mod date;
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
mod numfmt;
mod run;
mod signal;
mod sleep;
mod stat;
mod sync;
mod test;
#[cfg(test)]
mod tests;
mod timeout;
mod uname;
mod user;
mod which;

use tidebox_gnu::answer::Answer;
use tidebox_gnu::tool::{Main, run};

/// Every tool, ordered by name.
const TOOLS: &[(&str, Main<Answer>)] = &[
    ("[", test::bracket),
    ("chmod", chmod::main),
    ("date", date::main),
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
    ("numfmt", numfmt::main),
    ("sleep", sleep::main),
    ("stat", stat::main),
    ("sync", sync::main),
    ("test", test::test),
    ("timeout", timeout::main),
    ("uname", uname::main),
    ("vdir", ls::vdir),
    ("which", which::main),
    ("whoami", user::whoami),
];

fn main() {
    run("extras", TOOLS);
}
