//! The pack `git` beyond its recorded cases (`tests/spec/cases/git-*`): hostile repositories, kills, round trips with the Git
//! of the host, terminals, and a smart HTTP server.
//!
//! `cargo xtask pack git` builds the pack, and `tidebox pack add git` installs it. Without it these tests print that and
//! check nothing.

#[path = "../network/git_server.rs"]
mod git_server;
mod hostile;
mod http;
mod kills;
mod operations;
mod pack_file;
#[path = "../shell_fuzz/rng.rs"]
mod rng;
mod round_trips;
mod setup;
mod terminal;
