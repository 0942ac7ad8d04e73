//! `sync`: files of the sandbox are in memory, so that there is nothing to write back.

use tidebox_gnu::answer::Answer;
use tidebox_gnu::message::{complain, quoted};

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> Answer {
    let mut code = 0;
    for file in arguments.iter().filter(|argument| !argument.starts_with(b"-")) {
        if let Err(error) = tidebox_rt::stat(file, true) {
            complain("sync", &format!("error opening {}: {}", quoted(file), error.text()));
            code = 1;
        }
    }
    Answer::Code(code)
}
