//! Syntax tree of a pattern.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// A node of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Node {
    /// Matches nothing, anywhere.
    Empty,
    /// One character.
    Char(char),
    /// A byte of the pattern that is not UTF-8.
    Byte(u8),
    /// Any character.
    Any,
    /// One character of a set.
    Set(Set),
    /// A zero-width assertion.
    Assertion(Assertion),
    /// A group that a back-reference can name.
    Group { number: u32, inner: Box<Self> },
    /// A back-reference to the group of this number.
    BackReference(u32),
    /// A repeated node; no maximum means any number.
    Repeat { node: Box<Self>, min: u32, max: Option<u32> },
    /// Concatenation.
    Concat(Vec<Self>),
    /// Alternation.
    Alternate(Vec<Self>),
}

/// A zero-width assertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Assertion {
    /// `^`
    LineStart,
    /// `$`
    LineEnd,
    /// `` \` ``
    TextStart,
    /// `\'`
    TextEnd,
    /// `\b`
    WordEdge,
    /// `\B`
    NoWordEdge,
    /// `\<`
    WordStart,
    /// `\>`
    WordEnd,
}

/// A set of characters as ranges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Set {
    /// True for the complement.
    pub(crate) negated: bool,
    /// First and last character of each range.
    pub(crate) ranges: Vec<(char, char)>,
}

/// A character class: its name, its ASCII members, and the property that defines the rest.
type Named = (&'static str, &'static [(char, char)], &'static str);

const NAMED: &[Named] = &[
    ("alpha", &[('A', 'Z'), ('a', 'z')], r"\p{Alphabetic}"),
    ("digit", &[('0', '9')], ""),
    ("alnum", &[('0', '9'), ('A', 'Z'), ('a', 'z')], r"[\p{Alphabetic}\p{Nd}]"),
    ("upper", &[('A', 'Z')], r"\p{Uppercase}"),
    ("lower", &[('a', 'z')], r"\p{Lowercase}"),
    ("space", &[('\t', '\r'), (' ', ' ')], r"[\p{White_Space}&&[^\u{a0}\u{2007}\u{202f}]]"),
    ("blank", &[('\t', '\t'), (' ', ' ')], r"[\p{Zs}&&[^\u{a0}\u{2007}\u{202f}]]"),
    ("punct", &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')], r"[\p{P}\p{S}]"),
    ("print", &[(' ', '~')], r"[^\p{C}]"),
    ("graph", &[('!', '~')], r"[^\p{C}\p{Z}]"),
    ("cntrl", &[('\0', '\u{1f}'), ('\u{7f}', '\u{7f}')], r"\p{Cc}"),
    ("xdigit", &[('0', '9'), ('A', 'F'), ('a', 'f')], ""),
    ("word", &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')], r"[\p{Alphabetic}\p{Nd}]"),
];

impl Set {
    /// A named class. Extends beyond ASCII only with `unicode`, because the tables are large and unused in the C locale.
    pub(crate) fn named(name: &str, unicode: bool) -> Option<Self> {
        let (_, ascii, property) = NAMED.iter().find(|(known, ..)| *known == name)?;
        let mut ranges = ascii.to_vec();
        if unicode && !property.is_empty() {
            ranges.extend(property_ranges(property));
        }
        Some(Self { negated: false, ranges })
    }

    /// Case-insensitive closure. ASCII letters stay within ASCII.
    pub(crate) fn fold(&mut self) {
        let mut beyond = Vec::new();
        for (low, high) in self.ranges.clone() {
            for (begin, end, shift) in [('a', 'z', -32), ('A', 'Z', 32)] {
                let (from, to) = (low.max(begin), high.min(end));
                let moved = |c: char| u32::try_from(i64::from(u32::from(c)) + shift).ok().and_then(char::from_u32);
                if let (true, Some(from), Some(to)) = (from <= to, moved(from), moved(to)) {
                    self.ranges.push((from, to));
                }
            }
            if !high.is_ascii() {
                beyond.push(ClassUnicodeRange::new(low.max('\u{80}'), high));
            }
        }
        if !beyond.is_empty() {
            let mut class = ClassUnicode::new(beyond);
            // Cannot fail: the tables are built in.
            if class.try_case_fold_simple().is_ok() {
                self.ranges.extend(class.iter().map(|range| (range.start(), range.end())));
            }
        }
    }

    /// Formats the set for the engine, without one character.
    pub(crate) fn class(&self, without: Option<char>) -> ClassUnicode {
        let mut class = ClassUnicode::new(self.ranges.iter().map(|(low, high)| ClassUnicodeRange::new(*low, *high)));
        if self.negated {
            class.negate();
        }
        if let Some(without) = without {
            class.difference(&ClassUnicode::new([ClassUnicodeRange::new(without, without)]));
        }
        class
    }
}

fn property_ranges(property: &str) -> Vec<(char, char)> {
    let Ok(hir) = regex_syntax::parse(property) else {
        return Vec::new();
    };
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => class.iter().map(|range| (range.start(), range.end())).collect(),
        _ => Vec::new(),
    }
}
