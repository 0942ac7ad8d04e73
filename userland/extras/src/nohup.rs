//! `nohup`: commands that a hangup does not end.

use tidebox_gnu::answer::Answer;
use tidebox_gnu::command::Command;
use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::message::quoted;
use tidebox_rt::Errno;

use crate::signal::HANGUP;

const HELP: &str = "\
Usage: nohup COMMAND [ARG]...
  or:  nohup OPTION
Runs COMMAND so that a hangup does not end it.
";

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> Answer {
    let line = CommandLine { permute: false, misuse: 125, ..CommandLine::core("nohup", "", &[], HELP) };
    let words = match line.read::<Answer>(arguments, |_, _| Ok(())) {
        Ok(words) if words.is_empty() => return line.wrong("missing operand"),
        Ok(words) => words,
        Err(answer) => return answer,
    };
    let arguments: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    let command = Command { ignored: 1 << HANGUP, ..Command::new(&arguments) };
    match command.run() {
        Ok(status) => Answer::Code(i32::from(status.code())),
        Err(error) => {
            let code = if error == Errno::NOENT { 127 } else { 126 };
            let name = quoted(arguments.first().copied().unwrap_or_default());
            Answer::Failure(format!("failed to run command {name}: {}", error.text()), code)
        }
    }
}
