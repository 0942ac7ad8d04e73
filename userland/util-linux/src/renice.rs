//! `renice`. All processes have one priority, which nobody may change.

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Takes, long};
use tidebox_gnu::message::print_error;
use tidebox_gnu::user::{Kind, Names};
use tidebox_rt::Errno;

const HELP: &str = "
Usage:
 renice [-n] <priority> [-p|--pid] <pid>...
 renice [-n] <priority>  -g|--pgrp <pgid>...
 renice [-n] <priority>  -u|--user <user>...

Alter the priority of running processes.

Options:
 -n, --priority <num>   specify the nice value
 -p, --pid              interpret arguments as process ID (default)
 -g, --pgrp             interpret arguments as process group ID
 -u, --user             interpret arguments as username or user ID

 -h, --help             display this help
 -V, --version          display version

For more details see renice(1).
";

/// Runs `renice`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    let long = [
        long("priority", Takes::Value, 'n'),
        long("pid", Takes::Nothing, 'p'),
        long("pgrp", Takes::Nothing, 'g'),
        long("user", Takes::Nothing, 'u'),
        long("help", Takes::Nothing, 'h'),
        long("version", Takes::Nothing, 'V'),
    ];
    let line = CommandLine {
        version: "renice from util-linux 2.38.1\n",
        ..CommandLine::new("renice", "n:pguhV", &long, HELP)
    };
    let (mut priority, mut kind) = (None, "process ID");
    let operands = line.parse::<i32>(arguments, |key, value| {
        match key {
            'n' => priority = Some(value),
            'p' => kind = "process ID",
            'g' => kind = "process group ID",
            _ => kind = "user ID",
        }
        Ok(())
    });
    let mut operands = match operands {
        Ok(operands) => operands,
        Err(code) => return code,
    };
    if priority.is_none() && operands.len() > 1 {
        priority = Some(operands.remove(0));
    }
    let Some(priority) = priority.filter(|_| !operands.is_empty()) else {
        return line.usage_error("not enough arguments");
    };
    let shown = String::from_utf8_lossy(&priority).into_owned();
    if shown.trim_start().parse::<i32>().is_err() {
        return line.usage_error(format!("invalid priority '{shown}'"));
    }
    operands.iter().for_each(|who| refuse(&String::from_utf8_lossy(who), kind));
    1
}

fn refuse(who: &str, kind: &str) {
    let id = if kind == "user ID" { Names::load(Kind::User).id(who).map(i64::from) } else { who.parse().ok() };
    let Some(id) = id else {
        let message =
            if kind == "user ID" { format!("unknown user {who}") } else { format!("bad {kind} value: {who}") };
        return print_error("renice", &message);
    };
    let missing = kind == "process ID" && i32::try_from(id).map(|id| tidebox_rt::kill(id, 0)) != Ok(Ok(()));
    let (what, errno) = if missing { ("get", Errno::SRCH) } else { ("set", Errno::ACCES) };
    print_error("renice", &format!("failed to {what} priority for {id} ({kind}): {}", errno.text()));
}
