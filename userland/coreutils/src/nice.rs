//! `nice`: runs a command with another niceness, which has no effect: all processes of a sandbox have the same priority.

use tidebox_gnu::command::Command;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::quote_value;
use tidebox_gnu::options::Syntax;

use crate::common::run;

const USAGE: &str = "\
Usage: nice [OPTION] [COMMAND [ARG]...]
Runs COMMAND with another niceness, which is shown and has no other effect.
Without COMMAND, prints the current niceness.

";

tidebox_gnu::options! {
    /// Options of `nice`.
    enum Flag {
        Adjustment = "-n, --adjustment=N", "add N to the niceness (default 10)";
    }
}

const LINE: Syntax<'_, Flag> = Syntax { permute: false, usage_exit_code: 125, ..Syntax::core("nice", USAGE, 22) };

/// Runs `nice`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    let mut arguments = arguments;
    let mut adjustment = None;
    // `-5` and `--5` are the obsolete forms of `-n`.
    while let Some(first) = arguments.first() {
        let digits = first.strip_prefix(b"-").map(|rest| rest.strip_prefix(b"-").unwrap_or(rest));
        if !digits.is_some_and(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)) {
            break;
        }
        adjustment = Some(clamped(first.get(1..).unwrap_or_default()));
        arguments.remove(0);
    }
    let words = LINE.parse(arguments, |Flag::Adjustment, value| {
        let text = value.trim_ascii();
        let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
        // GNU clamps numbers outside of the range.
        let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        if !is_number {
            return Err(ToolResult::Failure(format!("invalid adjustment {}", quote_value(&value)), 125));
        }
        adjustment = Some(clamped(text));
        Ok(())
    });
    let words = match words {
        Ok(words) => words,
        Err(answer) => return answer,
    };
    if words.is_empty() {
        return match adjustment {
            Some(_) => LINE.usage_error("a command must be given with an adjustment"),
            None => ToolResult::from(format!("{}\n", tidebox_rt::nice(0).unwrap_or(0)).as_str()),
        };
    }
    // Like GNU's: a warning if the niceness cannot be lowered, and the command runs.
    if tidebox_rt::nice(adjustment.unwrap_or(10)).is_err() {
        tidebox_gnu::eprint_line!("nice: cannot set niceness: Permission denied");
    }
    let arguments: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    run::run(&Command::new(&arguments))
}

/// Parses a decimal number with an optional sign, clamped to the range of adjustments.
fn clamped(text: &[u8]) -> i32 {
    let (is_negative, digits) = match text.strip_prefix(b"-") {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix(b"+").unwrap_or(text)),
    };
    let number = digits.iter().fold(0i32, |number, digit| (number * 10 + i32::from(digit - b'0')).min(39));
    if is_negative { -number } else { number }
}
