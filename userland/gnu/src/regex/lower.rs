//! Translates the syntax tree into patterns for the engines.

use std::fmt::Write;

use regex_syntax::hir::{Capture, Class, ClassBytes, ClassBytesRange, Hir, Look, Repetition};

use super::Subject;
use super::bracket::byte_of_char;
use super::syntax::{Assertion, Node, Set};

/// Character comparison options.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LowerOptions {
    pub(crate) ignore_case: bool,
    /// `\w` matches the letters of Unicode.
    pub(crate) unicode: bool,
    /// Every byte is a character, as in the C locale.
    pub(crate) bytes: bool,
    /// The character that ends a line.
    pub(crate) terminator: char,
    pub(crate) subject: Subject,
    /// Captures groups.
    pub(crate) captures: bool,
}

impl LowerOptions {
    /// Translates the tree for the automaton. It must not contain back-references.
    pub(crate) fn hir(&self, node: &Node) -> Hir {
        match node {
            Node::Empty | Node::BackReference(_) => Hir::empty(),
            Node::Char(char) => self.char(*char),
            Node::Byte(byte) => Hir::literal([*byte]),
            Node::Any => self.set(&Set { negated: true, ranges: Vec::new() }),
            Node::Set(set) => self.set(set),
            Node::Assertion(place) => Hir::look(self.look(*place)),
            Node::Group { number, inner } if self.captures => {
                Hir::capture(Capture { index: *number, name: None, sub: Box::new(self.hir(inner)) })
            }
            Node::Group { inner, .. } => self.hir(inner),
            Node::Repeat { node, min, max } => {
                let sub = Box::new(self.hir(node));
                Hir::repetition(Repetition { min: *min, max: *max, greedy: true, sub })
            }
            Node::Concat(nodes) => Hir::concat(nodes.iter().map(|node| self.hir(node)).collect()),
            Node::Alternate(nodes) => Hir::alternation(nodes.iter().map(|node| self.hir(node)).collect()),
        }
    }

    fn char(&self, char: char) -> Hir {
        if self.ignore_case && (char.is_ascii_alphabetic() || !(char.is_ascii() || self.bytes)) {
            return self.set(&Set { negated: false, ranges: vec![(char, char)] });
        }
        Hir::literal(char.encode_utf8(&mut [0; 4]).as_bytes())
    }

    fn set(&self, set: &Set) -> Hir {
        let mut set = set.clone();
        if self.ignore_case {
            set.fold();
        }
        let terminator = Some(self.terminator).filter(|_| self.subject == Subject::Lines);
        if self.bytes {
            return Hir::class(Class::Bytes(byte_class(&set, terminator)));
        }
        Hir::class(Class::Unicode(set.class(terminator)))
    }

    fn look(&self, place: Assertion) -> Look {
        match (place, self.unicode) {
            (Assertion::LineStart, _) if self.subject == Subject::Text => Look::Start,
            (Assertion::LineEnd, _) if self.subject == Subject::Text => Look::End,
            (Assertion::TextStart, _) if self.subject != Subject::Lines => Look::Start,
            (Assertion::TextEnd, _) if self.subject != Subject::Lines => Look::End,
            (Assertion::LineStart | Assertion::TextStart, _) => Look::StartLF,
            (Assertion::LineEnd | Assertion::TextEnd, _) => Look::EndLF,
            (Assertion::WordEdge, true) => Look::WordUnicode,
            (Assertion::WordEdge, false) => Look::WordAscii,
            (Assertion::NoWordEdge, true) => Look::WordUnicodeNegate,
            (Assertion::NoWordEdge, false) => Look::WordAsciiNegate,
            (Assertion::WordStart, true) => Look::WordStartUnicode,
            (Assertion::WordStart, false) => Look::WordStartAscii,
            (Assertion::WordEnd, true) => Look::WordEndUnicode,
            (Assertion::WordEnd, false) => Look::WordEndAscii,
        }
    }

    /// Restricts the pattern to lines (`-x` of grep) or runs of `\w` (`-w`).
    pub(crate) fn bounded(&self, hir: Hir, whole_line: bool, whole_word: bool) -> Hir {
        if whole_line {
            return Hir::concat(vec![Hir::look(Look::StartLF), hir, Hir::look(Look::EndLF)]);
        }
        if !whole_word {
            return hir;
        }
        let (start, end) = if self.unicode {
            (Look::WordStartHalfUnicode, Look::WordEndHalfUnicode)
        } else {
            (Look::WordStartHalfAscii, Look::WordEndHalfAscii)
        };
        Hir::concat(vec![Hir::look(start), hir, Hir::look(end)])
    }

