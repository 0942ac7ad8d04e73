//! Tables of options: the parser, `--help` (and with it `man`) and the refusal of what is not supported come from one list.
//!
//! [`options!`](crate::options!) defines an enum with one variant per option, and its table:
//!
//! ```
//! tidebox_gnu::options! {
//!     /// Options of `cp`.
//!     enum Flag {
//!         Recursive = "-R, -r, --recursive", "copy directories recursively";
//!         Reflink = "--reflink[=WHEN]", "control clone/CoW copies";
//!         Path = "--path", "";
//!         Context = "-Z, --context[=CTX]", "", unsupported "SELinux contexts are not supported";
//!     }
//! }
//! ```
//!
//! The first string is what `--help` shows: a long option that takes a value has `=NAME`, one that may take it `[=NAME]`. A
//! short option takes the mandatory value of the long one next to it. A short option alone is written as `-w COLS` or
//! `-I[FORMAT]`. `-0 ... -9` means all digits. Names after ` | ` are known, but not shown.
//!
//! The second string is the description. Its lines after the first are indented; those after an empty line are printed as they
//! are, for headings of the options that follow. Without a description `--help` does not show the option.

use std::borrow::Cow;

use crate::command_line::{FromEarlyExit, core_version};
use crate::exit::ToolResult;
use crate::getopt::{Item, Long, OptionList, Parser, Short, Takes};

/// One row of a table of options.
#[derive(Clone, Copy, Debug)]
pub struct Opt<I> {
    /// Variant of the option.
    pub id: I,
    /// Names and value, as `--help` shows them.
    pub names: &'static str,
    /// Description.
    pub help: &'static str,
    /// Message that refuses the option.
    pub unsupported: Option<&'static str>,
}

/// An enum with one variant per option. [`options!`](crate::options!) implements it.
pub trait OptionId: Copy + PartialEq + 'static {
    /// All options in the order of `--help`.
    const TABLE: &'static [Opt<Self>];
}

/// Defines the options of a tool: see [the module](crate::options).
#[macro_export]
macro_rules! options {
    ($(#[$meta:meta])* $visibility:vis enum $name:ident {
        $($id:ident = $names:literal, $help:literal $(, unsupported $message:literal)?;)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visibility enum $name { $($id),+ }

        impl $crate::options::OptionId for $name {
            const TABLE: &'static [$crate::options::Opt<Self>] = &[$($crate::options::Opt {
                id: Self::$id,
                names: $names,
                help: $help,
                unsupported: $crate::options!(@message $($message)?),
            }),+];
        }
    };
    (@message) => { None };
    (@message $message:literal) => { Some($message) };
}

/// The options of a command line in their order, and the operands.
pub type SplitLine<I> = (Vec<ParsedOption<I>>, Vec<Vec<u8>>);

/// An option of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedOption<I> {
    /// The option.
    pub id: I,
    /// Its letter, unless it was given by its long name.
    pub letter: Option<char>,
    /// Its value; empty without one.
    pub value: Vec<u8>,
}

/// Key of the parser.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Key<I> {
    Help,
    Version,
    /// Refused with the message.
    Unsupported(&'static str),
    Id(I),
}

/// Command line of a tool whose options are the table of `I`.
#[derive(Clone, Copy, Debug)]
pub struct Syntax<'a, I> {
    /// Name that messages begin with.
    pub tool: &'a str,
    /// Text of `--help` before the options.
    pub usage: &'a str,
    /// Column of `--help` in which descriptions start.
    pub column: usize,
    /// Width of the margin of `--help`: 2 in GNU, 1 in util-linux and procps.
    pub indent: usize,
    /// Text of `--help` after the options.
    pub notes: &'a str,
    /// True if options may follow operands. Tools that run another command stop at the first operand.
    pub permute: bool,
    /// Text of `--version`. If it is empty, the tool handles the option itself.
    pub version: &'a str,
    /// True for tools of GNU coreutils: `--help` and `--version` need no row, and the latter prints the same text in all.
    pub core: bool,
    /// Exit code of an invalid command line.
    pub usage_exit_code: i32,
    /// Options of the table that this tool lacks.
    pub without: &'a [I],
}

