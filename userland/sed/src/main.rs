//! `sed` with the command line and extensions of GNU, and Perl's `rename`, which edits names like `sed` edits lines.

mod execute;
mod input;
mod options;
mod output;
mod parse;
mod rename;
mod replacement;
mod script;
#[cfg(test)]
mod tests;

use std::process::exit;

use execute::Machine;
use options::Request;
use tidebox_gnu::message::{arguments, print_error, program};
use tidebox_gnu::tool::print_and_exit_code;

/// Command names of this program.
#[cfg(test)]
pub(crate) const NAMES: &[&str] = &["rename", "sed"];

fn main() {
    tidebox_rt::init();
    exit(if program() == "rename" { rename::main(arguments()) } else { run() });
}

fn run() -> i32 {
    let options = match options::parse(arguments()) {
        Ok(Request::Run(options)) => options,
        Ok(Request::Print(text)) => return print_and_exit_code("sed", &text, 4),
        Err(None) => {
            tidebox_gnu::eprint_part!("{}", options::LINE.help());
            return 1;
        }
        Err(Some((message, code))) => {
            print_error("sed", &message);
            return code;
        }
    };
    if options.in_place.is_some() && options.files.is_empty() {
        print_error("sed", "no input files");
        return 4;
    }
    let script = match parse::parse(&options) {
        Ok(script) => script,
        Err(error) => {
            print_error("sed", &error.message);
            return error.code;
        }
    };
    match Machine::new(&options, &script) {
        Ok(machine) => machine.run(),
        Err(message) => {
            print_error("sed", &message);
            4
        }
    }
}
