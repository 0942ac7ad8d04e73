//! `sponge`: reads everything before it writes, so that a file can be the end of the pipe that it is the begin of.

use tidebox_gnu::answer::Answer;
use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::message::complain;
use tidebox_gnu::stream::Input;
use tidebox_rt::{Errno, Open};

use super::Soaked;

const USAGE: &str = "sponge [-a] <file>: soak up all input from stdin and write it to <file>\n";

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut append = false;
    let line = CommandLine::new("sponge", "ah", &[], "");
    let operands = line.read::<Answer>(arguments, |key, _| match key {
        'h' => Err(Answer::from(USAGE)),
        _ => {
            append = true;
            Ok(())
        }
    });
    let operands = match operands {
        Ok(operands) => operands,
        Err(Answer::Usage(message, _)) => {
            // There are no long options, so that their second dash is a letter.
            let unknown = message.starts_with("unrecognized");
            complain("sponge", if unknown { "invalid option -- '-'" } else { &message });
            return 0;
        }
        Err(answer) => return tidebox_gnu::answer::Ending::end(answer, "sponge"),
    };
    let soaked = match Soaked::all_of(&mut Input::standard()) {
        Ok(soaked) => soaked,
        Err(errno) => return cannot("failed to read from stdin", errno),
    };
    let result = match operands.first() {
        None => soaked.write_to(1),
        Some(file) => write_file(file, append, &soaked),
    };
    match result {
        Ok(()) => 0,
        Err(Errno::PIPE) => 141,
        Err(errno) => cannot("error opening output file", errno),
    }
}

fn cannot(what: &str, errno: Errno) -> i32 {
    tidebox_gnu::tell!("{what}: {}", errno.text());
    1
}

fn write_file(name: &[u8], append: bool, soaked: &Soaked) -> Result<(), Errno> {
    let how = Open { write: true, create: true, append, truncate: !append, ..Open::default() };
    let fd = tidebox_rt::open(name, how)?;
    let written = soaked.write_to(fd);
    written.and(tidebox_rt::close(fd))
}
