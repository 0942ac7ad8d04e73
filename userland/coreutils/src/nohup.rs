//! `nohup`: runs a command that ignores SIGHUP.

use tidebox_gnu::command::Command;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::quote_path;
use tidebox_gnu::options::Syntax;
use tidebox_rt::Errno;

use crate::common::StandardFlag;
use crate::common::signal::HANGUP;

const USAGE: &str = "\
Usage: nohup COMMAND [ARG]...
  or:  nohup OPTION
Runs COMMAND with SIGHUP ignored.
";

/// Runs `nohup`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    let line = Syntax { permute: false, usage_exit_code: 125, ..Syntax::core("nohup", USAGE, 0) };
    let words = match line.parse::<ToolResult>(arguments, |StandardFlag::Help, _| Ok(())) {
        Ok(words) if words.is_empty() => return line.usage_error("missing operand"),
        Ok(words) => words,
        Err(answer) => return answer,
    };
    let arguments: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    let command = Command { ignored: 1 << HANGUP, ..Command::new(&arguments) };
    match command.run() {
        Ok(status) => ToolResult::Code(i32::from(status.code())),
        Err(error) => {
            let code = if error == Errno::NOENT { 127 } else { 126 };
            let name = quote_path(arguments.first().copied().unwrap_or_default());
            ToolResult::Failure(format!("failed to run command {name}: {}", error.text()), code)
        }
    }
}
