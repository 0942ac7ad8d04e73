//! `nice`: runs a command. All processes of a sandbox have the same priority, so the adjustment has no effect.

use tidebox_gnu::command::Command;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::quote_value;
use tidebox_gnu::options::Syntax;

use crate::common::run;

const USAGE: &str = "\
Usage: nice [OPTION] [COMMAND [ARG]...]
Runs COMMAND. Without COMMAND, prints the niceness, which is always 0.

";

tidebox_gnu::options! {
    /// Options of `nice`.
    enum Flag {
        Adjustment = "-n, --adjustment=N", "has no effect: all processes have the same priority";
    }
}

const LINE: Syntax<'_, Flag> = Syntax { permute: false, usage_exit_code: 125, ..Syntax::core("nice", USAGE, 22) };

/// Runs `nice`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    let mut arguments = arguments;
    let mut adjusted = false;
    // `-5` and `--5` are the obsolete forms of `-n`.
    while let Some(first) = arguments.first() {
        let digits = first.strip_prefix(b"-").map(|rest| rest.strip_prefix(b"-").unwrap_or(rest));
        if !digits.is_some_and(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)) {
            break;
        }
        adjusted = true;
        arguments.remove(0);
    }
    let words = LINE.parse(arguments, |Flag::Adjustment, value| {
        adjusted = true;
        let text = value.trim_ascii();
        let digits = text.strip_prefix(b"-").or_else(|| text.strip_prefix(b"+")).unwrap_or(text);
        // GNU clamps numbers outside of the range.
        let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        is_number
            .then_some(())
            .ok_or_else(|| ToolResult::Failure(format!("invalid adjustment {}", quote_value(&value)), 125))
    });
    let words = match words {
        Ok(words) => words,
        Err(answer) => return answer,
    };
    if words.is_empty() {
        return match adjusted {
            true => LINE.usage_error("a command must be given with an adjustment"),
            false => "0\n".into(),
        };
    }
    let arguments: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    run::run(&Command::new(&arguments))
}
