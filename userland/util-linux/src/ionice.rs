//! `ionice`: runs a program with an I/O priority. The sandbox has one class, so the priority has no effect.

use tidebox_gnu::options::Syntax;
use tidebox_gnu::tool::{print, usage};

use crate::run_command;

const USAGE: &str = "
Usage:
 ionice [options] -p <pid>...
 ionice [options] <command>

Show or change the I/O-scheduling class and priority of a process.

Options:
";

tidebox_gnu::options! {
    /// Options of `ionice`.
    enum Flag {
        Class = "-c, --class <class>", "name or number of scheduling class,\n  0: none, 1: realtime, 2: best-effort, 3: idle";
        ClassData = "-n, --classdata <num>", "priority (0..7) in the specified scheduling class";
        // The value is not used: all processes have the same priority.
        Pid = "-p, --pid <pid>...", "act on these already running processes";
        Ignore = "-t, --ignore", "ignore failures";
        Help = "-h, --help", "";
        Version = "-V, --version", "";
    }
}

const SYNTAX: Syntax<'_, Flag> = Syntax {
    indent: 1,
    notes: "\nAccepted without effect: all processes have the same class.\n",
    version: "ionice from util-linux 2.38.1\n",
    permute: false,
    ..Syntax::new("ionice", USAGE, 24)
};

/// Runs `ionice`.
pub fn ionice(arguments: Vec<Vec<u8>>) -> i32 {
    let mut is_set = false;
    let words = SYNTAX.parse::<i32>(arguments, |flag, _| {
        match flag {
            Flag::Class | Flag::ClassData => is_set = true,
            Flag::Pid => return Err(if is_set { 0 } else { print("ionice", b"none: prio 0\n") }),
            _ => {}
        }
        Ok(())
    });
    match words {
        Err(code) => code,
        Ok(words) if !words.is_empty() => run_command("ionice", &words),
        Ok(_) if is_set => usage("ionice", "bad usage", 1),
        Ok(_) => print("ionice", b"none: prio 0\n"),
    }
}
