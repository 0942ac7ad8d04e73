//! Command lines as every tool reads them: options go to the tool; `--help`, `--version` and what is wrong are answered here.

use crate::answer::Answer;
use crate::getopt::{Item, Long, Parser, Spec, Takes};

/// Keys of the options that the core utilities share.
const HELP: char = '\u{f8fe}';
const VERSION: char = '\u{f8ff}';

/// What a core utility says of its version: scripts look for the first line, people read the second.
pub fn core_version(tool: &str) -> String {
    format!(
        "{tool} (GNU coreutils) 9.1\nTidebox does what that version does. This {tool} is part of Tidebox and free under MIT or Apache-2.0.\n"
    )
}

/// How the command line of a tool looks, and what the tool says of itself.
#[derive(Clone, Copy, Debug)]
pub struct CommandLine<'a> {
    /// The name that messages begin with.
    pub tool: &'a str,
    /// As in [`Spec`].
    pub short: &'a str,
    /// As in [`Spec`]. Whatever has the key of `help` prints the help, and likewise `version`.
    pub long: &'a [Long],
    /// As in [`Spec`].
    pub permute: bool,
    /// What `--help` prints.
    pub help: &'a str,
    /// What `--version` prints, where there is such an option.
    pub version: &'a str,
    /// Whether this is one of the core utilities, which all have `--help` and `--version` and tell the latter alike.
    pub core: bool,
    /// The exit code of a command line that is wrong.
    pub misuse: i32,
}

/// What ends a tool early, made from the answer to its command line.
pub trait Early {
    /// From the answer of the tool of that name.
    fn early(tool: &str, answer: Answer) -> Self;
}

impl Early for Answer {
    fn early(_: &str, answer: Answer) -> Self {
        answer
    }
}

/// An exit code; what there is to say has been said.
impl Early for i32 {
    fn early(tool: &str, answer: Answer) -> Self {
        crate::answer::Ending::end(answer, tool)
    }
}

impl<'a> CommandLine<'a> {
    /// A tool whose options may stand after operands and whose wrong command lines end with 1.
    pub const fn new(tool: &'a str, short: &'a str, long: &'a [Long], help: &'a str) -> Self {
        Self { tool, short, long, permute: true, help, version: "", core: false, misuse: 1 }
    }

    /// The same for one of the core utilities. `long` need not list `--help` and `--version`.
    pub const fn core(tool: &'a str, short: &'a str, long: &'a [Long], help: &'a str) -> Self {
        Self { core: true, ..Self::new(tool, short, long, help) }
    }

    /// Hands every option to `option`, in their order, and answers the operands. The first that is wrong, asks for help or
    /// is refused by `option` ends the reading.
    pub fn read<E: Early>(
        &self,
        arguments: Vec<Vec<u8>>,
        mut option: impl FnMut(char, Vec<u8>) -> Result<(), E>,
    ) -> Result<Vec<Vec<u8>>, E> {
        let mut long = self.long.to_vec();
        for (name, key) in [("help", HELP), ("version", VERSION)] {
            if self.core && !long.iter().any(|known| known.name == name) {
                long.push(Long { name, takes: Takes::Nothing, key });
            }
        }
        let key_of = |name| long.iter().find(|long| long.name == name).map(|long| long.key);
        let (help, version) = (key_of("help"), key_of("version"));
        let early = |answer| Err(E::early(self.tool, answer));
        let mut parser = Parser::new(Spec { short: self.short, long: &long, permute: self.permute }, arguments);
        let mut operands = Vec::new();
        loop {
            match parser.next_item() {
                Err(message) => return early(Answer::Usage(message, self.misuse)),
                Ok(None) => return Ok(operands),
                Ok(Some(Item::Operand(operand))) => operands.push(operand),
                Ok(Some(Item::Option(key, _))) if Some(key) == help => return early(self.help.into()),
                Ok(Some(Item::Option(key, _))) if Some(key) == version => {
                    return early(if self.core {
                        core_version(self.tool).as_str().into()
                    } else {
                        self.version.into()
                    });
                }
                Ok(Some(Item::Option(key, value))) => option(key, value.unwrap_or_default())?,
            }
        }
    }

    /// The whole command line: options in their order, and the operands.
    pub fn split<E: Early>(&self, arguments: Vec<Vec<u8>>) -> Result<crate::tool::CommandLine, E> {
        let mut options = Vec::new();
        let operands = self.read(arguments, |key, value| {
            options.push((key, value));
            Ok(())
        })?;
        Ok((options, operands))
    }

    /// The answer to a command line that the tool itself finds wrong.
    pub fn wrong<E: Early>(&self, message: impl Into<String>) -> E {
        E::early(self.tool, Answer::Usage(message.into(), self.misuse))
    }
}

#[cfg(test)]
mod tests {
    use super::CommandLine;
    use crate::answer::Answer;
    use crate::getopt::{Takes, long};

    fn read(words: &[&str]) -> Result<(String, Vec<Vec<u8>>), Answer> {
        let long =
            [long("all", Takes::Nothing, 'a'), long("help", Takes::Nothing, 'h'), long("version", Takes::Nothing, 'V')];
        let line = CommandLine { version: "it 1\n", ..CommandLine::new("it", "ahn:V", &long, "Usage: it\n") };
        let mut keys = String::new();
        let operands =
            line.read::<Answer>(words.iter().map(|word| word.as_bytes().to_vec()).collect(), |key, _| match key {
                'n' => Err(line.wrong("no")),
                key => {
                    keys.push(key);
                    Ok(())
                }
            })?;
        Ok((keys, operands))
    }

    #[test]
    fn options_go_to_the_tool_and_operands_are_answered() {
        assert_eq!(read(&["x", "-a", "--all", "--", "-a"]), Ok(("aa".to_owned(), vec![b"x".to_vec(), b"-a".to_vec()])));
    }

    #[test]
    fn what_comes_first_ends_the_reading() {
        assert_eq!(read(&["--help", "--nope"]), Err(Answer::Print(b"Usage: it\n".to_vec())));
        assert_eq!(read(&["-ah"]), Err(Answer::Print(b"Usage: it\n".to_vec())));
        assert_eq!(read(&["-V", "-n1"]), Err(Answer::Print(b"it 1\n".to_vec())));
        assert_eq!(read(&["-n1", "--help"]), Err(Answer::Usage("no".to_owned(), 1)));
        let unknown = Answer::Usage("unrecognized option '--nope'".to_owned(), 1);
        assert_eq!(read(&["--nope", "--help"]), Err(unknown));
    }
}
