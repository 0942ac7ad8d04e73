//! How a tool ends.

use crate::message::{complain, reason};

/// What a tool answers when it is done.
pub trait Ending {
    /// Says what there is to say in the tool's name, and answers the exit code.
    fn end(self, tool: &str) -> i32;
}

/// An exit code, when everything has been said.
impl Ending for i32 {
    fn end(self, _: &str) -> i32 {
        self
    }
}

impl<T: Ending, E: Ending> Ending for Result<T, E> {
    fn end(self, tool: &str) -> i32 {
        match self {
            Ok(done) => done.end(tool),
            Err(failed) => failed.end(tool),
        }
    }
}

/// What a tool answers, where that is more than an exit code.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// It ends with this exit code and has said what there was to say.
    Code(i32),
    /// It prints this and ends well.
    Print(Vec<u8>),
    /// It prints this and ends with that exit code.
    PrintAndCode(Vec<u8>, i32),
    /// The command line is wrong: a message, and where to read more. With the exit code of that.
    Usage(String, i32),
    /// It failed with a message.
    Failure(String, i32),
}

impl Ending for Answer {
    fn end(self, tool: &str) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Print(text) => written(tool, &text, 0),
            Self::PrintAndCode(text, code) => written(tool, &text, code),
            Self::Usage(message, code) => {
                complain(tool, &message);
                crate::tell!("Try '{tool} --help' for more information.");
                code
            }
            Self::Failure(message, code) => {
                complain(tool, &message);
                code
            }
        }
    }
}

impl From<&str> for Answer {
    fn from(text: &str) -> Self {
        Self::Print(text.as_bytes().to_vec())
    }
}

/// Prints on standard output. Unlike std it tells when that is closed.
pub fn print(text: &[u8]) -> std::io::Result<()> {
    tidebox_rt::write_all(1, text).map_err(|errno| std::io::Error::other(errno.text()))
}

fn written(tool: &str, text: &[u8], code: i32) -> i32 {
    match print(text) {
        Ok(()) => code,
        Err(error) => {
            complain(tool, &format!("write error: {}", reason(&error)));
            code.max(1)
        }
    }
}
