//! The MCP server: by messages written here, and by its official clients for Python and TypeScript.
//!
//! The clients are optional. If an interpreter or a package is missing, their tests are ignored and their names state the reason.

#![allow(clippy::print_stdout, reason = "skipped parts are printed with the reason")]

mod client;
mod clients;
mod http;
#[path = "../deepagents/install.rs"]
mod install;
mod messages;
#[path = "../deepagents/trial.rs"]
mod trial;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Failed, Trial};

/// The built command.
const TIDEBOX: &str = env!("CARGO_BIN_EXE_tidebox");

/// Tests by name.
type Tests = &'static [(&'static str, fn())];

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let own = [messages::TESTS, http::TESTS].into_iter().flatten().map(|(name, test)| {
        Trial::test(*name, move || {
            test();
            Ok::<(), Failed>(())
        })
    });
    let trials = own.chain(clients::trials()).collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
