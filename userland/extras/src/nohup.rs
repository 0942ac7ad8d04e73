//! `nohup`: commands that a hangup does not end.

use tidebox_gnu::answer::Answer;
use tidebox_gnu::command::Command;
use tidebox_gnu::message::quoted;
use tidebox_rt::Errno;

use crate::signal::HANGUP;

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> Answer {
    let arguments: Vec<&[u8]> = arguments.iter().map(Vec::as_slice).filter(|argument| *argument != b"--").collect();
    match arguments.first() {
        None => return Answer::Usage("missing operand".to_owned(), 125),
        Some(first) if first.starts_with(b"-") => {
            return Answer::Usage(format!("unrecognized option '{}'", String::from_utf8_lossy(first)), 125);
        }
        Some(_) => {}
    }
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