impl<'a, I: OptionId> Syntax<'a, I> {
    /// A tool whose options may follow operands, and that returns 1 for an invalid command line.
    pub const fn new(tool: &'a str, usage: &'a str, column: usize) -> Self {
        Self {
            tool,
            usage,
            column,
            indent: 2,
            notes: "",
            permute: true,
            version: "",
            core: false,
            usage_exit_code: 1,
            without: &[],
        }
    }

    /// Like [`new`](Self::new), but for a tool of GNU coreutils.
    pub const fn core(tool: &'a str, usage: &'a str, column: usize) -> Self {
        Self { core: true, ..Self::new(tool, usage, column) }
    }

    /// Returns the text of `--help`.
    pub fn help(&self) -> String {
        let mut out = self.usage.to_owned();
        for option in self.table().filter(|option| !option.help.is_empty()) {
            let names = option.names.split(" | ").next().unwrap_or_default();
            let margin = self.indent + if names.starts_with("--") { 4 } else { 0 };
            let label = format!("{:margin$}{names}", "");
            let mut plain = false;
            for (number, line) in option.help.lines().enumerate() {
                plain |= number > 0 && line.is_empty();
                if plain {
                    out.push_str(line);
                } else if number == 0 && label.len() < self.column {
                    out.push_str(&format!("{label:<width$} {line}", width = self.column - 1));
                } else if number == 0 {
                    out.push_str(format!("{label}  {line}").trim_end());
                } else {
                    out.push_str(&format!("{:width$}{line}", "", width = self.column));
                }
                out.push('\n');
            }
        }
        out + self.notes
    }

    /// Passes every option in order to `option` and returns the operands. Stops at the first invalid option, help request or
    /// option that `option` rejects.
    pub fn parse<E: FromEarlyExit>(
        &self,
        arguments: Vec<Vec<u8>>,
        mut option: impl FnMut(I, Vec<u8>) -> Result<(), E>,
    ) -> Result<Vec<Vec<u8>>, E> {
        self.parse_given(arguments, |given| option(given.id, given.value))
    }

    /// Like [`parse`](Self::parse), for tools that distinguish the names of an option.
    pub fn parse_given<E: FromEarlyExit>(
        &self,
        arguments: Vec<Vec<u8>>,
        mut option: impl FnMut(ParsedOption<I>) -> Result<(), E>,
    ) -> Result<Vec<Vec<u8>>, E> {
        let mut operands = Vec::new();
        let mut items = self.items(arguments);
        while let Some(item) = items.next_item()? {
            match item {
                Item::Operand(operand) => operands.push(operand),
                Item::Option(id, value) => {
                    option(ParsedOption { id, letter: items.parser.letter(), value: value.unwrap_or_default() })?;
                }
            }
        }
        Ok(operands)
    }

    /// Starts to read a command line item by item.
    pub fn items(&self, arguments: Vec<Vec<u8>>) -> Items<'_, I> {
        Items { syntax: self, parser: Parser::new(self, self.permute, arguments) }
    }

    /// Returns the options in their order, and the operands.
    pub fn split<E: FromEarlyExit>(&self, arguments: Vec<Vec<u8>>) -> Result<SplitLine<I>, E> {
        let mut options = Vec::new();
        let operands = self.parse_given(arguments, |given| {
            options.push(given);
            Ok(())
        })?;
        Ok((options, operands))
    }

    /// Returns whether a short option has a mandatory value.
    pub fn takes_value(&self, letter: char) -> bool {
        OptionList::short(&self, letter).is_some_and(|short| short.takes == Takes::Value)
    }

    /// Returns the error for a command line that the tool itself rejects.
    pub fn usage_error<E: FromEarlyExit>(&self, message: impl Into<String>) -> E {
        E::from_early_exit(self.tool, ToolResult::Usage(message.into(), self.usage_exit_code))
    }

    fn table(&self) -> impl Iterator<Item = &'static Opt<I>> {
        I::TABLE.iter().filter(|option| !self.without.contains(&option.id))
    }

    fn key(&self, option: &Opt<I>) -> Key<I> {
        let has = |name: &str| names(option.names).any(|known| known == name);
        match option.unsupported {
            Some(message) => Key::Unsupported(message),
            None if has("--help") => Key::Help,
            None if (self.core || !self.version.is_empty()) && has("--version") => Key::Version,
            None => Key::Id(option.id),
        }
    }
}

