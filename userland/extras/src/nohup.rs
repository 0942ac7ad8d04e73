//! `nohup`: commands that a hangup does not end.

use tidebox_gnu::command::Command;
use tidebox_rt::Errno;

use crate::answer::Answer;
use crate::run;
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
        Err(error @ Errno::NOENT) => run::failed_to_run(&command, error),
        Err(error) => run::failed_to_run(&command, error),
    }
}
