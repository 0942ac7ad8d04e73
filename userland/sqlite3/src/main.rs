//! SQLite with the command line of its shell.

#[cfg(target_family = "wasm")]
mod engine;
#[cfg(target_family = "wasm")]
mod shell;

#[cfg(target_family = "wasm")]
fn main() {
    tidebox_rt::init_for_std_output();
    std::process::exit(shell::run(tidebox_gnu::message::arguments()));
}

/// The database comes compiled for WebAssembly.
#[cfg(not(target_family = "wasm"))]
fn main() {
    tidebox_gnu::message::print_error("sqlite3", "runs in the sandbox only");
    tidebox_rt::init_for_std_output();
    std::process::exit(1);
}
