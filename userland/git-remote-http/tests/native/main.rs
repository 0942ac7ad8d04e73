//! The helper outside a sandbox: the real Git clones, fetches and pushes through it, with `git http-backend` as the server.
//!
//! This program is also the host's network command: the helper starts it for every request.

mod fetching;
mod gateway;
#[path = "../../../../tests/network/git_server.rs"]
mod git_server;
mod pushing;
mod refusals;
mod site;

use std::panic::catch_unwind;
use std::process::exit;

/// A name and a test.
type Test = (&'static str, fn());

fn main() {
    if let Ok(mode) = std::env::var(gateway::MODE) {
        gateway::run(&mode);
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    let filter = words.iter().find(|word| !word.starts_with('-'));
    let mut failed = Vec::new();
    for (name, test) in [fetching::TESTS, pushing::TESTS, refusals::TESTS].concat() {
        if filter.is_some_and(|filter| !name.contains(filter.as_str())) {
            continue;
        }
        if words.iter().any(|word| word == "--list") {
            println!("{name}: test");
            continue;
        }
        let passed = catch_unwind(test).is_ok();
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
        if !passed {
            failed.push(name);
        }
    }
    if !failed.is_empty() {
        println!("failed: {}", failed.join(", "));
        exit(101);
    }
}