/// The options of a tool as the parser looks them up.
impl<I: OptionId> OptionList<Key<I>> for &Syntax<'_, I> {
    fn short(&self, letter: char) -> Option<Short<Key<I>>> {
        self.table().filter(|option| may_have(option.names, letter)).find_map(|option| {
            let found = names(option.names).find_map(|name| match name.split_once(" ... ") {
                Some((first, last)) => {
                    (short_letter(first)..=short_letter(last)).contains(&Some(letter)).then_some(Takes::Nothing)
                }
                None => {
                    let (name, takes) = takes(name);
                    (short_letter(name) == Some(letter)).then_some(takes)
                }
            })?;
            let is_range = option.names.contains(" ... ");
            let takes =
                if found == Takes::Nothing && !is_range && has_value(option.names) { Takes::Value } else { found };
            Some(Short { letter, takes, key: self.key(option) })
        })
    }

    fn long(&self) -> Cow<'_, [Long<Key<I>>]> {
        let mut long = Vec::new();
        for option in self.table() {
            let key = self.key(option);
            for (name, takes) in names(option.names).map(takes) {
                long.extend(name.strip_prefix("--").map(|name| Long { name, takes, key }));
            }
        }
        if self.core {
            for (name, key) in [("help", Key::Help), ("version", Key::Version)] {
                if !long.iter().any(|known| known.name == name) {
                    long.push(Long { name, takes: Takes::Nothing, key });
                }
            }
        }
        Cow::Owned(long)
    }
}

/// Options and operands of a command line, one by one.
#[derive(Debug)]
pub struct Items<'a, I: OptionId> {
    syntax: &'a Syntax<'a, I>,
    parser: Parser<Key<I>, &'a Syntax<'a, I>>,
}

impl<I: OptionId> Items<'_, I> {
    /// Returns the next item; `None` at the end. An error is the outcome of an invalid option, `--help` or `--version`.
    pub fn next_item<E: FromEarlyExit>(&mut self) -> Result<Option<Item<I>>, E> {
        let syntax = self.syntax;
        let answer = match self.parser.next_item() {
            Err(message) => ToolResult::Usage(message, syntax.usage_exit_code),
            Ok(None) => return Ok(None),
            Ok(Some(Item::Operand(operand))) => return Ok(Some(Item::Operand(operand))),
            Ok(Some(Item::Option(Key::Id(id), value))) => return Ok(Some(Item::Option(id, value))),
            Ok(Some(Item::Option(Key::Unsupported(message), _))) => {
                ToolResult::Failure(message.to_owned(), syntax.usage_exit_code)
            }
            Ok(Some(Item::Option(Key::Help, _))) => syntax.help().as_str().into(),
            Ok(Some(Item::Option(Key::Version, _))) if syntax.core => core_version(syntax.tool).as_str().into(),
            Ok(Some(Item::Option(Key::Version, _))) => syntax.version.into(),
        };
        Err(E::from_early_exit(syntax.tool, answer))
    }

    /// Letter of the last option, unless it was given by its long name.
    pub fn letter(&self) -> Option<char> {
        self.parser.letter()
    }

    /// Returns the next argument, unless one is partly parsed.
    pub fn peek(&self) -> Option<&[u8]> {
        self.parser.peek()
    }

    /// Takes the next argument as an operand, even if it looks like an option.
    pub fn take_operand(&mut self) -> Option<Vec<u8>> {
        self.parser.take_operand()
    }

    /// Number of arguments that are not started yet.
    pub fn left(&self) -> usize {
        self.parser.left()
    }

    /// Everything that is not read yet.
    pub fn remaining(self) -> Vec<Vec<u8>> {
        self.parser.remaining()
    }
}

