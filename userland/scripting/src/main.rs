//! What scripts call besides tools for files and text: options, variables, terminals, the locale and the system's constants.
//!
//! The crates for terminfo (termini, terminfo) read databases, of which a sandbox has none; `envsubst` and `subst` know
//! other syntaxes than gettext's.

mod envsubst;
mod getconf;
mod getopt;
mod line_ends;
mod locale;
mod random;
mod setsid;
mod terminal;
#[cfg(test)]
mod tests;
mod time;
mod tput;

use tidebox_gnu::tool::{Main, run};

/// Every tool, ordered by name.
const TOOLS: &[(&str, Main)] = &[
    ("clear", tput::clear),
    ("dos2unix", line_ends::dos2unix),
    ("envsubst", envsubst::main),
    ("getconf", getconf::main),
    ("getopt", getopt::main),
    ("locale", locale::main),
    ("mcookie", random::mcookie),
    ("reset", tput::reset),
    ("setsid", setsid::main),
    ("time", time::main),
    ("tput", tput::main),
    ("unix2dos", line_ends::unix2dos),
    ("uuidgen", random::uuidgen),
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
