//! Command-line parsing shared by all tools. Options go to the tool; `--help`, `--version` and errors are handled here.

use std::borrow::Cow;

use crate::exit::ToolResult;
use crate::getopt::{Item, Long, Parser, Short, Takes, short_options};

/// Key of an option.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Key {
    Help,
    Version,
    /// Key of the tool.
    Tool(char),
}

/// `--version` text of a core utility: scripts parse the first line.
pub fn core_version(tool: &str) -> String {
    format!(
        "{tool} (GNU coreutils) 9.1\nTidebox does what that version does. This {tool} is part of Tidebox and free under MIT or Apache-2.0.\n"
    )
}

/// Command-line syntax and texts of a tool.
#[derive(Clone, Copy, Debug)]
pub struct CommandLine<'a> {
    /// Prefix of messages.
    pub tool: &'a str,
    /// As in [`Spec`].
    pub short: &'a str,
    /// As in [`Spec`]. Options with the key of `help` print the help; those with the key of `version` print the version.
    pub long: &'a [Long],
    /// As in [`Spec`].
    pub permute: bool,
    /// Text of `--help`.
    pub help: &'a str,
    /// Text of `--version`, if the tool has this option.
    pub version: &'a str,
    /// True for core utilities, which all have `--help` and `--version` with the same version text.
    pub core: bool,
    /// Exit code of a wrong command line.
    pub usage_exit_code: i32,
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

impl<'a> CommandLine<'a> {
    /// A tool whose options may follow operands and whose command-line errors exit with 1.
    pub const fn new(tool: &'a str, short: &'a str, long: &'a [Long], help: &'a str) -> Self {
        Self { tool, short, long, permute: true, help, version: "", core: false, usage_exit_code: 1 }
    }

    /// Like [`Self::new`], but for a core utility. `long` need not list `--help` and `--version`.
    pub const fn core(tool: &'a str, short: &'a str, long: &'a [Long], help: &'a str) -> Self {
        Self { core: true, ..Self::new(tool, short, long, help) }
    }

    /// Passes every option in order to `option` and returns the operands. Stops at the first error, help request or option that
    /// `option` rejects.
    pub fn parse<E: FromEarlyExit>(
        &self,
        arguments: Vec<Vec<u8>>,
        mut option: impl FnMut(char, Vec<u8>) -> Result<(), E>,
    ) -> Result<Vec<Vec<u8>>, E> {
        let named = |name: &str| self.long.iter().find(|long| long.name == name).map(|long| long.key);
        let (help, version) = (named("help"), named("version"));
        let key_of = |key: char| match key {
            key if Some(key) == help => Key::Help,
            key if Some(key) == version => Key::Version,
            key => Key::Tool(key),
        };
        let with_key = |long: &Long| Long { name: long.name, takes: long.takes, key: key_of(long.key) };
        let mut long: Vec<Long<Key>> = self.long.iter().map(with_key).collect();
        for (name, key) in [("help", Key::Help), ("version", Key::Version)] {
            if self.core && !long.iter().any(|known| known.name == name) {
                long.push(Long { name, takes: Takes::Nothing, key });
            }
        }
        let short = short_options(self.short);
        let short =
            short.into_iter().map(|short| Short { letter: short.letter, takes: short.takes, key: key_of(short.key) });
        let from_early_exit = |answer| Err(E::from_early_exit(self.tool, answer));
        let mut parser = Parser::with_options(short.collect(), Cow::Owned(long), self.permute, arguments);
        let mut operands = Vec::new();
        loop {
            match parser.next_item() {
                Err(message) => return from_early_exit(ToolResult::Usage(message, self.usage_exit_code)),
                Ok(None) => return Ok(operands),
                Ok(Some(Item::Operand(operand))) => operands.push(operand),
                Ok(Some(Item::Option(Key::Help, _))) => return from_early_exit(self.help.into()),
                Ok(Some(Item::Option(Key::Version, _))) => {
                    return from_early_exit(if self.core {
                        core_version(self.tool).as_str().into()
                    } else {
                        self.version.into()
                    });
                }
                Ok(Some(Item::Option(Key::Tool(key), value))) => option(key, value.unwrap_or_default())?,
            }
        }
    }

    /// Error for a command line that the tool itself rejects.
    pub fn usage_error<E: FromEarlyExit>(&self, message: impl Into<String>) -> E {
        E::from_early_exit(self.tool, ToolResult::Usage(message.into(), self.usage_exit_code))
    }
}

#[cfg(test)]
mod tests {
    use super::CommandLine;
    use crate::exit::ToolResult;
    use crate::getopt::{Takes, long};

    fn parse(words: &[&str]) -> Result<(String, Vec<Vec<u8>>), ToolResult> {
        let long =
            [long("all", Takes::Nothing, 'a'), long("help", Takes::Nothing, 'h'), long("version", Takes::Nothing, 'V')];
        let line = CommandLine { version: "it 1\n", ..CommandLine::new("it", "ahn:V", &long, "Usage: it\n") };
        let mut keys = String::new();
        let operands = line.parse::<ToolResult>(
            words.iter().map(|word| word.as_bytes().to_vec()).collect(),
            |key, _| match key {
                'n' => Err(line.usage_error("no")),
                key => {
                    keys.push(key);
                    Ok(())
                }
            },
        )?;
        Ok((keys, operands))
    }

    #[test]
    fn options_go_to_the_tool_and_operands_are_answered() {
        assert_eq!(
            parse(&["x", "-a", "--all", "--", "-a"]),
            Ok(("aa".to_owned(), vec![b"x".to_vec(), b"-a".to_vec()]))
        );
    }

    #[test]
    fn what_comes_first_ends_the_reading() {
        assert_eq!(parse(&["--help", "--nope"]), Err(ToolResult::Print(b"Usage: it\n".to_vec())));
        assert_eq!(parse(&["-ah"]), Err(ToolResult::Print(b"Usage: it\n".to_vec())));
        assert_eq!(parse(&["-V", "-n1"]), Err(ToolResult::Print(b"it 1\n".to_vec())));
        assert_eq!(parse(&["-n1", "--help"]), Err(ToolResult::Usage("no".to_owned(), 1)));
        let unknown = ToolResult::Usage("unrecognized option '--nope'".to_owned(), 1);
        assert_eq!(parse(&["--nope", "--help"]), Err(unknown));
    }
}