/// Returns all names of an option, each with its value: the parts between `, ` and ` | `.
fn names(names: &'static str) -> impl Iterator<Item = &'static str> {
    let mut rest = Some(names);
    std::iter::from_fn(move || {
        let text = rest.take()?;
        let bytes = text.as_bytes();
        let separator = (0..bytes.len()).find_map(|at| match bytes.get(at..)? {
            [b',', b' ', ..] => Some((at, at + 2)),
            [b' ', b'|', b' ', ..] => Some((at, at + 3)),
            _ => None,
        });
        let Some((end, next)) = separator else { return Some(text) };
        rest = text.get(next..);
        text.get(..end)
    })
}

/// Returns false if an option surely lacks a letter, without taking its names apart. `-0 ... -9` has all digits.
fn may_have(names: &str, letter: char) -> bool {
    letter.is_ascii_digit()
        || names
            .as_bytes()
            .windows(2)
            .any(|pair| pair.first() == Some(&b'-') && pair.last().copied().map(char::from) == Some(letter))
}

/// Returns the letter of a short option.
fn short_letter(name: &str) -> Option<char> {
    let letter = name.strip_prefix('-')?.chars().next()?;
    (!name.starts_with("--")).then_some(letter)
}

/// Returns whether an option has a long name with a mandatory value.
fn has_value(text: &'static str) -> bool {
    names(text).any(|name| name.starts_with("--") && takes(name).1 == Takes::Value)
}

/// Splits a name from its value: `--color[=WHEN]`, `--width=COLS`, `-w COLS`, `-I[FORMAT]`.
fn takes(name: &'static str) -> (&'static str, Takes) {
    match name.find(['[', '=', ' ']) {
        Some(at) if name.get(at..).is_some_and(|value| value.starts_with('[')) && at > 1 => {
            (name.get(..at).unwrap_or_default(), Takes::Maybe)
        }
        Some(at) if at > 1 => (name.get(..at).unwrap_or_default(), Takes::Value),
        _ => (name, Takes::Nothing),
    }
}

#[cfg(test)]
mod tests {
    use super::Syntax;
    use crate::exit::ToolResult;

    crate::options! {
        /// Options of a tool.
        enum Flag {
            All = "-a, --all", "print everything";
            Width = "-w, --width=COLS", "width of the output\nin columns";
            Color = "--color[=WHEN] | --colour[=WHEN]", "color the output\n\nInput:";
            Format = "-I[FORMAT], --iso[=FORMAT]", "print a date";
            Backup = "-b, --backup[=HOW]", "keep backups";
            Key = "-k KEY", "sort by KEY";
            Old = "-0 ... -9", "";
            Context = "-Z, --context", "", unsupported "contexts are not supported";
        }
    }

    const SYNTAX: Syntax<'_, Flag> = Syntax { notes: "\nEnd.\n", ..Syntax::core("it", "Usage: it\n\n", 22) };

    fn parse(words: &[&str]) -> Result<(String, usize), ToolResult> {
        let mut given = String::new();
        let arguments = words.iter().map(|word| word.as_bytes().to_vec()).collect();
        let operands = SYNTAX.parse_given::<ToolResult>(arguments, |option| {
            let value = String::from_utf8_lossy(&option.value).into_owned();
            given.push_str(&format!("{:?}{}{value} ", option.id, option.letter.unwrap_or('-')));
            Ok(())
        })?;
        Ok((given, operands.len()))
    }

    #[test]
    fn values_follow_from_the_names() {
        let given =
            "Alla- Widthw9 Width-9 Color-x Color- FormatI FormatIx Backupb Backup-x Keykz Old0- ".replace("a-", "a");
        let words = "-a -w9 --wid 9 --colour=x --color -I -Ix -b --backup=x -k z -0 x".split(' ').collect::<Vec<_>>();
        assert_eq!(parse(&words), Ok((given.replace("Old0-", "Old0"), 1)));
        let requires = ToolResult::Usage("option requires an argument -- 'w'".to_owned(), 1);
        assert_eq!(parse(&["-w"]), Err(requires));
    }

    #[test]
    fn unsupported_options_are_refused_with_their_message() {
        let refused = Err(ToolResult::Failure("contexts are not supported".to_owned(), 1));
        assert_eq!(parse(&["-aZ"]), refused);
        assert_eq!(parse(&["--context"]), refused);
    }

    #[test]
    fn help_shows_the_table() {
        let text = "\
Usage: it

  -a, --all           print everything
  -w, --width=COLS    width of the output
                      in columns
      --color[=WHEN]  color the output

Input:
  -I[FORMAT], --iso[=FORMAT]  print a date
  -b, --backup[=HOW]  keep backups
  -k KEY              sort by KEY

End.
";
        assert_eq!(SYNTAX.help(), text);
        assert_eq!(parse(&["--help"]), Err(text.into()));
    }
}
