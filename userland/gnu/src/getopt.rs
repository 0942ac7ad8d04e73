//! Options as `getopt_long` of GNU reads them.

use std::collections::VecDeque;

/// Whether an option takes a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// It takes none.
    Nothing,
    /// It must have one.
    Value,
    /// It may have one, only in the same argument.
    Maybe,
}

/// A long option.
#[derive(Clone, Copy, Debug)]
pub struct Long {
    /// Its name without dashes.
    pub name: &'static str,
    /// Whether it takes a value.
    pub takes: Takes,
    /// What [`Item::Option`] reports: the letter of the short option it stands for, or a character of its own.
    pub key: char,
}

/// A long option from its parts.
pub const fn long(name: &'static str, takes: Takes, key: char) -> Long {
    Long { name, takes, key }
}

/// Which options a tool has.
#[derive(Clone, Copy, Debug)]
pub struct Spec<'a> {
    /// Short options as `getopt` writes them: a letter, then `:` when it takes a value, `::` when it may.
    pub short: &'a str,
    /// Long options.
    pub long: &'a [Long],
    /// Whether options may stand after operands. Tools that run another command stop at the first operand.
    pub permute: bool,
}

/// One thing on a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// An option with its value.
    Option(char, Option<Vec<u8>>),
    /// Not an option.
    Operand(Vec<u8>),
}

/// Reads a command line item by item. Operands come in their place, so that a caller which needs them last collects them.
#[derive(Debug)]
pub struct Parser<'a> {
    spec: Spec<'a>,
    rest: VecDeque<Vec<u8>>,
    /// Short options of one argument that are still to be read.
    cluster: Vec<u8>,
    ended: bool,
}

impl<'a> Parser<'a> {
    /// Begins with the argument after the program's name.
    pub fn new(spec: Spec<'a>, arguments: Vec<Vec<u8>>) -> Self {
        Self { spec, rest: arguments.into(), cluster: Vec::new(), ended: false }
    }

    /// The next item; `None` at the end. An error is the text of GNU's message, without the tool's name.
    pub fn next_item(&mut self) -> Result<Option<Item>, String> {
        if !self.cluster.is_empty() {
            return self.short().map(Some);
        }
        let Some(argument) = self.rest.pop_front() else {
            return Ok(None);
        };
        if self.ended || argument.len() < 2 || argument.first() != Some(&b'-') {
            self.ended |= !self.spec.permute;
            return Ok(Some(Item::Operand(argument)));
        }
        if argument == b"--" {
            self.ended = true;
            return self.next_item();
        }
        if let Some(option) = argument.strip_prefix(b"--") {
            return self.long(option).map(Some);
        }
        self.cluster = argument.get(1..).unwrap_or_default().to_vec();
        self.short().map(Some)
    }

    /// The argument that is read next, unless one is half read.
    pub fn peek(&self) -> Option<&[u8]> {
        self.rest.front().filter(|_| self.cluster.is_empty()).map(Vec::as_slice)
    }

    /// Takes the argument that is read next as an operand, whatever it looks like.
    pub fn take_operand(&mut self) -> Option<Vec<u8>> {
        self.ended |= !self.spec.permute;
        self.rest.pop_front().filter(|_| self.cluster.is_empty())
    }

    fn short(&mut self) -> Result<Item, String> {
        let letter = char::from(self.cluster.remove(0));
        let takes = self.takes(letter).ok_or_else(|| format!("invalid option -- '{letter}'"))?;
        let attached = !self.cluster.is_empty();
        let value = match takes {
            Takes::Nothing => None,
            Takes::Maybe if !attached => None,
            Takes::Value if !attached => {
                let value = self.rest.pop_front();
                Some(value.ok_or_else(|| format!("option requires an argument -- '{letter}'"))?)
            }
            Takes::Value | Takes::Maybe => Some(std::mem::take(&mut self.cluster)),
        };
        Ok(Item::Option(letter, value))
    }

    fn takes(&self, letter: char) -> Option<Takes> {
        if letter == ':' {
            return None;
        }
        let (_, after) = self.spec.short.split_once(letter)?;
        Some(match after {
            after if after.starts_with("::") => Takes::Maybe,
            after if after.starts_with(':') => Takes::Value,
            _ => Takes::Nothing,
        })
    }

