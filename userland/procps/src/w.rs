//! `w`: the logged-in users. A sandbox has no logins, so the list is empty.

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Takes, long};

use crate::{print, uptime};

/// Parses a command line and returns the keys of its options, or an exit code.
fn keys(tool: &str, short: &str, arguments: Vec<Vec<u8>>) -> Result<Vec<char>, i32> {
    let long = [
        long("all", Takes::Nothing, 'a'),
        long("count", Takes::Nothing, 'q'),
        long("heading", Takes::Nothing, 'H'),
        long("no-header", Takes::Nothing, 'h'),
        long("help", Takes::Nothing, '\u{1}'),
    ];
    let mut keys = Vec::new();
    let help = format!("Usage: {tool} [OPTION]...\nTells who is logged in, which is nobody here.\n");
    CommandLine::new(tool, short, &long, &help).parse::<i32>(arguments, |key, _| {
        keys.push(key);
        Ok(())
    })?;
    Ok(keys)
}

/// `w`.
pub fn w(arguments: Vec<Vec<u8>>) -> i32 {
    match keys("w", "hsfuioV", arguments) {
        Err(code) => code,
        Ok(keys) if keys.contains(&'h') => 0,
        Ok(_) => {
            let head = "USER     TTY      FROM             LOGIN@   IDLE   JCPU   PCPU WHAT";
            print("w", &format!("{}\n{head}\n", uptime::line()), 0)
        }
    }
}
