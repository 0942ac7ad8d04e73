//! `who`, `users`, `w` and `last`: who is logged in. Nobody logs in to a sandbox, so that these lists are empty.

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Takes, long};

use crate::{print, uptime};

/// Reads a command line and answers the keys of its options, or an exit code.
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
    CommandLine::new(tool, short, &long, &help).read::<i32>(arguments, |key, _| {
        keys.push(key);
        Ok(())
    })?;
    Ok(keys)
}

/// `users`.
pub(crate) fn users(arguments: Vec<Vec<u8>>) -> i32 {
    keys("users", "", arguments).err().unwrap_or(0)
}

/// `who`.
pub(crate) fn who(arguments: Vec<Vec<u8>>) -> i32 {
    match keys("who", "abdHlmpqrstTuw", arguments) {
        Err(code) => code,
        Ok(keys) if keys.contains(&'q') => print("who", "\n# users=0\n", 0),
        Ok(keys) if keys.contains(&'H') => print("who", "NAME     LINE         TIME             COMMENT\n", 0),
        Ok(_) => 0,
    }
}

/// `w`.
pub(crate) fn w(arguments: Vec<Vec<u8>>) -> i32 {
    match keys("w", "hsfuioV", arguments) {
        Err(code) => code,
        Ok(keys) if keys.contains(&'h') => 0,
        Ok(_) => {
            let head = "USER     TTY      FROM             LOGIN@   IDLE   JCPU   PCPU WHAT";
            print("w", &format!("{}\n{head}\n", uptime::line()), 0)
        }
    }
}

/// `last`: there is no record of who was here.
pub(crate) fn last(arguments: Vec<Vec<u8>>) -> i32 {
    match keys("last", "adFiRwxn:f:s:t:p:", arguments) {
        Err(code) => code,
        Ok(_) => {
            tidebox_gnu::message::complain("last", "cannot open /var/log/wtmp: No such file or directory");
            1
        }
    }
}
