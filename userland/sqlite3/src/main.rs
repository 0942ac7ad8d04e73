//! SQLite itself behind the command line of its shell.

#[cfg(target_family = "wasm")]
mod engine;
#[cfg(target_family = "wasm")]
mod shell;

#[cfg(target_family = "wasm")]
fn main() {
    tidebox_rt::start_printing_by_std();
    std::process::exit(shell::run(tidebox_gnu::message::arguments()));
}

/// The database comes compiled for WebAssembly.
#[cfg(not(target_family = "wasm"))]
fn main() {
    tidebox_gnu::message::complain("sqlite3", "runs in the sandbox only");
    tidebox_rt::start_printing_by_std();
    std::process::exit(1);
}
