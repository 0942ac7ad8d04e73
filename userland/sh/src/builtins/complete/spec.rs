//! How the words of one command are completed.

use std::collections::BTreeSet;

use crate::expand::{needs_ansi, single_quote, trace_quote};
use crate::ir::Bytes;

/// Options of `-o`, sorted as they are printed.
const OPTIONS: &[&str] =
    &["bashdefault", "default", "dirnames", "filenames", "noquote", "nosort", "nospace", "plusdirs"];

/// What can be listed: the letter if there is one, the name for `-A`. In the order in which it is printed.
pub(super) const ACTIONS: &[(Option<u8>, &str)] = &[
    (Some(b'a'), "alias"),
    (Some(b'b'), "builtin"),
    (Some(b'c'), "command"),
    (Some(b'd'), "directory"),
    (Some(b'e'), "export"),
    (Some(b'f'), "file"),
    (Some(b'g'), "group"),
    (Some(b'j'), "job"),
    (Some(b'k'), "keyword"),
    (Some(b's'), "service"),
    (Some(b'u'), "user"),
    (Some(b'v'), "variable"),
    (None, "arrayvar"),
    (None, "binding"),
    (None, "disabled"),
    (None, "enabled"),
    (None, "function"),
    (None, "helptopic"),
    (None, "hostname"),
    (None, "running"),
    (None, "setopt"),
    (None, "shopt"),
    (None, "signal"),
    (None, "stopped"),
];

/// The option of `-o` with this name.
pub(super) fn option(name: &[u8]) -> Option<&'static str> {
    OPTIONS.iter().find(|option| option.as_bytes() == name).copied()
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Spec {
    pub(super) options: BTreeSet<&'static str>,
    pub(super) actions: BTreeSet<&'static str>,
    pub(super) glob: Option<Bytes>,
    pub(super) words: Option<Bytes>,
    pub(super) prefix: Option<Bytes>,
    pub(super) suffix: Option<Bytes>,
    pub(super) filter: Option<Bytes>,
    pub(super) function: Option<Bytes>,
    pub(super) command: Option<Bytes>,
}

impl Spec {
    /// The command that makes it.
    pub(super) fn line(&self, name: &[u8]) -> Bytes {
        let mut line = b"complete ".to_vec();
        for option in &self.options {
            line.extend([b"-o ", option.as_bytes(), b" "].concat());
        }
        for (letter, action) in ACTIONS.iter().filter(|(_, action)| self.actions.contains(action)) {
            match letter {
                Some(letter) => line.extend([b'-', *letter, b' ']),
                None => line.extend([b"-A ", action.as_bytes(), b" "].concat()),
            }
        }
        for (option, value) in [
            (b'G', &self.glob),
            (b'W', &self.words),
            (b'P', &self.prefix),
            (b'S', &self.suffix),
            (b'X', &self.filter),
            (b'C', &self.command),
        ] {
            if let Some(value) = value {
                line.extend([&[b'-', option, b' '][..], &single_quote(value), b" "].concat());
            }
        }
        if let Some(function) = &self.function {
            line.extend([b"-F ", &function[..], b" "].concat());
        }
        line.extend(shown(name));
        line.push(b'\n');
        line
    }

    /// Its options as `compopt` prints them.
    pub(super) fn options_line(&self, name: &[u8]) -> Bytes {
        let mut line = b"compopt ".to_vec();
        for option in OPTIONS {
            let sign: &[u8] = if self.options.contains(option) { b"-o " } else { b"+o " };
            line.extend([sign, option.as_bytes(), b" "].concat());
        }
        line.extend(shown(name));
        line.push(b'\n');
        line
    }
}

fn shown(name: &[u8]) -> Bytes {
    match name {
        _ if name == super::DEFAULT => b"-D".to_vec(),
        _ if name == super::EMPTY => b"-E".to_vec(),
        _ if name == super::INITIAL => b"-I".to_vec(),
        _ if needs_ansi(name) => single_quote(name),
        _ => trace_quote(name),
    }
}
