//! `who` and `users`: who is logged in. Nobody logs in to a sandbox, so that these lists are empty.

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Takes, long};
use tidebox_gnu::tool::print;

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
    CommandLine::new(tool, short, &long, &help).parse::<i32>(arguments, |key, _| {
        keys.push(key);
        Ok(())
    })?;
    Ok(keys)
}

/// `users`.
pub fn users(arguments: Vec<Vec<u8>>) -> i32 {
    keys("users", "", arguments).err().unwrap_or(0)
}

/// `who`.
pub fn who(arguments: Vec<Vec<u8>>) -> i32 {
    match keys("who", "abdHlmpqrstTuw", arguments) {
        Err(code) => code,
        Ok(keys) if keys.contains(&'q') => print("who", b"\n# users=0\n"),
        Ok(keys) if keys.contains(&'H') => print("who", b"NAME     LINE         TIME             COMMENT\n"),
        Ok(_) => 0,
    }
}
