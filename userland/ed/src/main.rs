//! `ed`, the line editor.
//!
//! The crates called `ed` are toys or whole-screen editors. Scripts of `diff -e` and of users need GNU's commands and its short
//! messages.

mod address;
mod buffer;
mod command;
mod global;
mod session;
mod show;
mod substitute;
#[cfg(test)]
mod tests;

use std::process::exit;

use tidebox_gnu::getopt::{Item, Parser, Spec, Takes, long};
use tidebox_gnu::message::arguments;
use tidebox_gnu::stream::{Input, Output};
use tidebox_gnu::tool::usage;

use session::{Session, Step};

const HELP: &str = "\
Usage: ed [options] [file]

  -E, --extended-regexp      use extended regular expressions
  -G, --traditional          run in compatibility mode
  -l, --loose-exit-status    exit with 0 status even if a command fails
  -p, --prompt=STRING        use STRING as an interactive prompt
  -r, --restricted           run in restricted mode
  -s, --quiet, --silent      suppress byte counts and '!' prompt
  -v, --verbose              be verbose; equivalent to the 'H' command
";

fn main() {
    tidebox_rt::init();
    let code = run();
    if code != 0 {
        exit(code);
    }
}

fn run() -> i32 {
    let long = [
        long("extended-regexp", Takes::Nothing, 'E'),
        long("traditional", Takes::Nothing, 'G'),
        long("loose-exit-status", Takes::Nothing, 'l'),
        long("prompt", Takes::Value, 'p'),
        long("restricted", Takes::Nothing, 'r'),
        long("quiet", Takes::Nothing, 's'),
        long("silent", Takes::Nothing, 's'),
        long("verbose", Takes::Nothing, 'v'),
        long("strip-trailing-cr", Takes::Nothing, 'c'),
        long("help", Takes::Nothing, 'h'),
        long("version", Takes::Nothing, 'V'),
    ];
    let mut session = Session::new(Input::standard());
    let mut loose = false;
    let mut files = Vec::new();
    let mut parser = Parser::new(Spec { short: "EGhlp:rsvV", long: &long, permute: true }, arguments());
    loop {
        match parser.next_item() {
            Err(message) => return usage("ed", &message, 1),
            Ok(None) => break,
            // A lone dash is an obsolete form of `-s`.
            Ok(Some(Item::Operand(file))) if file == b"-" => session.quiet = true,
            Ok(Some(Item::Operand(file))) => files.push(file),
            Ok(Some(Item::Option(key, value))) => match key {
                'E' => session.extended = true,
                'l' => loose = true,
                'p' => (session.prompt, session.prompts) = (value.unwrap_or_default(), true),
                'r' => session.restricted = true,
                's' => session.quiet = true,
                'v' => session.verbose = true,
                'c' => session.strips_returns = true,
                'h' | 'V' => {
                    let mut out = Output::standard();
                    out.push(if key == 'h' { HELP.as_bytes() } else { b"GNU ed 1.19 (as Tidebox speaks it)\n" });
                    return out.finish("ed", 0);
                }
                _ => {}
            },
        }
    }
    let mut step = files.first().map_or(Step::Next, |file| session.open(file));
    let code = loop {
        match step {
            Step::Next => step = session.step(),
            Step::Quit(code) => break code,
        }
    };
    let code = session.out.finish("ed", code);
    if loose { 0 } else { code }
}
