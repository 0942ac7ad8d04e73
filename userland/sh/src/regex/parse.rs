//! From the text of an expression to its tree.

use super::RegexError;
use crate::character::char_at;
use crate::pattern::{Class, Item, class_named};

/// Levels of groups within groups.
const MAX_DEPTH: u32 = 200;
/// The C library's bound on `{n,m}`.
const MAX_REPEAT: u32 = 32_767;

#[derive(Debug)]
pub(super) enum Node {
    Empty,
    /// One character, or an invalid byte.
    Char(Vec<u8>),
    Any,
    Set {
        negated: bool,
        items: Vec<Item>,
    },
    Assertion(Assertion),
    Group {
        number: usize,
        inner: Box<Self>,
    },
    Repeat {
        inner: Box<Self>,
        min: u32,
        max: Option<u32>,
    },
    Concat(Vec<Self>),
    Alternate(Vec<Self>),
}

/// A position between characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Assertion {
    Start,
    End,
    WordEdge,
    NoWordEdge,
    WordStart,
    WordEnd,
}

#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) node: Node,
    pub(super) groups: usize,
}

pub(super) fn parse(pattern: &[u8]) -> Result<Parsed, RegexError> {
    let mut parser = Parser { text: pattern, pos: 0, groups: 0, depth: 0 };
    let node = parser.alternatives()?;
    Ok(Parsed { node, groups: parser.groups })
}

struct Parser<'a> {
    text: &'a [u8],
    pos: usize,
    groups: usize,
    depth: u32,
}

type Parse<T> = Result<T, RegexError>;

