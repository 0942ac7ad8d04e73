//! `xargs` with the command line of GNU.

mod batch;
mod input;
mod options;
mod run;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{BufReader, Read};
use std::process::exit;

use batch::Batches;
use input::Items;
use options::{Options, Request};
use run::Runner;
use tidebox_gnu::message::{arguments, bytes_path, complain, reason};

fn main() {
    tidebox_rt::start();
    exit(run());
}

fn run() -> i32 {
    let options = match options::parse(arguments()) {
        Ok(Request::Run(options)) => options,
        Ok(Request::Say(text)) => {
            print!("{text}");
            return 0;
        }
        Err(message) => {
            complain("xargs", &message);
            eprintln!("Try 'xargs --help' for more information.");
            return 1;
        }
    };
    for warning in &options.warnings {
        complain("xargs: warning", warning);
    }
    let from: Box<dyn Read> = match &options.file {
        None => Box::new(std::io::stdin().lock()),
        Some(name) => match File::open(bytes_path(name)) {
            Ok(file) => Box::new(BufReader::new(file)),
            Err(error) => {
                let name = String::from_utf8_lossy(name);
                complain("xargs", &format!("Cannot open input file '{name}': {}", reason(&error)));
                return 1;
            }
        },
    };
    all(&options, from)
}

/// Runs a command for every batch of items and answers the exit code.
fn all(options: &Options, from: Box<dyn Read>) -> i32 {
    let mut runner = Runner::new(options);
    let mut batches = Batches::new(options, Items::new(from, options));
    loop {
        match batches.next_command() {
            Ok(Some(words)) => {
                if !runner.start(&words) {
                    break;
                }
            }
            Ok(None) => break,
            Err(message) => {
                complain("xargs", &message);
                runner.fail(1);
                break;
            }
        }
    }
    runner.end()
}