    fn long(&mut self, option: &[u8]) -> Result<Item, String> {
        let (name, value) = match option.iter().position(|byte| *byte == b'=') {
            Some(at) => (option.get(..at).unwrap_or_default(), option.get(at + 1..).map(<[u8]>::to_vec)),
            None => (option, None),
        };
        let name = String::from_utf8_lossy(name).into_owned();
        let found = self.find(&name, &String::from_utf8_lossy(option))?;
        let value = match (found.takes, value) {
            (Takes::Nothing, Some(_)) => return Err(format!("option '--{}' doesn't allow an argument", found.name)),
            (Takes::Value, None) => {
                let value = self.rest.pop_front();
                Some(value.ok_or_else(|| format!("option '--{}' requires an argument", found.name))?)
            }
            (_, value) => value,
        };
        Ok(Item::Option(found.key, value))
    }

    /// The long option of that name, which may be shortened as long as it stays clear. Messages show what was `given`.
    fn find(&self, name: &str, given: &str) -> Result<Long, String> {
        if let Some(exact) = self.spec.long.iter().find(|long| long.name == name) {
            return Ok(*exact);
        }
        let fitting: Vec<&Long> = self.spec.long.iter().filter(|long| long.name.starts_with(name)).collect();
        let Some(first) = fitting.first() else {
            return Err(format!("unrecognized option '--{given}'"));
        };
        if fitting.iter().all(|long| long.key == first.key && long.takes == first.takes) {
            return Ok(**first);
        }
        let names: String = fitting.iter().map(|long| format!(" '--{}'", long.name)).collect();
        Err(format!("option '--{given}' is ambiguous; possibilities:{names}"))
    }

    /// How many arguments are not begun yet.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// Everything that is not read yet.
    pub fn remaining(self) -> Vec<Vec<u8>> {
        self.rest.into()
    }
}

#[cfg(test)]
mod tests {
    use super::{Item, Long, Parser, Spec, Takes, long};

    const LONG: &[Long] = &[
        long("count", Takes::Nothing, 'c'),
        long("color", Takes::Maybe, '\u{1}'),
        long("colour", Takes::Maybe, '\u{1}'),
        long("context", Takes::Value, 'C'),
    ];

    fn read(permute: bool, arguments: &[&str]) -> Result<Vec<Item>, String> {
        let arguments = arguments.iter().map(|argument| argument.as_bytes().to_vec()).collect();
        let mut parser = Parser::new(Spec { short: "cC:x::", long: LONG, permute }, arguments);
        let mut items = Vec::new();
        while let Some(item) = parser.next_item()? {
            items.push(item);
        }
        Ok(items)
    }

    fn option(key: char, value: Option<&str>) -> Item {
        Item::Option(key, value.map(|value| value.as_bytes().to_vec()))
    }

    fn operand(text: &str) -> Item {
        Item::Operand(text.as_bytes().to_vec())
    }

    #[test]
    fn short_options_cluster_and_take_values_from_either_side() {
        assert_eq!(read(true, &["-cC3"]), Ok(vec![option('c', None), option('C', Some("3"))]));
        assert_eq!(
            read(true, &["-C", "3", "-x", "y"]),
            Ok(vec![option('C', Some("3")), option('x', None), operand("y")])
        );
        assert_eq!(read(true, &["-xy"]), Ok(vec![option('x', Some("y"))]));
    }

    #[test]
    fn options_after_operands_count_unless_the_tool_stops_there() {
        assert_eq!(read(true, &["a", "-c", "--", "-c"]), Ok(vec![operand("a"), option('c', None), operand("-c")]));
        assert_eq!(read(false, &["a", "-c"]), Ok(vec![operand("a"), operand("-c")]));
        assert_eq!(read(true, &["-", "-c"]), Ok(vec![operand("-"), option('c', None)]));
    }

    #[test]
    fn long_options_may_be_shortened_while_they_are_clear() {
        assert_eq!(read(true, &["--cou", "--colo=x"]), Ok(vec![option('c', None), option('\u{1}', Some("x"))]));
        let ambiguous = "option '--co' is ambiguous; possibilities: '--count' '--color' '--colour' '--context'";
        assert_eq!(read(true, &["--co"]), Err(ambiguous.to_owned()));
    }

    #[test]
    fn mistakes_are_told_in_the_words_of_gnu() {
        for (arguments, message) in [
            (&["-z"][..], "invalid option -- 'z'"),
            (&["-:"], "invalid option -- ':'"),
            (&["-C"], "option requires an argument -- 'C'"),
            (&["--context"], "option '--context' requires an argument"),
            (&["--count=1"], "option '--count' doesn't allow an argument"),
            (&["--nothing"], "unrecognized option '--nothing'"),
        ] {
            assert_eq!(read(true, arguments), Err(message.to_owned()));
        }
    }
}
