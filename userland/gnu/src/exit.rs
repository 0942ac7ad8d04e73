//! Exit codes and outcomes of tools.

use crate::message::{error_text, print_error};

/// Return value of a tool.
pub trait IntoExitCode {
    /// Prints pending messages with the tool's name and returns the exit code.
    fn into_exit_code(self, tool: &str) -> i32;
}

/// An exit code; all messages have been printed.
impl IntoExitCode for i32 {
    fn into_exit_code(self, _: &str) -> i32 {
        self
    }
}

impl<T: IntoExitCode, E: IntoExitCode> IntoExitCode for Result<T, E> {
    fn into_exit_code(self, tool: &str) -> i32 {
        match self {
            Ok(done) => done.into_exit_code(tool),
            Err(failed) => failed.into_exit_code(tool),
        }
    }
}

/// Outcome of a tool, with a text or message.
#[derive(Debug, PartialEq, Eq)]
pub enum ToolResult {
    /// Exits with this code; all messages have been printed.
    Code(i32),
    /// Prints this and exits with 0.
    Print(Vec<u8>),
    /// Prints this and exits with this code.
    PrintAndCode(Vec<u8>, i32),
    /// A wrong command line: a message with a hint at `--help`, and the exit code.
    Usage(String, i32),
    /// A failure with a message.
    Failure(String, i32),
}

impl IntoExitCode for ToolResult {
    fn into_exit_code(self, tool: &str) -> i32 {
        match self {
            Self::Code(code) => code,
            Self::Print(text) => print_or_fail(tool, &text, 0),
            Self::PrintAndCode(text, code) => print_or_fail(tool, &text, code),
            Self::Usage(message, code) => {
                print_error(tool, &message);
                crate::eprint_line!("Try '{tool} --help' for more information.");
                code
            }
            Self::Failure(message, code) => {
                print_error(tool, &message);
                code
            }
        }
    }
}

impl From<&str> for ToolResult {
    fn from(text: &str) -> Self {
        Self::Print(text.as_bytes().to_vec())
    }
}

/// Prints on standard output. Unlike std, it reports an error if standard output is closed.
pub fn print(text: &[u8]) -> std::io::Result<()> {
    tidebox_rt::write_all(1, text).map_err(|errno| std::io::Error::other(errno.text()))
}

fn print_or_fail(tool: &str, text: &[u8], code: i32) -> i32 {
    match print(text) {
        Ok(()) => code,
        Err(error) => {
            print_error(tool, &format!("write error: {}", error_text(&error)));
            code.max(1)
        }
    }
}
