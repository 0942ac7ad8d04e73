//! `sed` with the command line and the extensions of GNU, and `rename` as Perl's, which replaces in names what `sed` does in
//! lines.

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
use tidebox_gnu::message::{arguments, complain, program};
use tidebox_gnu::tool::say;

/// Commands that this program is.
#[cfg(test)]
pub(crate) const NAMES: &[&str] = &["rename", "sed"];

fn main() {
    tidebox_rt::start();
    exit(if program() == "rename" { rename::main(arguments()) } else { run() });
}

fn run() -> i32 {
    let options = match options::parse(arguments()) {
        Ok(Request::Run(options)) => options,
        Ok(Request::Say(text)) => return say("sed", text, 4),
        Err(None) => {
            tidebox_gnu::tell_part!("{}", options::HELP);
            return 1;
        }
        Err(Some((message, code))) => {
            complain("sed", &message);
            return code;
        }
    };
    if options.in_place.is_some() && options.files.is_empty() {
        complain("sed", "no input files");
        return 4;
    }
    let script = match parse::parse(&options) {
        Ok(script) => script,
        Err(error) => {
            complain("sed", &error.message);
            return error.code;
        }
    };
    match Machine::new(&options, &script) {
        Ok(machine) => machine.run(),
        Err(message) => {
            complain("sed", &message);
            4
        }
    }
}
