//! `taskset`: the processors of a program. There is one.

use tidebox_gnu::getopt::{Item, Long, Parser, Spec, Takes, long};
use tidebox_gnu::message::print_error;
use tidebox_gnu::tool::{print, usage};

use crate::run_command;

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
pub fn taskset(arguments: Vec<Vec<u8>>) -> i32 {
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
        print_error("taskset", &format!("failed to parse CPU {what}: {}", String::from_utf8_lossy(&mask)));
        return 1;
    }
    if pid {
        return 0;
    }
    run_command("taskset", &words)
}
