//! `curl` and `wget`. Neither opens a connection: the host answers a command for each request, where the sandbox has a
//! network policy, and both say so where it has none.

mod address;
mod body;
mod curl;
mod date;
mod wget;
mod wire;

use std::process::exit;

use tidebox_gnu::message::{arguments, program};

fn main() {
    tidebox_rt::start_printing_by_std();
    let code = match program().as_str() {
        "wget" => wget::run(arguments()),
        _ => curl::run(arguments()),
    };
    exit(code);
}
