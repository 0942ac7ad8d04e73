//! Core tools about owners, kinds and places of files. uutils has them for Unix only, where std knows owners.

mod df;
mod install;
mod owner;
mod ownership;
mod special;
mod stty;
#[cfg(test)]
mod tests;
mod touch;

use tidebox_gnu::tool::{Main, run};

/// Every tool, ordered by name.
const TOOLS: &[(&str, Main)] = &[
    ("chgrp", ownership::chgrp),
    ("chown", ownership::chown),
    ("df", df::main),
    ("install", install::main),
    ("mkfifo", special::mkfifo),
    ("mknod", special::mknod),
    ("stty", stty::main),
    ("touch", touch::main),
];

fn main() {
    run("files", TOOLS);
}

/// A word of the command line as messages quote it: with curly marks where the locale has them.
fn curly(word: &[u8]) -> String {
    let text = String::from_utf8_lossy(word);
    if tidebox_gnu::message::unicode_locale() { format!("‘{text}’") } else { format!("'{text}'") }
}

/// A file's name as messages quote it.
fn quoted(name: &[u8]) -> String {
    let shown = tidebox_gnu::message::shown(name);
    if shown.starts_with(['\'', '"']) { shown.into_owned() } else { format!("'{shown}'") }
}
