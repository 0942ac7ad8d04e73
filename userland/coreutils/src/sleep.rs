//! `sleep`: waits.

use std::time::Duration;

use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::getopt::{Takes, long};
use tidebox_gnu::message::print_error;

use crate::timeout::duration;

const HELP: &str = "\
Usage: sleep NUMBER[SUFFIX]...
Waits for NUMBER seconds, or with the SUFFIX m minutes, h hours, d days; several add up.
";

const LINE: CommandLine<'_> = CommandLine::core("sleep", "", &[long("help", Takes::Nothing, 'h')], HELP);

/// Runs `sleep`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    let times = match LINE.parse(arguments, |_, _| Ok(())) {
        Ok(times) => times,
        Err(answer) => return answer,
    };
    if times.is_empty() {
        return LINE.usage_error("missing operand");
    }
    let mut sum: u64 = 0;
    let mut wrong = Vec::new();
    for time in &times {
        match duration(time) {
            Ok(time) => sum = sum.saturating_add(time),
            Err(message) => wrong.push(message),
        }
    }
    // Every wrong one is told of before where to read more.
    if let Some(last) = wrong.pop() {
        wrong.iter().for_each(|message| print_error("sleep", message));
        return LINE.usage_error(last);
    }
    std::thread::sleep(Duration::from_nanos(sum));
    ToolResult::Code(0)
}
