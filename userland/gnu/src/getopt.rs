//! Option parser compatible with GNU `getopt_long`.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::marker::PhantomData;

/// Value requirement of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// No value.
    Nothing,
    /// A required value.
    Value,
    /// An optional value, only in the same argument.
    Maybe,
}

/// A long option.
#[derive(Clone, Copy, Debug)]
pub struct Long<K = char> {
    /// Its name without dashes.
    pub name: &'static str,
    /// Its value requirement.
    pub takes: Takes,
    /// Key that [`Item::Option`] reports.
    pub key: K,
}

/// A short option.
#[derive(Clone, Copy, Debug)]
pub struct Short<K> {
    /// Its letter.
    pub letter: char,
    /// Its value requirement.
    pub takes: Takes,
    /// Key that [`Item::Option`] reports.
    pub key: K,
}

/// One item of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item<K = char> {
    /// An option with its value.
    Option(K, Option<Vec<u8>>),
    /// Not an option.
    Operand(Vec<u8>),
}

/// The options of a tool. Searched only for options that a command line has: most have few, and a tool starts for each.
pub trait OptionList<K: Clone> {
    /// Returns the option with a letter.
    fn short(&self, letter: char) -> Option<Short<K>>;

    /// Returns all long options.
    fn long(&self) -> Cow<'_, [Long<K>]>;
}

/// Lists of short and of long options.
impl<K: Copy> OptionList<K> for (Vec<Short<K>>, &[Long<K>]) {
    fn short(&self, letter: char) -> Option<Short<K>> {
        self.0.iter().find(|short| short.letter == letter).copied()
    }

    fn long(&self) -> Cow<'_, [Long<K>]> {
        Cow::Borrowed(self.1)
    }
}

/// Parses a command line item by item. Operands are returned in order between the options.
#[derive(Debug)]
pub struct Parser<K, L> {
    options: L,
    permute: bool,
    rest: VecDeque<Vec<u8>>,
    /// Remaining short options of the current argument.
    cluster: Vec<u8>,
    ended: bool,
    /// Letter of the last option, if it was a short one.
    letter: Option<char>,
    key: PhantomData<K>,
}

/// Parses a list of short options in the format of `getopt`.
pub fn short_options(spec: &str) -> Vec<Short<char>> {
    let mut short = Vec::new();
    let mut rest = spec.trim_start_matches(':');
    while let Some(letter) = rest.chars().next() {
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
        let after = rest.trim_start_matches(':');
        let takes = match rest.len() - after.len() {
            0 => Takes::Nothing,
            1 => Takes::Value,
            _ => Takes::Maybe,
        };
        rest = after;
        short.push(Short { letter, takes, key: letter });
    }
    short
}

impl<K: Copy + PartialEq, L: OptionList<K>> Parser<K, L> {
    /// Starts with the argument after the program's name. If `permute` is false, options end at the first operand.
    pub fn new(options: L, permute: bool, arguments: Vec<Vec<u8>>) -> Self {
        let (rest, key) = (arguments.into(), PhantomData);
        Self { options, permute, rest, cluster: Vec::new(), ended: false, letter: None, key }
    }

    /// Letter of the last option, if it was a short one.
    pub fn letter(&self) -> Option<char> {
        self.letter
    }

    /// Returns the next item; `None` at the end. An error is the text of GNU's message, without the tool's name.
    pub fn next_item(&mut self) -> Result<Option<Item<K>>, String> {
        if !self.cluster.is_empty() {
            return self.short().map(Some);
        }
        let Some(argument) = self.rest.pop_front() else {
            return Ok(None);
        };
        if self.ended || argument.len() < 2 || argument.first() != Some(&b'-') {
            self.ended |= !self.permute;
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

    /// The next argument, unless one is partly parsed.
    pub fn peek(&self) -> Option<&[u8]> {
        self.rest.front().filter(|_| self.cluster.is_empty()).map(Vec::as_slice)
    }

    /// Takes the next argument as an operand, even if it looks like an option.
    pub fn take_operand(&mut self) -> Option<Vec<u8>> {
        self.ended |= !self.permute;
        self.rest.pop_front().filter(|_| self.cluster.is_empty())
    }

    fn short(&mut self) -> Result<Item<K>, String> {
        let letter = char::from(self.cluster.remove(0));
        let found = self.options.short(letter);
        let Short { takes, key, .. } = found.ok_or_else(|| format!("invalid option -- '{letter}'"))?;
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
        self.letter = Some(letter);
        Ok(Item::Option(key, value))
    }

    fn long(&mut self, option: &[u8]) -> Result<Item<K>, String> {
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
        self.letter = None;
        Ok(Item::Option(found.key, value))
    }

    /// Finds the long option of this name or unambiguous prefix. Messages show `given`.
    fn find(&self, name: &str, given: &str) -> Result<Long<K>, String> {
        let options = self.options.long();
        if let Some(exact) = options.iter().find(|long| long.name == name) {
            return Ok(*exact);
        }
        let fitting: Vec<&Long<K>> = options.iter().filter(|long| long.name.starts_with(name)).collect();
        let Some(first) = fitting.first() else {
            return Err(format!("unrecognized option '--{given}'"));
        };
        if fitting.iter().all(|long| long.key == first.key && long.takes == first.takes) {
            return Ok(**first);
        }
        let names: String = fitting.iter().map(|long| format!(" '--{}'", long.name)).collect();
        Err(format!("option '--{given}' is ambiguous; possibilities:{names}"))
    }

    /// Returns the number of arguments that are not parsed yet.
    pub fn left(&self) -> usize {
        self.rest.len()
    }

    /// Returns all remaining arguments.
    pub fn remaining(self) -> Vec<Vec<u8>> {
        self.rest.into()
    }
}

#[cfg(test)]
mod tests {
    use super::{Item, Long, Parser, Takes, short_options};

    const LONG: &[Long] = &[
        Long { name: "count", takes: Takes::Nothing, key: 'c' },
        Long { name: "color", takes: Takes::Maybe, key: '\u{1}' },
        Long { name: "colour", takes: Takes::Maybe, key: '\u{1}' },
        Long { name: "context", takes: Takes::Value, key: 'C' },
    ];

    fn read(permute: bool, arguments: &[&str]) -> Result<Vec<Item>, String> {
        let arguments = arguments.iter().map(|argument| argument.as_bytes().to_vec()).collect();
        let mut parser = Parser::new((short_options("cC:x::"), LONG), permute, arguments);
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
    fn messages_are_those_of_gnu() {
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
