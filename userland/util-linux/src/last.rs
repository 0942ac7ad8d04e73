//! `last`: who was logged in. Nobody logs in to a sandbox, so that there is no record.

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Takes, long};

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

/// `last`: there is no record of who was here.
pub fn last(arguments: Vec<Vec<u8>>) -> i32 {
    match keys("last", "adFiRwxn:f:s:t:p:", arguments) {
        Err(code) => code,
        Ok(_) => {
            tidebox_gnu::message::print_error("last", "cannot open /var/log/wtmp: No such file or directory");
            1
        }
    }
}
