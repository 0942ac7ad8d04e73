//! What scripts call besides tools for files and text: options, variables, terminals, the locale and the system's constants.
//!
//! The crates for terminfo (termini, terminfo) read databases, of which a sandbox has none; `envsubst` and `subst` know
//! other syntaxes than gettext's.

mod compressed;
mod envsubst;
mod flock;
mod getconf;
mod getent;
mod getopt;
mod line_ends;
mod locale;
mod moreutils;
mod mountpoint;
mod namei;
mod passing;
mod random;
mod run_parts;
mod script;
mod setsid;
mod terminal;
#[cfg(test)]
mod tests;
mod time;
mod tput;
mod whereis;

use tidebox_gnu::tool::{Main, run};

/// Every tool, ordered by name.
const TOOLS: &[(&str, Main)] = &[
    ("bzcmp", |arguments| compressed::compare("bzcmp", arguments)),
    ("bzdiff", |arguments| compressed::compare("bzdiff", arguments)),
    ("bzegrep", |arguments| compressed::grep("bzegrep", arguments)),
    ("bzfgrep", |arguments| compressed::grep("bzfgrep", arguments)),
    ("bzgrep", |arguments| compressed::grep("bzgrep", arguments)),
    ("bzless", |arguments| compressed::page("bzless", arguments)),
    ("bzmore", |arguments| compressed::page("bzmore", arguments)),
    ("chronic", moreutils::chronic::main),
    ("clear", tput::clear),
    ("dos2unix", line_ends::dos2unix),
    ("envsubst", envsubst::main),
    ("flock", flock::main),
    ("getconf", getconf::main),
    ("getent", getent::main),
    ("getopt", getopt::main),
    ("ifne", moreutils::ifne::main),
    ("ionice", passing::ionice),
    ("locale", locale::main),
    ("mcookie", random::mcookie),
    ("mountpoint", mountpoint::main),
    ("namei", namei::main),
    ("reset", tput::reset),
    ("run-parts", run_parts::main),
    ("script", script::main),
    ("setsid", setsid::main),
    ("sponge", moreutils::sponge::main),
    ("stdbuf", passing::stdbuf),
    ("taskset", passing::taskset),
    ("time", time::main),
    ("tput", tput::main),
    ("ts", moreutils::ts::main),
    ("unix2dos", line_ends::unix2dos),
    ("uuidgen", random::uuidgen),
    ("whereis", whereis::main),
    ("xzcmp", |arguments| compressed::compare("xzcmp", arguments)),
    ("xzdiff", |arguments| compressed::compare("xzdiff", arguments)),
    ("xzegrep", |arguments| compressed::grep("xzegrep", arguments)),
    ("xzfgrep", |arguments| compressed::grep("xzfgrep", arguments)),
    ("xzgrep", |arguments| compressed::grep("xzgrep", arguments)),
    ("xzless", |arguments| compressed::page("xzless", arguments)),
    ("xzmore", |arguments| compressed::page("xzmore", arguments)),
    ("zcmp", |arguments| compressed::compare("zcmp", arguments)),
    ("zdiff", |arguments| compressed::compare("zdiff", arguments)),
    ("zegrep", |arguments| compressed::grep("zegrep", arguments)),
    ("zfgrep", |arguments| compressed::grep("zfgrep", arguments)),
    ("zgrep", |arguments| compressed::grep("zgrep", arguments)),
    ("zless", |arguments| compressed::page("zless", arguments)),
    ("zmore", |arguments| compressed::page("zmore", arguments)),
];

fn main() {
    run("scripting", TOOLS);
}

/// Prints a text and answers the exit code.
fn print(tool: &str, text: &[u8]) -> i32 {
    let mut out = tidebox_gnu::stream::Output::standard();
    out.push(text);
    out.finish(tool, 0)
}
