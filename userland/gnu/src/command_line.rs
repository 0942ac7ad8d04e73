//! Outcomes that end the parsing of a command line: `--help`, `--version` and errors.

use crate::exit::ToolResult;

/// `--version` text of a core utility: scripts parse the first line.
pub fn core_version(tool: &str) -> String {
    format!(
        "{tool} (GNU coreutils) 9.1\nTidebox does what that version does. This {tool} is part of Tidebox and free under MIT or Apache-2.0.\n"
    )
}

/// Early exit of a tool, created from its command-line error.
pub trait FromEarlyExit {
    /// Converts the outcome of the tool with this name.
    fn from_early_exit(tool: &str, answer: ToolResult) -> Self;
}

impl FromEarlyExit for ToolResult {
    fn from_early_exit(_: &str, answer: ToolResult) -> Self {
        answer
    }
}

/// An exit code; all messages have been printed.
impl FromEarlyExit for i32 {
    fn from_early_exit(tool: &str, answer: ToolResult) -> Self {
        crate::exit::IntoExitCode::into_exit_code(answer, tool)
    }
}
