//! `ionice`: the I/O priority of a program. There is one class, which nothing changes.

use tidebox_gnu::getopt::{Item, Long, Parser, Spec, Takes, long};
use tidebox_gnu::message::print_error;
use tidebox_gnu::tool::{print, usage};

use crate::run_command;

const IONICE_HELP: &str = "
Usage:
 ionice [options] -p <pid>...
 ionice [options] <command>

Show or change the I/O-scheduling class and priority of a process.

Options:
 -c, --class <class>    name or number of scheduling class,
                          0: none, 1: realtime, 2: best-effort, 3: idle
 -n, --classdata <num>  priority (0..7) in the specified scheduling class
 -p, --pid <pid>...     act on these already running processes
 -t, --ignore           ignore failures

There is one class here, which nothing changes.
";

/// `ionice`
pub fn ionice(arguments: Vec<Vec<u8>>) -> i32 {
    const LONG: &[Long] = &[
        long("class", Takes::Value, 'c'),
        long("classdata", Takes::Value, 'n'),
        long("pid", Takes::Value, 'p'),
        long("ignore", Takes::Nothing, 't'),
        long("help", Takes::Nothing, 'h'),
        long("version", Takes::Nothing, 'V'),
    ];
    let (mut words, mut asked) = (Vec::new(), false);
    let mut parser = Parser::new(Spec { short: "c:n:p:thV", long: LONG, permute: false }, arguments);
    loop {
        match parser.next_item() {
            Err(message) => return usage("ionice", &message, 1),
            Ok(None) => break,
            Ok(Some(Item::Operand(word))) => words.push(word),
            Ok(Some(Item::Option('h', _))) => return print("ionice", IONICE_HELP.as_bytes()),
            Ok(Some(Item::Option('V', _))) => return print("ionice", b"ionice from util-linux 2.38.1\n"),
            Ok(Some(Item::Option('c', value))) => {
                asked = true;
                let class = value.unwrap_or_default();
                let name = class.to_ascii_lowercase();
                let number = !name.is_empty() && name.iter().all(u8::is_ascii_digit);
                if number && !matches!(name.as_slice(), b"0" | b"1" | b"2" | b"3") {
                    print_error("ionice", &format!("unknown prio class {}", String::from_utf8_lossy(&name)));
                    print_error("ionice", "ioprio_set failed: Operation not permitted");
                    return 1;
                } else if !number && !matches!(name.as_slice(), b"none" | b"realtime" | b"best-effort" | b"idle") {
                    let class = String::from_utf8_lossy(&class).into_owned();
                    print_error("ionice", &format!("unknown scheduling class: '{class}'"));
                    return 1;
                }
            }
            Ok(Some(Item::Option('n', value))) => {
                asked = true;
                let level = value.unwrap_or_default();
                if level.is_empty() || !level.iter().all(u8::is_ascii_digit) {
                    let level = String::from_utf8_lossy(&level).into_owned();
                    print_error("ionice", &format!("invalid class data argument: '{level}'"));
                    return 1;
                }
            }
            Ok(Some(Item::Option('p', _))) => return if asked { 0 } else { print("ionice", b"none: prio 0\n") },
            Ok(Some(Item::Option(..))) => {}
        }
    }
    if words.is_empty() {
        return if asked { usage("ionice", "bad usage", 1) } else { print("ionice", b"none: prio 0\n") };
    }
    run_command("ionice", &words)
}
