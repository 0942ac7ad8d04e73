//! Files that list names and options.

use std::collections::BTreeMap;

use tidebox_gnu::getopt::{Item, Parser, Spec};

use super::reading::Reading;
use super::{Stop, whole};
use crate::flags::{
    ADD_FILE, ANCHORED, EXCLUDE, EXCLUDE_BACKUPS, EXCLUDE_CACHES, EXCLUDE_CACHES_ALL, EXCLUDE_CACHES_UNDER,
    EXCLUDE_IGNORE, EXCLUDE_IGNORE_BELOW, EXCLUDE_TAG, EXCLUDE_TAG_ALL, EXCLUDE_TAG_UNDER, EXCLUDE_VCS,
    EXCLUDE_VCS_IGNORES, IGNORE_CASE, LONG, NO_ANCHORED, NO_IGNORE_CASE, NO_NULL, NO_RECURSION, NO_SLASH, NO_UNQUOTE,
    NO_VERBATIM, NO_WILDCARDS, NULL, RECURSION, SLASH, UNQUOTE, VERBATIM, WILDCARDS,
};
use crate::message::{error, warn};
use crate::quote::escaped;

/// Options allowed in a list.
const ALLOWED: &[char] = &[
    'C',
    'T',
    'X',
    ADD_FILE,
    ANCHORED,
    EXCLUDE,
    EXCLUDE_BACKUPS,
    EXCLUDE_CACHES,
    EXCLUDE_CACHES_ALL,
    EXCLUDE_CACHES_UNDER,
    EXCLUDE_IGNORE,
    EXCLUDE_IGNORE_BELOW,
    EXCLUDE_TAG,
    EXCLUDE_TAG_ALL,
    EXCLUDE_TAG_UNDER,
    EXCLUDE_VCS,
    EXCLUDE_VCS_IGNORES,
    IGNORE_CASE,
    NO_ANCHORED,
    NO_IGNORE_CASE,
    NO_NULL,
    NO_RECURSION,
    NO_SLASH,
    NO_UNQUOTE,
    NO_VERBATIM,
    NO_WILDCARDS,
    NULL,
    RECURSION,
    SLASH,
    UNQUOTE,
    VERBATIM,
    WILDCARDS,
];

/// List format.
#[derive(Debug)]
pub(super) struct Lists {
    null: bool,
    /// Lines are always names, never options, if set.
    verbatim: Option<bool>,
    unquotes: bool,
    /// Lists that were read, and the option that requested them.
    read: BTreeMap<Vec<u8>, Vec<u8>>,
    /// The current list.
    at: Option<Vec<u8>>,
}

impl Default for Lists {
    fn default() -> Self {
        Self { null: false, verbatim: None, unquotes: true, read: BTreeMap::new(), at: None }
    }
}

impl Lists {
    /// Returns whether any list was read.
    pub(super) fn any(&self) -> bool {
        !self.read.is_empty()
    }

    /// Applies an option; returns whether it belongs to this group.
    pub(super) fn set(&mut self, key: char) -> bool {
        match key {
            NULL | NO_NULL => self.null = key == NULL,
            VERBATIM | NO_VERBATIM => self.verbatim = Some(key == VERBATIM),
            UNQUOTE | NO_UNQUOTE => self.unquotes = key == UNQUOTE,
            _ => return false,
        }
        true
    }
}

impl Reading {
    /// Reads the names of a list, and the options between them.
    pub(super) fn list(&mut self, file: &[u8]) -> Result<(), Stop> {
        let asker = self.lists.at.clone().unwrap_or_else(|| b"command line".to_vec());
        if let Some(first) = self.lists.read.get(file) {
            error(&[&escaped(file, true), b": file list requested from ", &asker, b" already read from ", first]);
            return Ok(());
        }
        self.lists.read.insert(file.to_vec(), asker);
        let text = match whole(file) {
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
        let before = self.lists.at.replace(file.to_vec());
        for (number, line) in text.split(|byte| *byte == end).enumerate().filter(|(_, line)| !line.is_empty()) {
            if !verbatim && line.trim_ascii_start().starts_with(b"-") {
                self.listed_options(file, number + 1, line)?;
            } else if self.lists.unquotes && !self.lists.null {
                self.name(unquoted(line));
            } else {
                self.name(line.to_vec());
            }
        }
        self.lists.at = before;
        // Directories of a list that no name follows are not an error of the command line.
        self.idle.clear();
        Ok(())
    }

    /// Applies a line of options. Rejects the whole line if one option is not allowed.
    fn listed_options(&mut self, file: &[u8], number: usize, line: &[u8]) -> Result<(), Stop> {
        let mut parser = Parser::new(Spec { short: "C:T:X:", long: LONG, permute: true }, words(line));
        loop {
            match parser.next_item() {
                Ok(None) => return Ok(()),
                Ok(Some(Item::Option(key, value))) if ALLOWED.contains(&key) => self.set(key, value)?,
                Ok(Some(Item::Operand(_))) => return Err(Stop::Fatal(b"unhandled positional option 0".to_vec())),
                Ok(Some(Item::Option(..))) | Err(_) => {
                    error(&[&escaped(file, true), format!(":{number}: unrecognized option").as_bytes()]);
                    return Ok(());
                }
            }
        }
    }
}

/// Splits a line into shell words, without expansions.
pub(super) fn words(line: &[u8]) -> Vec<Vec<u8>> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut quote = None;
    let mut bytes = line.iter().copied();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (Some(open), close) if open == close => quote = None,
            (Some(b'\''), byte) => word.get_or_insert_default().push(byte),
            (_, b'\\') => word.get_or_insert_default().extend(bytes.next()),
            (None, b'\'' | b'"') => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (None, b' ' | b'\t' | b'\n') => words.extend(word.take()),
            (_, byte) => word.get_or_insert_default().push(byte),
        }
    }
    words.extend(word);
    words
}

/// Decodes C escapes in a name; unknown escapes are kept.
pub(super) fn unquoted(name: &[u8]) -> Vec<u8> {
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
