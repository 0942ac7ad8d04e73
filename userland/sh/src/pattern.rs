//! Patterns of the shell: `*`, `?`, brackets, extended groups.
//!
//! Matching keeps the set of all positions in the text after each element, so that its cost stays polynomial for nested
//! groups.

mod bracket;
mod matcher;
mod parse;
mod quoting;

use crate::character::in_bytes_where;
use crate::ir::Bytes;
use matcher::{Matcher, simple_match};
use parse::parse;

pub(crate) use bracket::{class_named, in_set};
pub(crate) use quoting::{escape_into, has_special, is_glob, is_pattern, needs_backslash};

#[derive(Debug)]
enum Node {
    /// Exactly this byte.
    Byte(u8),
    /// Any one character.
    Any,
    /// Any run of characters.
    Star,
    Set {
        negated: bool,
        items: Vec<Item>,
    },
    /// `?( )`, `*( )`, `+( )`, `@( )`, `!( )`
    Group {
        kind: u8,
        choices: Vec<Vec<Self>>,
    },
}

/// An item of a bracket expression.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Range(char, char),
    Class(Class),
}

/// A test such as `[:alpha:]`.
pub(crate) type Class = fn(char) -> bool;

/// A compiled pattern.
#[derive(Debug)]
pub(crate) struct Pattern {
    nodes: Vec<Node>,
    fold: bool,
    /// It is no UTF-8, so that every byte of it is a character.
    invalid_utf8: bool,
}

/// The syntax of a pattern.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Style {
    /// `@(a|b)` and the other extended patterns are groups.
    pub(crate) extended: bool,
    /// Upper and lower case are the same.
    pub(crate) fold: bool,
}

impl Pattern {
    /// Parses a pattern. A backslash quotes the next byte.
    pub(crate) fn new(text: &[u8], style: Style) -> Self {
        let invalid_utf8 = std::str::from_utf8(text).is_err();
        let nodes = in_bytes_where(invalid_utf8, || parse(text, style));
        Self { nodes, fold: style.fold, invalid_utf8 }
    }

    /// Runs `inner`, which matches parts of `text`. Where the pattern or the text is no UTF-8 every byte is a character
    /// then.
    pub(crate) fn within<T>(&self, text: &[u8], inner: impl FnOnce() -> T) -> T {
        in_bytes_where(self.invalid_utf8 || std::str::from_utf8(text).is_err(), inner)
    }

    /// The text of a pattern without special characters.
    pub(crate) fn literal(&self) -> Option<Bytes> {
        if self.fold {
            return None;
        }
        self.nodes.iter().map(|node| if let Node::Byte(byte) = node { Some(*byte) } else { None }).collect()
    }

    /// Returns whether the pattern is empty.
    pub(crate) fn is_nothing(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns whether the pattern can match a dot at the start of a name explicitly.
    pub(crate) fn may_start_with_dot(&self) -> bool {
        fn dot(nodes: &[Node]) -> bool {
            match nodes.split_first() {
                Some((Node::Byte(byte), _)) => *byte == b'.',
                Some((Node::Group { kind, choices }, rest)) => {
                    (*kind != b'!' && choices.iter().any(|choice| dot(choice)))
                        || (matches!(kind, b'?' | b'*') && dot(rest))
                }
                _ => false,
            }
        }
        dot(&self.nodes)
    }

    /// Returns whether it starts with `*`; like bash, replacements then also match in empty text.
    pub(crate) fn starts_with_star(&self) -> bool {
        matches!(self.nodes.first(), Some(Node::Star | Node::Group { kind: b'*', .. }))
    }

    /// Returns whether all of `text` matches.
    pub(crate) fn matches(&self, text: &[u8]) -> bool {
        self.within(text, || self.fits(text))
    }

    /// Like [`Self::matches`], for a part of the text passed to [`Self::within`].
    pub(crate) fn fits(&self, text: &[u8]) -> bool {
        if self.nodes.iter().all(|node| !matches!(node, Node::Group { .. })) {
            return simple_match(&self.nodes, text, self.fold);
        }
        self.ends(text).last() == Some(&text.len())
    }

    /// Returns whether a name matches if only an explicit dot matches its leading dot.
    pub(crate) fn matches_hidden(&self, name: &[u8]) -> bool {
        let mut matcher = Matcher::new(name, self.fold, true);
        self.within(name, || matcher.ends(&self.nodes, vec![0]).last() == Some(&name.len()))
    }

    /// The sorted lengths of all prefixes of `text` that match. `text` is part of the text passed to [`Self::within`].
    pub(crate) fn ends(&self, text: &[u8]) -> Vec<usize> {
        Matcher::new(text, self.fold, false).ends(&self.nodes, vec![0])
    }
}
