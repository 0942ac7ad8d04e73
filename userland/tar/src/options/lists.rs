//! Files that list names.

use tidebox_gnu::getopt::Item;
use tidebox_gnu::stream::read_all;

use super::apply::Reading;
use super::flags::{Flag, LINE};
use super::{Stop, Word};
use crate::message::{error, warn};
use crate::quote::escaped;

/// List format.
#[derive(Debug)]
pub(super) struct Lists {
    null: bool,
    /// Lines are always names, never options, if set.
    verbatim: Option<bool>,
    unquotes: bool,
    /// A list was read.
    pub(super) any: bool,
}

impl Default for Lists {
    fn default() -> Self {
        Self { null: false, verbatim: None, unquotes: true, any: false }
    }
}

impl Lists {
    /// Applies an option; returns whether it belongs to this group.
    pub(super) fn set(&mut self, id: Flag) -> bool {
        match id {
            Flag::Null | Flag::NoNull => self.null = id == Flag::Null,
            Flag::Verbatim | Flag::NoVerbatim => self.verbatim = Some(id == Flag::Verbatim),
            Flag::Unquote | Flag::NoUnquote => self.unquotes = id == Flag::Unquote,
            _ => return false,
        }
        true
    }
}

impl Reading {
    /// Reads the names of a list, and the directories between them.
    pub(super) fn list(&mut self, file: &[u8]) -> Result<(), Stop> {
        self.lists.any = true;
        let text = match read_all(file) {
            // As in GNU tar, a directory reads as an empty list.
            Err(tidebox_rt::Errno::ISDIR) => Vec::new(),
            read => read.map_err(|errno| {
                Stop::Fatal([file, b": Cannot stat: ".as_slice(), errno.text().as_bytes()].concat())
            })?,
        };
        let mut end = if self.lists.null { 0 } else { b'\n' };
        if end != 0 && text.contains(&0) {
            warn(&[&escaped(file, true), b": file name read contains nul character"]);
            end = 0;
        }
        let verbatim = self.lists.verbatim.unwrap_or(self.lists.null);
        for (number, line) in text.split(|byte| *byte == end).enumerate().filter(|(_, line)| !line.is_empty()) {
            if !verbatim && line.trim_ascii_start().starts_with(b"-") {
                match directory(line) {
                    Some(directory) => self.options.words.push(Word::Folder(directory)),
                    None => error(&[&escaped(file, true), format!(":{}: unrecognized option", number + 1).as_bytes()]),
                }
            } else if self.lists.unquotes && !self.lists.null {
                self.name(unquoted(line));
            } else {
                self.name(line.to_vec());
            }
        }
        // A directory of a list that no name follows is not an error of the command line.
        self.idle.clear();
        Ok(())
    }
}

/// Returns the value of the option `-C` in a line of a list. `None` for other options.
fn directory(line: &[u8]) -> Option<Vec<u8>> {
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).map(<[u8]>::to_vec).collect();
    let mut items = LINE.items(words);
    match (items.next_item::<Stop>(), items.next_item::<Stop>()) {
        (Ok(Some(Item::Option(Flag::Directory, value))), Ok(None)) => value,
        _ => None,
    }
}

/// Decodes C escapes in a name; unknown escapes are kept.
fn unquoted(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let Some((next, behind)) = after.split_first().filter(|_| *first == b'\\') else {
            out.push(*first);
            continue;
        };
        rest = behind;
        match next {
            b'\\' => out.push(b'\\'),
            b'a' => out.push(7),
            b'b' => out.push(8),
            b'f' => out.push(12),
            b'n' => out.push(b'\n'),
            b'r' => out.push(b'\r'),
            b't' => out.push(b'\t'),
            b'v' => out.push(11),
            b'?' => out.push(127),
            b'0'..=b'7' => {
                let digits = after.iter().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
                let value = after.iter().take(digits).fold(0_u32, |sum, digit| sum * 8 + u32::from(digit - b'0'));
                out.push(u8::try_from(value & 0xff).unwrap_or(0));
                rest = after.get(digits..).unwrap_or_default();
            }
            next => out.extend_from_slice(&[b'\\', *next]),
        }
    }
    out
}
