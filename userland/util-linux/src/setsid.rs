//! `setsid`: runs a program apart from the caller's group.

use tidebox_gnu::command::{Command, wait};
use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Takes, long};
use tidebox_gnu::message::print_error;
use tidebox_rt::Errno;

const HELP: &str = "\
Usage: setsid [OPTION]... PROGRAM [ARGUMENT]...
Runs PROGRAM apart from the caller's group.

  -f, --fork  do not wait for it
  -w, --wait  wait for it and end with its exit code (it always does without -f)
  -c, --ctty  (there is no terminal)
  -h, --help, -V, --version
";

/// Runs `setsid`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let long = [
        long("ctty", Takes::Nothing, 'c'),
        long("fork", Takes::Nothing, 'f'),
        long("wait", Takes::Nothing, 'w'),
        long("help", Takes::Nothing, 'h'),
        long("version", Takes::Nothing, 'V'),
    ];
    let mut forks = false;
    let line = CommandLine {
        permute: false,
        version: "setsid from util-linux 2.38.1\n",
        ..CommandLine::new("setsid", "cfwhV", &long, HELP)
    };
    let words = line.parse(arguments, |key, _| {
        forks |= key == 'f';
        Ok(())
    });
    let words = match words {
        Ok(words) if words.is_empty() => return line.usage_error("no command specified"),
        Ok(words) => words,
        Err(code) => return code,
    };
    let arguments: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    // Sessions do not exist here; a new process group is the nearest equivalent.
    let command = Command { group: 1, ..Command::new(&arguments) };
    let ended = command.spawn().and_then(|pid| if forks { Ok(0) } else { wait(pid).map(|status| status.code()) });
    match ended {
        Ok(code) => i32::from(code),
        Err(errno) => {
            let name = String::from_utf8_lossy(words.first().map_or(b"".as_slice(), Vec::as_slice)).into_owned();
            print_error("setsid", &format!("failed to execute {name}: {}", errno.text()));
            if errno == Errno::NOENT { 127 } else { 126 }
        }
    }
}
