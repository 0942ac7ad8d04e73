//! `awk`, compatible with GNU awk.

mod array;
mod builtin;
mod code;
mod compile;
mod escape;
mod format;
mod input;
mod lexer;
mod machine;
mod message;
mod number;
mod options;
mod pattern;
mod random;
mod record;
mod replacement;
mod split;
mod stream;
#[cfg(test)]
mod tests;
mod text;
mod token;
mod usage;
mod value;

use std::process::exit;

use tidebox_gnu::tool::print_and_exit_code;

use compile::Failure;
use machine::Machine;
use message::program;
use options::Other;

/// Command names of this program.
#[cfg(test)]
pub(crate) const NAMES: &[&str] = &["awk", "gawk", "nawk"];

fn main() {
    tidebox_rt::init();
    let code = run();
    if code != 0 {
        exit(code);
    }
}

fn run() -> i32 {
    let options = match options::parse(tidebox_gnu::message::arguments()) {
        Ok(options) => options,
        Err(other) => return early_exit(other),
    };
    if options.bytes || !tidebox_gnu::message::unicode_locale() {
        text::treat_bytes_as_chars();
    }
    let compiled = compile::compile(&options.sources, stream::read_whole, warn);
    match compiled {
        Ok(compiled) => Machine::new(compiled, options).main(),
        Err(failure) => report(&failure),
    }
}

fn early_exit(other: Other) -> i32 {
    match other {
        Other::Print(text) => print_and_exit_code(&program(), &text, 1),
        Other::Usage => {
            tidebox_gnu::eprint_part!("{}", usage::usage());
            1
        }
        Other::InvalidOption(message) => {
            tidebox_gnu::eprint_line!("{}: {message}", program());
            tidebox_gnu::eprint_part!("{}", usage::usage());
            1
        }
        Other::Fatal(message) => {
            tidebox_gnu::eprint_line!("{}: fatal: {message}", program());
            2
        }
    }
}

fn warn(source: &[u8], line: u32, what: &str) {
    tidebox_gnu::eprint_line!("{}: {}:{line}: warning: {what}", program(), String::from_utf8_lossy(source));
}

/// Reports a compile error and returns the exit code.
fn report(failure: &Failure) -> i32 {
    let name = program();
    let lossy = String::from_utf8_lossy;
    match failure {
        Failure::Syntax { source, line, text, column, what } => {
            let source = lossy(source);
            // A tab is repeated so that the marker lines up.
            let before = text.get(..*column).unwrap_or(text);
            let blank: String = before.iter().map(|byte| if *byte == b'\t' { '\t' } else { ' ' }).collect();
            tidebox_gnu::eprint_line!("{name}: {source}:{line}: {}", lossy(text));
            tidebox_gnu::eprint_line!("{name}: {source}:{line}: {blank}^ {what}");
            1
        }
        Failure::Meaning { source, line, what } => {
            tidebox_gnu::eprint_line!("{name}: {}:{line}: error: {what}", lossy(source));
            1
        }
        Failure::Twice { source, line, what } => {
            for _ in 0..2 {
                tidebox_gnu::eprint_line!("{name}: {}:{line}: error: {what}", lossy(source));
            }
            1
        }
        Failure::Unlabelled { source, line, what } => {
            tidebox_gnu::eprint_line!("{name}: {}:{line}: {what}", lossy(source));
            1
        }
        Failure::Fatal { source, line, what } => {
            tidebox_gnu::eprint_line!("{name}: {}:{line}: fatal: {what}", lossy(source));
            2
        }
    }
}
