//! `patch`: applies the output of `diff`.

mod apply;
mod choose;
mod header;
mod hunk;
mod lines;
mod locate;
mod name;
mod options;
mod outcome;
mod place;
mod read;
mod reject;
mod session;

use tidebox_gnu::message::print_error;
use tidebox_gnu::stream::{Output, read_all};
use tidebox_rt::Errno;

#[cfg(test)]
pub(crate) use {
    apply::Work,
    hunk::{Hunk, Line, Mark},
    lines::{Lines, Packing},
    locate::{Position, split},
    name::{fetch, is_safe},
    read::{Reader, Style},
};

use options::{Options, Request};
use session::Session;

/// Exit code of a fatal error.
const TROUBLE: i32 = 2;

/// A fatal error message.
pub(crate) type Fatal = String;

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> i32 {
    match options::parse(arguments) {
        Request::Print(text) => {
            let mut out = Output::standard();
            out.push(text.as_bytes());
            out.finish("patch", 0)
        }
        Request::Usage(message) if message.is_empty() => {
            print_error(&called(), &format!("Try '{} --help' for more information.", called()));
            TROUBLE
        }
        Request::Usage(message) => {
            print_error(&called(), &message);
            print_error(&called(), &format!("Try '{} --help' for more information.", called()));
            TROUBLE
        }
        Request::Wrong(message) => {
            print_error(&called(), &message);
            TROUBLE
        }
        Request::Fatal(message) => fatal(&message),
        Request::Run(options) => match run(*options) {
            Ok(code) => code,
            Err(message) => fatal(&message),
        },
    }
}

/// Process name with its directories, as printed by GNU.
fn called() -> String {
    std::env::args_os().next().map_or_else(|| "patch".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn fatal(message: &str) -> i32 {
    print_error(&called(), &format!("**** {message}"));
    TROUBLE
}

/// Formats `WHAT NAME : system error`.
pub(crate) fn failed(what: &str, name: &[u8], errno: Errno) -> Fatal {
    format!("{what} {} : {}", String::from_utf8_lossy(name), errno.text())
}

fn run(options: Options) -> Result<i32, Fatal> {
    if let Some(directory) = &options.directory {
        tidebox_rt::chdir(directory).map_err(|errno| failed("Can't change to directory", directory, errno))?;
        tidebox_rt::init();
    }
    let input = options.input.as_deref().unwrap_or(b"-");
    let text = read_all(input).map_err(|errno| failed("Can't open patch file", input, errno))?;
    let mut session = Session::new(options, text);
    let result = session.run();
    // A later error does not undo changes of git patches to other files.
    let result = session.settle().and(result);
    // Print earlier messages before the error.
    session.out.flush_now();
    result?;
    let code = i32::from(session.failed);
    Ok(session.out.finish("patch", code))
}
