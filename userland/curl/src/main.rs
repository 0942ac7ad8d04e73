//! `curl` and `wget`. Neither opens a connection: if the sandbox has a network policy, the host implements a command for
//! requests. Otherwise both report an error.

mod body;
mod curl;
mod date;
mod wget;

use std::process::exit;

use tidebox_gnu::message::{arguments, program};

fn main() {
    tidebox_rt::init_for_std_output();
    let code = match program().as_str() {
        "wget" => wget::run(arguments()),
        _ => curl::run(arguments()),
    };
    exit(code);
}