impl Parser<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.pos + ahead).copied()
    }

    fn rest(&self) -> &[u8] {
        self.text.get(self.pos..).unwrap_or_default()
    }

    fn alternatives(&mut self) -> Parse<Node> {
        let mut choices = vec![self.branch()?];
        while self.peek(0) == Some(b'|') {
            self.pos += 1;
            choices.push(self.branch()?);
        }
        Ok(match choices.pop() {
            Some(only) if choices.is_empty() => only,
            Some(last) => {
                choices.push(last);
                Node::Alternate(choices)
            }
            None => Node::Empty,
        })
    }

    fn branch(&mut self) -> Parse<Node> {
        let mut nodes = Vec::new();
        while let Some(byte) = self.peek(0) {
            if byte == b'|' || (byte == b')' && self.depth > 0) {
                break;
            }
            nodes.push(self.repeated()?);
        }
        Ok(if nodes.is_empty() { Node::Empty } else { Node::Concat(nodes) })
    }

    /// One element with its repetition.
    fn repeated(&mut self) -> Parse<Node> {
        let mut node = self.element()?;
        if matches!(node, Node::Assertion(_)) {
            // A repetition that follows is refused as one without an element.
            return Ok(node);
        }
        loop {
            let (min, max) = match self.peek(0) {
                Some(b'*') => (0, None),
                Some(b'+') => (1, None),
                Some(b'?') => (0, Some(1)),
                Some(b'{') => self.interval()?,
                _ => return Ok(node),
            };
            self.pos += 1;
            node = Node::Repeat { inner: Box::new(node), min, max };
        }
    }

    /// `{n}`, `{n,}`, `{,m}`, `{n,m}`, up to the closing brace, which is not read.
    fn interval(&mut self) -> Parse<(u32, Option<u32>)> {
        self.pos += 1;
        let low = self.count()?;
        let high = if self.peek(0) == Some(b',') {
            self.pos += 1;
            self.count()?
        } else if low.is_some() {
            low
        } else {
            return Err(RegexError::Pattern);
        };
        let min = low.unwrap_or(0);
        let fits = min <= MAX_REPEAT && high.is_none_or(|high| high >= min && high <= MAX_REPEAT);
        if self.peek(0) == Some(b'}') && fits { Ok((min, high)) } else { Err(RegexError::Pattern) }
    }

    fn count(&mut self) -> Parse<Option<u32>> {
        let len = self.rest().iter().position(|b| !b.is_ascii_digit()).unwrap_or(self.rest().len());
        if len == 0 {
            return Ok(None);
        }
        let digits = std::str::from_utf8(self.rest().get(..len).unwrap_or_default()).ok();
        let value = digits.and_then(|digits| digits.parse().ok()).ok_or(RegexError::Pattern)?;
        self.pos += len;
        Ok(Some(value))
    }

    fn element(&mut self) -> Parse<Node> {
        let Some((_, len)) = char_at(self.rest()) else { return Err(RegexError::Pattern) };
        let char = self.rest().get(..len).unwrap_or_default().to_vec();
        self.pos += len;
        Ok(match char.as_slice() {
            b"*" | b"+" | b"?" | b"{" => return Err(RegexError::Pattern),
            b"." => Node::Any,
            b"^" => Node::Assertion(Assertion::Start),
            b"$" => Node::Assertion(Assertion::End),
            b"[" => self.set()?,
            b"(" => self.group()?,
            b"\\" => return self.escaped(),
            _ => Node::Char(char),
        })
    }

    fn group(&mut self) -> Parse<Node> {
        if self.depth >= MAX_DEPTH {
            return Err(RegexError::Pattern);
        }
        self.depth += 1;
        self.groups += 1;
        let number = self.groups;
        let inner = Box::new(self.alternatives()?);
        if self.peek(0) != Some(b')') {
            return Err(RegexError::Pattern);
        }
        self.pos += 1;
        self.depth -= 1;
        Ok(Node::Group { number, inner })
    }

    fn escaped(&mut self) -> Parse<Node> {
        let Some((_, len)) = char_at(self.rest()) else { return Err(RegexError::Pattern) };
        let char = self.rest().get(..len).unwrap_or_default().to_vec();
        self.pos += len;
        let class = |negated: bool, name: &[u8]| {
            let items = class_named(name).map(Item::Class).into_iter().collect();
            Node::Set { negated, items }
        };
        Ok(match char.as_slice() {
            b"w" => class(false, b"word"),
            b"W" => class(true, b"word"),
            b"s" => class(false, b"space"),
            b"S" => class(true, b"space"),
            b"b" => Node::Assertion(Assertion::WordEdge),
            b"B" => Node::Assertion(Assertion::NoWordEdge),
            b"<" => Node::Assertion(Assertion::WordStart),
            b">" => Node::Assertion(Assertion::WordEnd),
            b"`" => Node::Assertion(Assertion::Start),
            b"'" => Node::Assertion(Assertion::End),
            [b'1'..=b'9'] => return Err(RegexError::BackReference),
            _ => Node::Char(char),
        })
    }

    /// The text after `[`. A backslash is literal here.
    fn set(&mut self) -> Parse<Node> {
        let negated = self.peek(0) == Some(b'^');
        self.pos += usize::from(negated);
        let mut items = Vec::new();
        let mut first = true;
        loop {
            match self.peek(0) {
                None => return Err(RegexError::Pattern),
                Some(b']') if !first => {
                    self.pos += 1;
                    return Ok(Node::Set { negated, items });
                }
                _ => {}
            }
            if let Some(class) = self.class()? {
                items.push(Item::Class(class));
            } else {
                items.push(self.range(first)?);
            }
            first = false;
        }
    }

    /// `[:name:]`, if it comes next.
    fn class(&mut self) -> Parse<Option<Class>> {
        if !self.rest().starts_with(b"[:") {
            return Ok(None);
        }
        let name = self.bracketed(b':').ok_or(RegexError::Pattern)?;
        class_named(&name).map(Some).ok_or(RegexError::Pattern)
    }

    /// The text of `[:..:]`, `[=..=]` or `[...]`.
    fn bracketed(&mut self, mark: u8) -> Option<Vec<u8>> {
        let inside = self.rest().get(2..)?;
        let len = inside.windows(2).position(|pair| pair == [mark, b']'])?;
        let text = inside.get(..len)?.to_vec();
        self.pos += len + 4;
        Some(text)
    }

    /// One character or a range of them.
    fn range(&mut self, first: bool) -> Parse<Item> {
        let low = self.set_char()?;
        let is_range = self.peek(0) == Some(b'-') && !matches!(self.peek(1), None | Some(b']'));
        if !is_range {
            return Ok(Item::Range(low, low));
        }
        // A dash that is neither first nor last separates the ends of a range.
        if low == '-' && !first {
            return Err(RegexError::Pattern);
        }
        self.pos += 1;
        let high = self.set_char()?;
        if low > high {
            return Err(RegexError::Pattern);
        }
        Ok(Item::Range(low, high))
    }

    fn set_char(&mut self) -> Parse<char> {
        if let (Some(b'['), Some(mark @ (b'.' | b'='))) = (self.peek(0), self.peek(1)) {
            let name = self.bracketed(mark).ok_or(RegexError::Pattern)?;
            return match char_at(&name) {
                Some((char, len)) if len == name.len() => Ok(char),
                // Collating symbols of several letters need a locale with collation rules.
                _ => Err(RegexError::Pattern),
            };
        }
        let (char, len) = char_at(self.rest()).ok_or(RegexError::Pattern)?;
        self.pos += len;
        Ok(char)
    }
}
