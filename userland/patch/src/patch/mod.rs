//! `patch`: applies what `diff` wrote.

mod apply;
mod choose;
mod ed_script;
mod header;
mod hunk;
mod lines;
mod locate;
mod merge;
mod name;
mod options;
mod outcome;
mod place;
mod read;
mod reject;
mod session;

use tidebox_gnu::message::complain;
use tidebox_gnu::stream::{Output, read_all};
use tidebox_rt::Errno;

#[cfg(test)]
pub(crate) use {
    apply::Work,
    hunk::{Hunk, Line, Mark},
    lines::{Lines, Packing},
    locate::{Place, split},
    merge::Conflicts,
    name::{fetch, is_safe},
    read::{Reader, Style},
};

use options::{Options, Request};
use session::Session;

/// The exit code of an error that ends the program.
const TROUBLE: i32 = 2;

/// A message that ends the program.
pub(crate) type Fatal = String;

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> i32 {
    match options::parse(arguments) {
        Request::Print(text) => {
            let mut out = Output::standard();
            out.push(text.as_bytes());
            out.finish("patch", 0)
        }
        Request::Usage(message) if message.is_empty() => {
            complain(&called(), &format!("Try '{} --help' for more information.", called()));
            TROUBLE
        }
        Request::Usage(message) => {
            complain(&called(), &message);
            complain(&called(), &format!("Try '{} --help' for more information.", called()));
            TROUBLE
        }
        Request::Wrong(message) => {
            complain(&called(), &message);
            TROUBLE
        }
        Request::Fatal(message) => fatal(&message),
        Request::Run(options) => match run(*options) {
            Ok(code) => code,
            Err(message) => fatal(&message),
        },
    }
}

/// The name under which it was called, with its folders, as GNU says it.
fn called() -> String {
    std::env::args_os().next().map_or_else(|| "patch".to_owned(), |name| name.to_string_lossy().into_owned())
}

fn fatal(message: &str) -> i32 {
    complain(&called(), &format!("**** {message}"));
    TROUBLE
}

/// `WHAT NAME : what the system says`.
pub(crate) fn failed(what: &str, name: &[u8], errno: Errno) -> Fatal {
    format!("{what} {} : {}", String::from_utf8_lossy(name), errno.text())
}

fn run(options: Options) -> Result<i32, Fatal> {
    if let Some(directory) = &options.directory {
        tidebox_rt::chdir(directory).map_err(|errno| failed("Can't change to directory", directory, errno))?;
        tidebox_rt::start();
    }
    let input = options.input.as_deref().unwrap_or(b"-");
    let text = read_all(input).map_err(|errno| failed("Can't open patch file", input, errno))?;
    let mut session = Session::new(options, text);
    let result = session.run();
    // An error further on takes nothing back of what patches of git have done to other files.
    let result = session.settle().and(result);
    // What was said before an error comes before it.
    session.out.flush_now();
    result?;
    let code = i32::from(session.failed);
    Ok(session.out.finish("patch", code))
}