    /// Translates the tree into a pattern for a backtracking engine.
    pub(crate) fn text(&self, node: &Node, out: &mut String) {
        // Writing to a String cannot fail.
        match node {
            Node::Empty => {}
            Node::Char(char) => escape(*char, out),
            Node::Byte(byte) => {
                let _ = write!(out, "(?-u:\\x{byte:02X})");
            }
            Node::Any if self.subject == Subject::Lines => out.push('.'),
            Node::Any => out.push_str("(?s:.)"),
            Node::Set(set) => self.set_text(set, out),
            Node::Assertion(place) => out.push_str(match place {
                Assertion::LineStart if self.subject == Subject::TextOfLines => "(?m:^)",
                Assertion::LineEnd if self.subject == Subject::TextOfLines => "(?m:$)",
                Assertion::LineStart | Assertion::TextStart => r"\A",
                Assertion::LineEnd | Assertion::TextEnd => r"\z",
                Assertion::WordEdge => r"\b",
                Assertion::NoWordEdge => r"\B",
                Assertion::WordStart => r"\b(?=\w)",
                Assertion::WordEnd => r"\b(?<=\w)",
            }),
            Node::Group { inner, .. } => {
                out.push('(');
                self.text(inner, out);
                out.push(')');
            }
            Node::BackReference(number) => {
                let _ = write!(out, "(?:\\{number})");
            }
            Node::Repeat { node, min, max } => {
                out.push_str("(?:");
                self.text(node, out);
                let _ = match max {
                    Some(max) => write!(out, "){{{min},{max}}}"),
                    None => write!(out, "){{{min},}}"),
                };
            }
            Node::Concat(nodes) => nodes.iter().for_each(|node| self.text(node, out)),
            Node::Alternate(nodes) => {
                out.push_str("(?:");
                for (at, node) in nodes.iter().enumerate() {
                    if at > 0 {
                        out.push('|');
                    }
                    self.text(node, out);
                }
                out.push(')');
            }
        }
    }

    fn set_text(&self, set: &Set, out: &mut String) {
        out.push_str(if set.negated { "[^" } else { "[" });
        for (low, high) in &set.ranges {
            let _ = write!(out, "\\x{{{:x}}}-\\x{{{:x}}}", u32::from(*low), u32::from(*high));
        }
        out.push(']');
    }
}

/// A set in a byte locale: a character beyond ASCII contributes its UTF-8 bytes.
fn byte_class(set: &Set, terminator: Option<char>) -> ClassBytes {
    let mut class = ClassBytes::empty();
    for (low, high) in &set.ranges {
        let byte = |char: char| u8::try_from(char).ok().filter(u8::is_ascii).or(byte_of_char(char));
        match (byte(*low), byte(*high)) {
            (Some(low), Some(high)) => class.push(ClassBytesRange::new(low, high)),
            (Some(low), None) => class.push(ClassBytesRange::new(low, u8::MAX)),
            _ => {
                for end in [low, high] {
                    for byte in end.encode_utf8(&mut [0; 4]).bytes() {
                        class.push(ClassBytesRange::new(byte, byte));
                    }
                }
            }
        }
    }
    if set.negated {
        class.negate();
    }
    if let Some(end) = terminator.and_then(|end| u8::try_from(end).ok()) {
        class.difference(&ClassBytes::new([ClassBytesRange::new(end, end)]));
    }
    class
}

fn escape(char: char, out: &mut String) {
    if char.is_ascii_punctuation() || char.is_ascii_whitespace() {
        let _ = write!(out, "\\x{{{:x}}}", u32::from(char));
    } else {
        out.push(char);
    }
}

/// Returns whether the first match found is always the longest at its position. True if at most one part varies in length, and
/// only by the number of repetitions of a character: greedy search tries the longest first.
pub(crate) fn first_is_longest(node: &Node) -> bool {
    varying(node).is_some_and(|parts| parts <= 1)
}

/// Returns the number of parts of variable length; `None` if one varies other than by repeating a character.
fn varying(node: &Node) -> Option<u32> {
    match node {
        Node::Group { inner, .. } => varying(inner),
        Node::Concat(nodes) => nodes.iter().try_fold(0u32, |sum, node| Some(sum.saturating_add(varying(node)?))),
        Node::Alternate(_) | Node::BackReference(_) => None,
        Node::Repeat { node, .. } => matches!(**node, Node::Char(_) | Node::Any | Node::Set(_)).then_some(1),
        _ => Some(0),
    }
}
