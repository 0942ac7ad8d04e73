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
use options::{CommandLineError, Options, Request};
use run::Runner;
use tidebox_gnu::message::{arguments, bytes_path, error_text, print_error, quote_value};
use tidebox_gnu::tool::print_and_exit_code;

fn main() {
    tidebox_rt::init();
    exit(run());
}

fn run() -> i32 {
    let options = match options::parse(arguments()) {
        Ok(Request::Run(options)) => options,
        Ok(Request::Print(text)) => return print_and_exit_code("xargs", &text, 1),
        Err(CommandLineError::Usage(message)) => {
            print_error("xargs", &message);
            tidebox_gnu::eprint_line!("Try 'xargs --help' for more information.");
            return 1;
        }
        Err(CommandLineError::Value(message)) => {
            print_error("xargs", &message);
            return 1;
        }
    };
    if options.limits {
        show_limits(options.most_bytes);
    }
    for warning in &options.warnings {
        print_error("xargs: warning", warning);
    }
    let from: Box<dyn Read> = match &options.file {
        None => Box::new(StandardInput),
        Some(name) => match File::open(bytes_path(name)) {
            Ok(file) => Box::new(BufReader::new(file)),
            Err(error) => {
                print_error("xargs", &format!("Cannot open input file {}: {}", quote_value(name), error_text(&error)));
                return 1;
            }
        },
    };
    all(&options, from)
}

/// Prints the limits of command lengths on standard error.
fn show_limits(most_bytes: usize) {
    /// Minimum required by POSIX.
    const MIN_COUNT: usize = 4096;
    let (environment, upper) = (options::environment_bytes(), options::upper_bytes());
    tidebox_gnu::eprint_line!(
        "Your environment variables take up {environment} bytes\n\
         POSIX upper limit on argument length (this system): {upper}\n\
         POSIX smallest allowable upper limit on argument length (all systems): {MIN_COUNT}\n\
         Maximum length of command we could actually use: {}\n\
         Size of command buffer we are actually using: {most_bytes}\n\
         Maximum parallelism (--max-procs must be no greater): {}",
        upper.saturating_sub(environment),
        options::MAX_PARALLEL
    );
}

/// Runs a command for every batch of items and returns the exit code.
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
                print_error("xargs", &message);
                runner.fail(1);
                break;
            }
        }
    }
    let code = runner.end();
    if options.file.is_none() {
        seek_back(batches.unread());
    }
    code
}

/// Unbuffered standard input.
struct StandardInput;

impl Read for StandardInput {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        Ok(tidebox_rt::read(0, into)?)
    }
}

/// Seeks back to the end of the last item, so that the next reader of standard input continues there.
fn seek_back(unread: usize) {
    if unread > 0 {
        // A pipe or terminal is not seekable.
        let _ = tidebox_rt::seek(0, -(unread as i64));
    }
}
