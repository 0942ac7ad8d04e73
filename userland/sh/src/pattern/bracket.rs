//! Bracket expressions: `[a-z]`, `[![:alpha:]]`, `[[.hyphen.]]`.

use super::parse::Reader;
use super::{Class, Item, Node};
use crate::character::char_at;

impl Reader<'_> {
    /// The text after `[`; `None`, with nothing read, if the bracket does not close.
    pub(super) fn set(&mut self) -> Option<Node> {
        let start = self.pos;
        let negated = matches!(self.peek(0), Some(b'!' | b'^'));
        self.pos += usize::from(negated);
        let mut items = Vec::new();
        let mut first = true;
        loop {
            let Some(byte) = self.peek(0) else {
                self.pos = start;
                return None;
            };
            if byte == b']' && !first {
                self.pos += 1;
                return Some(Node::Set { negated, items });
            }
            first = false;
            if byte == b'['
                && self.peek(1) == Some(b':')
                && let Some(class) = self.class()
            {
                items.push(Item::Class(class));
                continue;
            }
            if byte == b'['
                && let Some(mark @ (b':' | b'.' | b'=')) = self.peek(1)
                && self.skip_unknown(mark)
            {
                continue;
            }
            if byte == b'[' && self.peek(1) == Some(b':') {
                // An unclosed class matches nothing; the following text is literal.
                self.pos += 1;
            }
            let low = self.set_char()?;
            let is_range = self.peek(0) == Some(b'-') && !matches!(self.peek(1), None | Some(b']'));
            if is_range {
                self.pos += 1;
                if self.peek(0) == Some(b'[')
                    && let Some(mark @ (b'.' | b'=')) = self.peek(1)
                    && self.skip_unknown(mark)
                {
                    // A range to nowhere holds nothing.
                    continue;
                }
                let high = self.set_char()?;
                items.push(Item::Range(low, high));
            } else {
                items.push(Item::Range(low, low));
            }
        }
    }

    /// Skips an unknown class or symbol, which matches nothing. Returns whether there was one.
    fn skip_unknown(&mut self, mark: u8) -> bool {
        let before = self.pos;
        if mark != b':' && self.symbol(mark).is_some() {
            self.pos = before;
            return false;
        }
        let rest = self.text.get(self.pos + 2..).unwrap_or_default();
        match rest.windows(2).position(|pair| pair == [mark, b']']) {
            Some(len) => {
                self.pos += len + 4;
                true
            }
            None => false,
        }
    }

    /// One character of a bracket expression.
    fn set_char(&mut self) -> Option<char> {
        if let (Some(b'['), Some(mark @ (b'.' | b'='))) = (self.peek(0), self.peek(1))
            && let Some(symbol) = self.symbol(mark)
        {
            return Some(symbol);
        }
        if self.peek(0) == Some(b'\\') && self.peek(1).is_some() {
            self.pos += 1;
        }
        let (char, len) = char_at(self.text.get(self.pos..)?)?;
        self.pos += len;
        Some(char)
    }

    /// `[.x.]` or `[=x=]`: a character. Names of characters are not supported.
    fn symbol(&mut self, mark: u8) -> Option<char> {
        let rest = self.text.get(self.pos + 2..)?;
        let len = rest.windows(2).position(|pair| pair == [mark, b']'])?;
        let name = rest.get(..len)?;
        let (symbol, _) = char_at(name).filter(|(_, one)| *one == name.len())?;
        self.pos += len + 4;
        Some(symbol)
    }

    /// `[:name:]`
    fn class(&mut self) -> Option<Class> {
        let rest = self.text.get(self.pos + 2..)?;
        let len = rest.windows(2).position(|pair| pair == b":]")?;
        let class = class_named(rest.get(..len)?)?;
        self.pos += len + 4;
        Some(class)
    }
}

/// The class that `[:name:]` means.
pub(crate) fn class_named(name: &[u8]) -> Option<Class> {
    Some(match name {
        b"alpha" => char::is_alphabetic,
        b"digit" => |c| c.is_ascii_digit(),
        b"alnum" => char::is_alphanumeric,
        b"upper" => char::is_uppercase,
        b"lower" => char::is_lowercase,
        b"space" => |c| c.is_whitespace() && !matches!(c, '\u{85}' | '\u{a0}' | '\u{2007}' | '\u{202f}'),
        b"blank" => |c| c == ' ' || c == '\t',
        b"punct" => |c| {
            if c.is_ascii() {
                c.is_ascii_punctuation()
            } else {
                !(c.is_alphanumeric() || c.is_whitespace() || c.is_control())
            }
        },
        b"print" => |c| !c.is_control(),
        b"graph" => |c| !c.is_control() && !c.is_whitespace(),
        b"cntrl" => char::is_control,
        b"xdigit" => |c| c.is_ascii_hexdigit(),
        b"word" => |c| c.is_alphanumeric() || c == '_',
        b"ascii" => |c| c.is_ascii(),
        _ => return None,
    })
}

fn fold_char(char: char) -> char {
    char.to_lowercase().next().unwrap_or(char)
}

/// Returns whether a character is in a bracket expression.
pub(crate) fn in_set(negated: bool, items: &[Item], char: char, fold: bool) -> bool {
    let one = |char: char| {
        items.iter().any(|item| match item {
            Item::Range(low, high) => (*low..=*high).contains(&char),
            Item::Class(class) => class(char),
        })
    };
    let found = one(char) || (fold && (one(fold_char(char)) || char.to_uppercase().next().is_some_and(one)));
    found != negated
}
