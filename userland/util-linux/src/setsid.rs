//! `setsid`: runs a program in a new process group.

use tidebox_gnu::command::{Command, wait};
use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_rt::Errno;

const USAGE: &str = "\
Usage: setsid [OPTION]... PROGRAM [ARGUMENT]...
Runs PROGRAM apart from the caller's group.

";

tidebox_gnu::options! {
    /// Options of `setsid`.
    enum Flag {
        Fork = "-f, --fork", "do not wait for it";
        Wait = "-w, --wait", "wait for it and end with its exit code (it always does without -f)";
        Ctty = "-c, --ctty", "(there is no terminal)";
        Help = "-h, --help", "show this help";
        Version = "-V, --version", "show the version";
    }
}

const SYNTAX: Syntax<'_, Flag> =
    Syntax { permute: false, version: "setsid from util-linux 2.38.1\n", ..Syntax::new("setsid", USAGE, 17) };

/// Runs `setsid`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let mut forks = false;
    let words = SYNTAX.parse(arguments, |flag, _| {
        forks |= flag == Flag::Fork;
        Ok(())
    });
    let words = match words {
        Ok(words) if words.is_empty() => return SYNTAX.usage_error("no command specified"),
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
