//! Running the command that a tool is given.

use tidebox_gnu::answer::Answer;
use tidebox_gnu::command::Command;
use tidebox_gnu::message::cited;
use tidebox_rt::Errno;

/// Runs a command to its end: its exit code becomes the tool's.
pub(crate) fn run(command: &Command<'_>) -> Answer {
    match command.run() {
        Ok(status) => Answer::Code(i32::from(status.code())),
        Err(error) => refused(command, error),
    }
}

/// The answer when a command cannot be run: 127 when there is none, else 126.
pub(crate) fn refused(command: &Command<'_>, error: Errno) -> Answer {
    let name = command.arguments.first().copied().unwrap_or_default();
    let code = if error == Errno::NOENT { 127 } else { 126 };
    Answer::Failure(format!("{}: {}", cited(name), error.text()), code)
}

/// `failed to run command ...`, as some tools put it.
pub(crate) fn failed_to_run(command: &Command<'_>, error: Errno) -> Answer {
    match refused(command, error) {
        Answer::Failure(message, code) => Answer::Failure(format!("failed to run command {message}"), code),
        other => other,
    }
}
