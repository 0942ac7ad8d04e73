//! `sponge`: reads all input before it writes, so that a pipeline can write to its own input file.

use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::Input;
use tidebox_rt::{Errno, Open};

use super::BufferedInput;

const USAGE: &str = "sponge [-a] <file>: soak up all input from stdin and write it to <file>\n";

tidebox_gnu::options! {
    /// Options of `sponge`.
    enum Flag {
        Append = "-a", "";
        Help = "-h", "";
    }
}

const SYNTAX: Syntax<'_, Flag> = Syntax::new("sponge", USAGE, 0);

/// Runs `sponge`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut append = false;
    let operands = SYNTAX.parse::<ToolResult>(arguments, |flag, _| match flag {
        Flag::Help => Err(ToolResult::from(USAGE)),
        Flag::Append => {
            append = true;
            Ok(())
        }
    });
    let operands = match operands {
        Ok(operands) => operands,
        Err(ToolResult::Usage(message, _)) => {
            // `sponge` has no long options: the second dash is an invalid letter.
            let unknown = message.starts_with("unrecognized");
            print_error("sponge", if unknown { "invalid option -- '-'" } else { &message });
            return 0;
        }
        Err(result) => return result.into_exit_code("sponge"),
    };
    let buffered = match BufferedInput::all_of(&mut Input::standard()) {
        Ok(buffered) => buffered,
        Err(errno) => return cannot("failed to read from stdin", errno),
    };
    let result = match operands.first() {
        None => buffered.write_to(1),
        Some(file) => write_file(file, append, &buffered),
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

fn write_file(name: &[u8], append: bool, buffered: &BufferedInput) -> Result<(), Errno> {
    let how = Open { write: true, create: true, append, truncate: !append, ..Open::default() };
    let fd = tidebox_rt::open(name, how)?;
    let written = buffered.write_to(fd);
    written.and(tidebox_rt::close(fd))
}
