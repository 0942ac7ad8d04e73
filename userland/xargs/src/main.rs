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
use options::{Options, Request, Wrong};
use run::Runner;
use tidebox_gnu::message::{arguments, bytes_path, cited, complain, reason};
use tidebox_gnu::tool::say;

fn main() {
    tidebox_rt::start();
    exit(run());
}

fn run() -> i32 {
    let options = match options::parse(arguments()) {
        Ok(Request::Run(options)) => options,
        Ok(Request::Say(text)) => return say("xargs", text, 1),
        Err(Wrong::Usage(message)) => {
            complain("xargs", &message);
            tidebox_gnu::tell!("Try 'xargs --help' for more information.");
            return 1;
        }
        Err(Wrong::Value(message)) => {
            complain("xargs", &message);
            return 1;
        }
    };
    if options.limits {
        show_limits(options.most_bytes);
    }
    for warning in &options.warnings {
        complain("xargs: warning", warning);
    }
    let from: Box<dyn Read> = match &options.file {
        None => Box::new(StandardInput),
        Some(name) => match File::open(bytes_path(name)) {
            Ok(file) => Box::new(BufReader::new(file)),
            Err(error) => {
                complain("xargs", &format!("Cannot open input file {}: {}", cited(name), reason(&error)));
                return 1;
            }
        },
    };
    all(&options, from)
}

/// Tells on stderr how long commands may be; nothing here bounds them but what is asked for.
fn show_limits(most_bytes: usize) {
    /// What POSIX wants at least.
    const LEAST: usize = 4096;
    let (environment, upper) = (options::environment_bytes(), options::upper_bytes());
    tidebox_gnu::tell!(
        "Your environment variables take up {environment} bytes\n\
         POSIX upper limit on argument length (this system): {upper}\n\
         POSIX smallest allowable upper limit on argument length (all systems): {LEAST}\n\
         Maximum length of command we could actually use: {}\n\
         Size of command buffer we are actually using: {most_bytes}\n\
         Maximum parallelism (--max-procs must be no greater): {}",
        upper.saturating_sub(environment),
        options::MOST_PARALLEL
    );
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
    let code = runner.end();
    if options.file.is_none() {
        give_back(batches.unread());
    }
    code
}

/// Standard input without the buffer that the library puts before it.
struct StandardInput;

impl Read for StandardInput {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        Ok(tidebox_rt::read(0, into)?)
    }
}

/// Who reads standard input next begins behind the last item, where the input can be wound back: it is a file.
fn give_back(unread: usize) {
    if unread > 0 {
        // A pipe or a terminal stays as it is, as with every program.
        let _ = tidebox_rt::seek(0, -(unread as i64));
    }
}
