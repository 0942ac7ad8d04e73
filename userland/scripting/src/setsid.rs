//! `setsid`: runs a program apart from the caller's group.

use tidebox_gnu::command::{Command, wait};
use tidebox_gnu::getopt::{Item, Parser, Spec, Takes, long};
use tidebox_gnu::message::complain;
use tidebox_gnu::tool::usage;
use tidebox_rt::Errno;

use crate::print;

const HELP: &str = "\
Usage: setsid [OPTION]... PROGRAM [ARGUMENT]...
Runs PROGRAM apart from the caller's group.

  -f, --fork  do not wait for it
  -w, --wait  wait for it and end with its exit code (it always does without -f)
  -c, --ctty  (there is no terminal)
  -h, --help, -V, --version
";

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let long = [
        long("ctty", Takes::Nothing, 'c'),
        long("fork", Takes::Nothing, 'f'),
        long("wait", Takes::Nothing, 'w'),
        long("help", Takes::Nothing, 'h'),
        long("version", Takes::Nothing, 'V'),
    ];
    let mut forks = false;
    let mut words = Vec::new();
    let mut parser = Parser::new(Spec { short: "cfwhV", long: &long, permute: false }, arguments);
    loop {
        match parser.next_item() {
            Err(message) => return usage("setsid", &message, 1),
            Ok(None) => break,
            Ok(Some(Item::Operand(word))) => words.push(word),
            Ok(Some(Item::Option('f', _))) => forks = true,
            Ok(Some(Item::Option('h', _))) => return print("setsid", HELP.as_bytes()),
            Ok(Some(Item::Option('V', _))) => return print("setsid", b"setsid from util-linux 2.38.1\n"),
            Ok(Some(Item::Option(..))) => {}
        }
    }
    if words.is_empty() {
        return usage("setsid", "no command specified", 1);
    }
    let arguments: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    // A group of its own is what there is of sessions.
    let command = Command { group: 1, ..Command::new(&arguments) };
    let ended = command.spawn().and_then(|pid| if forks { Ok(0) } else { wait(pid).map(|status| status.code()) });
    match ended {
        Ok(code) => i32::from(code),
        Err(errno) => {
            let name = String::from_utf8_lossy(words.first().map_or(b"".as_slice(), Vec::as_slice)).into_owned();
            complain("setsid", &format!("failed to execute {name}: {}", errno.text()));
            if errno == Errno::NOENT { 127 } else { 126 }
        }
    }
}
