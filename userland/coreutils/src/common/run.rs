//! Execution of the command given to a tool.

use tidebox_gnu::command::Command;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::quote_value;
use tidebox_rt::Errno;

/// Runs a command and returns its exit code.
pub(crate) fn run(command: &Command<'_>) -> ToolResult {
    match command.run() {
        Ok(status) => ToolResult::Code(i32::from(status.code())),
        Err(error) => refused(command, error),
    }
}

/// Exit result if a command cannot run: 127 if it is not found, else 126.
pub(crate) fn refused(command: &Command<'_>, error: Errno) -> ToolResult {
    let name = command.arguments.first().copied().unwrap_or_default();
    let code = if error == Errno::NOENT { 127 } else { 126 };
    ToolResult::Failure(format!("{}: {}", quote_value(name), error.text()), code)
}

/// Like [`refused`], with the message `failed to run command ...`.
pub(crate) fn failed_to_run(command: &Command<'_>, error: Errno) -> ToolResult {
    match refused(command, error) {
        ToolResult::Failure(message, code) => ToolResult::Failure(format!("failed to run command {message}"), code),
        other => other,
    }
}
