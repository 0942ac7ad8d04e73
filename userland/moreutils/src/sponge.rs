//! `sponge`: reads all input before it writes, so that a pipeline can write to its own input file.

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::print_error;
use tidebox_gnu::stream::Input;
use tidebox_rt::{Errno, Open};

use super::Soaked;

const USAGE: &str = "sponge [-a] <file>: soak up all input from stdin and write it to <file>\n";

/// Runs `sponge`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut append = false;
    let line = CommandLine::new("sponge", "ah", &[], "");
    let operands = line.parse::<ToolResult>(arguments, |key, _| match key {
        'h' => Err(ToolResult::from(USAGE)),
        _ => {
            append = true;
            Ok(())
        }
    });
    let operands = match operands {
        Ok(operands) => operands,
        Err(ToolResult::Usage(message, _)) => {
            // Long options are not supported, so their second dash is parsed as a letter.
            let unknown = message.starts_with("unrecognized");
            print_error("sponge", if unknown { "invalid option -- '-'" } else { &message });
            return 0;
        }
        Err(answer) => return tidebox_gnu::exit::IntoExitCode::into_exit_code(answer, "sponge"),
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
    tidebox_gnu::eprint_line!("{what}: {}", errno.text());
    1
}

fn write_file(name: &[u8], append: bool, soaked: &Soaked) -> Result<(), Errno> {
    let how = Open { write: true, create: true, append, truncate: !append, ..Open::default() };
    let fd = tidebox_rt::open(name, how)?;
    let written = soaked.write_to(fd);
    written.and(tidebox_rt::close(fd))
}
