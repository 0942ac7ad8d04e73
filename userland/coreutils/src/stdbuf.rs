//! `stdbuf`: runs a command. The buffers of guest programs cannot be configured, so the modes have no effect.

use tidebox_gnu::command::Command;
use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::message::quote_value;
use tidebox_gnu::options::Syntax;
use tidebox_rt::Errno;

const USAGE: &str = "\
Usage: stdbuf OPTION... COMMAND
Run COMMAND, with modified buffering operations for its standard streams.

Mandatory arguments to long options are mandatory for short options too.
";

const NOTES: &str = "      --help        display this help and exit
      --version     output version information and exit

The modes have no effect: the buffers of programs cannot be configured.
";

tidebox_gnu::options! {
    /// Options of `stdbuf`.
    enum Flag {
        Input = "-i, --input=MODE", "adjust standard input stream buffering";
        Output = "-o, --output=MODE", "adjust standard output stream buffering";
        Error = "-e, --error=MODE", "adjust standard error stream buffering";
    }
}

const LINE: Syntax<'_, Flag> =
    Syntax { notes: NOTES, permute: false, usage_exit_code: 125, ..Syntax::core("stdbuf", USAGE, 21) };

/// Runs `stdbuf`.
pub fn stdbuf(arguments: Vec<Vec<u8>>) -> i32 {
    run(arguments).unwrap_or_else(|result| result.into_exit_code("stdbuf"))
}

fn run(arguments: Vec<Vec<u8>>) -> Result<i32, ToolResult> {
    let mut has_mode = false;
    let words = LINE.parse(arguments, |_: Flag, _| {
        has_mode = true;
        Ok::<(), ToolResult>(())
    })?;
    if words.is_empty() {
        return Err(LINE.usage_error("missing operand"));
    }
    if !has_mode {
        return Err(LINE.usage_error("you must specify a buffering mode option"));
    }
    let arguments: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
    match Command::new(&arguments).run() {
        Ok(status) => Ok(i32::from(status.code())),
        Err(error) => {
            let name = quote_value(arguments.first().copied().unwrap_or_default());
            let code = if error == Errno::NOENT { 127 } else { 126 };
            Err(ToolResult::Failure(format!("failed to run command {name}: {}", error.text()), code))
        }
    }
}
