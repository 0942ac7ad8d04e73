//! `sleep`: waits for a time.

use std::time::Duration;

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;

use crate::common::StandardFlag;
use crate::timeout::duration;

const USAGE: &str = "\
Usage: sleep NUMBER[SUFFIX]...
Waits for NUMBER seconds. SUFFIX is m for minutes, h for hours or d for days. Several times are added.
";

const LINE: Syntax<'_, StandardFlag> = Syntax::core("sleep", USAGE, 0);

/// Runs `sleep`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    let times = match LINE.parse(arguments, |StandardFlag::Help, _| Ok(())) {
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
    // All messages precede the hint at `--help`.
    if let Some(last) = wrong.pop() {
        wrong.iter().for_each(|message| print_error("sleep", message));
        return LINE.usage_error(last);
    }
    std::thread::sleep(Duration::from_nanos(sum));
    ToolResult::Code(0)
}
