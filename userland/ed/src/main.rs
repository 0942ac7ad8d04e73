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

use tidebox_gnu::message::arguments;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::Input;

use session::{Session, Step};

const USAGE: &str = "\
Usage: ed [options] [file]

";

tidebox_gnu::options! {
    /// Options of `ed`.
    enum Flag {
        ExtendedRegexp = "-E, --extended-regexp", "use extended regular expressions";
        Traditional = "-G, --traditional", "run in compatibility mode";
        LooseExitStatus = "-l, --loose-exit-status", "exit with 0 status even if a command fails";
        Prompt = "-p, --prompt=STRING", "use STRING as an interactive prompt";
        Restricted = "-r, --restricted", "run in restricted mode";
        Quiet = "-s, --quiet, --silent", "suppress byte counts and '!' prompt";
        Verbose = "-v, --verbose", "be verbose; equivalent to the 'H' command";
        StripTrailingCr = "--strip-trailing-cr", "";
        Help = "--help | -h", "";
        Version = "-V, --version", "";
    }
}

const LINE: Syntax<'_, Flag> = Syntax { version: "GNU ed 1.19 (Tidebox)\n", ..Syntax::new("ed", USAGE, 29) };

fn main() {
    tidebox_rt::init();
    let code = run();
    if code != 0 {
        exit(code);
    }
}

fn run() -> i32 {
    let mut session = Session::new(Input::standard());
    let mut loose = false;
    let operands = LINE.parse(arguments(), |flag, value| {
        match flag {
            Flag::ExtendedRegexp => session.extended = true,
            Flag::LooseExitStatus => loose = true,
            Flag::Prompt => (session.prompt, session.prompts) = (value, true),
            Flag::Restricted => session.restricted = true,
            Flag::Quiet => session.quiet = true,
            Flag::Verbose => session.verbose = true,
            Flag::StripTrailingCr => session.strips_returns = true,
            Flag::Traditional | Flag::Help | Flag::Version => {}
        }
        Ok::<_, i32>(())
    });
    let files = match operands {
        Ok(files) => files,
        Err(code) => return code,
    };
    // A lone dash is an obsolete form of `-s`.
    session.quiet |= files.iter().any(|file| file == b"-");
    let mut step = files.iter().find(|file| *file != b"-").map_or(Step::Next, |file| session.open(file));
    let code = loop {
        match step {
            Step::Next => step = session.step(),
            Step::Quit(code) => break code,
        }
    };
    let code = session.out.finish("ed", code);
    if loose { 0 } else { code }
}
