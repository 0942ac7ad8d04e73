//! Tools that run a program in a way of which there is only one here: its priority, its processors, its buffers.

use tidebox_gnu::command::Command;
use tidebox_gnu::getopt::{Item, Long, Parser, Spec, Takes, long};
use tidebox_gnu::message::{cited, complain};
use tidebox_gnu::tool::usage;
use tidebox_rt::Errno;

use crate::print;

/// Runs a program to its end.
fn run(tool: &str, words: &[Vec<u8>], failed: impl Fn(&[u8], Errno) -> String) -> i32 {
    let arguments: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    match Command::new(&arguments).run() {
        Ok(status) => i32::from(status.code()),
        Err(error) => {
            complain(tool, &failed(arguments.first().copied().unwrap_or_default(), error));
            if error == Errno::NOENT { 127 } else { 126 }
        }
    }
}

/// As the tools of util-linux say it.
fn failed_to_execute(name: &[u8], error: Errno) -> String {
    format!("failed to execute {}: {}", String::from_utf8_lossy(name), error.text())
}

const STDBUF_HELP: &str = "\
Usage: stdbuf OPTION... COMMAND
Run COMMAND, with modified buffering operations for its standard streams.

Mandatory arguments to long options are mandatory for short options too.
  -i, --input=MODE   adjust standard input stream buffering
  -o, --output=MODE  adjust standard output stream buffering
  -e, --error=MODE   adjust standard error stream buffering
      --help        display this help and exit
      --version     output version information and exit

The programs here have buffers of their own, which nothing changes.
";

/// `stdbuf`
pub(crate) fn stdbuf(arguments: Vec<Vec<u8>>) -> i32 {
    const LONG: &[Long] = &[
        long("input", Takes::Value, 'i'),
        long("output", Takes::Value, 'o'),
        long("error", Takes::Value, 'e'),
        long("help", Takes::Nothing, 'h'),
        long("version", Takes::Nothing, 'V'),
    ];
    let mut words = Vec::new();
    let mut asked = false;
    let mut parser = Parser::new(Spec { short: "i:o:e:", long: LONG, permute: false }, arguments);
    loop {
        match parser.next_item() {
            Err(message) => return usage("stdbuf", &message, 125),
            Ok(None) => break,
            Ok(Some(Item::Operand(word))) => words.push(word),
            Ok(Some(Item::Option('h', _))) => return print("stdbuf", STDBUF_HELP.as_bytes()),
            Ok(Some(Item::Option('V', _))) => return print("stdbuf", b"stdbuf (Tidebox), as in GNU coreutils 9\n"),
            Ok(Some(Item::Option(key, value))) => {
                asked = true;
                let mode = value.unwrap_or_default();
                if mode == b"L" && key == 'i' {
                    return usage("stdbuf", "line buffering stdin is meaningless", 125);
                }
                let digits = mode.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let unit = mode.get(digits..).unwrap_or_default();
                let size =
                    digits > 0 && matches!(unit, b"" | b"K" | b"k" | b"KB" | b"kB" | b"M" | b"MB" | b"G" | b"GB");
                if mode != b"L" && !size {
                    complain("stdbuf", &format!("invalid mode {}", cited(&mode)));
                    return 125;
                }
            }
        }
    }
    if words.is_empty() {
        return usage("stdbuf", "missing operand", 125);
    }
    if !asked {
        return usage("stdbuf", "you must specify a buffering mode option", 125);
    }
    run("stdbuf", &words, |name, error| format!("failed to run command {}: {}", cited(name), error.text()))
}

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
pub(crate) fn ionice(arguments: Vec<Vec<u8>>) -> i32 {
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
                    complain("ionice", &format!("unknown prio class {}", String::from_utf8_lossy(&name)));
                    complain("ionice", "ioprio_set failed: Operation not permitted");
                    return 1;
                } else if !number && !matches!(name.as_slice(), b"none" | b"realtime" | b"best-effort" | b"idle") {
                    let class = String::from_utf8_lossy(&class).into_owned();
                    complain("ionice", &format!("unknown scheduling class: '{class}'"));
                    return 1;
                }
            }
            Ok(Some(Item::Option('n', value))) => {
                asked = true;
                let level = value.unwrap_or_default();
                if level.is_empty() || !level.iter().all(u8::is_ascii_digit) {
                    let level = String::from_utf8_lossy(&level).into_owned();
                    complain("ionice", &format!("invalid class data argument: '{level}'"));
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
    run("ionice", &words, failed_to_execute)
}

const TASKSET_HELP: &str = "\
Usage: taskset [options] [mask | cpu-list] [pid|cmd [args...]]

Show or change the CPU affinity of a process.

Options:
 -a, --all-tasks         operate on all the tasks (threads) for a given pid
 -p, --pid               operate on existing given pid
 -c, --cpu-list          display and specify cpus in list format
 -h, --help              display this help
 -V, --version           display version

There is one processor here.
";

/// `taskset`
pub(crate) fn taskset(arguments: Vec<Vec<u8>>) -> i32 {
    const LONG: &[Long] = &[
        long("all-tasks", Takes::Nothing, 'a'),
        long("pid", Takes::Nothing, 'p'),
        long("cpu-list", Takes::Nothing, 'c'),
        long("help", Takes::Nothing, 'h'),
        long("version", Takes::Nothing, 'V'),
    ];
    let (mut words, mut list, mut pid) = (Vec::new(), false, false);
    let mut parser = Parser::new(Spec { short: "apchV", long: LONG, permute: false }, arguments);
    loop {
        match parser.next_item() {
            Err(message) => return usage("taskset", &message, 1),
            Ok(None) => break,
            Ok(Some(Item::Operand(word))) => words.push(word),
            Ok(Some(Item::Option('h', _))) => return print("taskset", TASKSET_HELP.as_bytes()),
            Ok(Some(Item::Option('V', _))) => return print("taskset", b"taskset from util-linux 2.38.1\n"),
            Ok(Some(Item::Option('c', _))) => list = true,
            Ok(Some(Item::Option('p', _))) => pid = true,
            Ok(Some(Item::Option(..))) => {}
        }
    }
    if pid && words.len() == 1 {
        let process = words.first().map(|word| String::from_utf8_lossy(word).into_owned()).unwrap_or_default();
        let (what, value) = if list { ("list", "0") } else { ("mask", "1") };
        return print("taskset", format!("pid {process}'s current affinity {what}: {value}\n").as_bytes());
    }
    if words.len() < 2 {
        return usage("taskset", "bad usage", 1);
    }
    let mask = words.remove(0);
    let digits = if list { b"0123456789,-:".as_slice() } else { b"0123456789abcdefABCDEFxX,".as_slice() };
    if mask.is_empty() || !mask.iter().all(|byte| digits.contains(byte)) {
        let what = if list { "list" } else { "mask" };
        complain("taskset", &format!("failed to parse CPU {what}: {}", String::from_utf8_lossy(&mask)));
        return 1;
    }
    if pid {
        return 0;
    }
    run("taskset", &words, failed_to_execute)
}
