//! `taskset`: runs a program on a set of processors. The sandbox has one, so the set has no effect.

use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;
use tidebox_gnu::tool::{print, usage};

use crate::run_command;

const USAGE: &str = "\
Usage: taskset [options] [mask | cpu-list] [pid|cmd [args...]]

Show or change the CPU affinity of a process.

Options:
";

tidebox_gnu::options! {
    /// Options of `taskset`.
    enum Flag {
        AllTasks = "-a, --all-tasks", "operate on all the tasks (threads) for a given pid";
        Pid = "-p, --pid", "operate on existing given pid";
        CpuList = "-c, --cpu-list", "display and specify cpus in list format";
        Help = "-h, --help", "display this help";
        Version = "-V, --version", "display version";
    }
}

const SYNTAX: Syntax<'_, Flag> = Syntax {
    indent: 1,
    notes: "\nThere is one processor.\n",
    version: "taskset from util-linux 2.38.1\n",
    permute: false,
    ..Syntax::new("taskset", USAGE, 25)
};

/// Runs `taskset`.
pub fn taskset(arguments: Vec<Vec<u8>>) -> i32 {
    let (mut list, mut pid) = (false, false);
    let words = SYNTAX.parse::<i32>(arguments, |flag, _| {
        list |= flag == Flag::CpuList;
        pid |= flag == Flag::Pid;
        Ok(())
    });
    let mut words = match words {
        Ok(words) => words,
        Err(code) => return code,
    };
    if let ([process], true) = (words.as_slice(), pid) {
        let process = String::from_utf8_lossy(process);
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
