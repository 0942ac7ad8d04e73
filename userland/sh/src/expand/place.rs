//! Words of builtins that name a variable or an element of an array.

use super::lossy;
use crate::ir::{Bytes, Name};
use crate::parse::token::name_len;
use crate::state::{Run, Shell};
use crate::vars::Key;

/// What a word such as `name[subscript]` names.
#[derive(Clone, Debug)]
pub(crate) struct PlaceName {
    pub(crate) name: Name,
    pub(crate) subscript: Option<Bytes>,
    /// The key of an associative array is the subscript as it stands, not what it expands to.
    literal: bool,
}

/// Where the bracket is that closes a subscript.
enum Closing {
    /// Behind what quotes, brackets and substitutions hold.
    Balanced,
    /// The first one.
    First,
    /// The last byte.
    Last,
}

impl Shell {
    /// The place that a builtin's word names; `None` when it names none.
    pub(crate) fn place_of(&self, word: &[u8]) -> Option<PlaceName> {
        let len = name_len(word);
        let (name, rest) = word.split_at(len);
        if len == 0 {
            return None;
        }
        let marked = self.references.iter().any(|known| known == word);
        let literal = marked || self.options.assoc_expand_once;
        if rest.is_empty() {
            return Some(PlaceName { name: name.into(), subscript: None, literal });
        }
        let closing = match self.is_keyed(name) {
            true if marked => Closing::Last,
            true if literal => Closing::First,
            _ => Closing::Balanced,
        };
        let subscript = within_brackets(rest, &closing)?;
        Some(PlaceName { name: name.into(), subscript: Some(subscript.to_vec()), literal })
    }

    /// What the subscript of a place means; `None` after a complaint.
    pub(crate) fn key_of_place(&mut self, place: &PlaceName) -> Run<Option<Key>> {
        let Some(subscript) = &place.subscript else { return Ok(Some(Key::Whole)) };
        let assoc = self.is_keyed(&place.name);
        let whole = matches!(subscript.as_slice(), b"@" | b"*");
        let key = match assoc {
            true if whole || place.literal => Key::Word(subscript.clone()),
            false if whole => {
                self.refuse(format!("{}[{}]: bad array subscript", lossy(&place.name), lossy(subscript)))?;
                return Ok(None);
            }
            _ => self.key_of(&place.name, &crate::parse::subscript_from_text(subscript))?,
        };
        if key == Key::Word(Bytes::new()) {
            self.refuse(format!("{}[{}]: bad array subscript", lossy(&place.name), lossy(subscript)))?;
            return Ok(None);
        }
        Ok(Some(key))
    }

    /// What the subscript of an element means that is declared; `None` after a complaint.
    pub(crate) fn key_of_declared(&mut self, name: &Name, subscript: &[u8]) -> Run<Option<Key>> {
        let literal = self.options.assoc_expand_once;
        let place = PlaceName { name: Name::clone(name), subscript: Some(subscript.to_vec()), literal };
        self.key_of_place(&place)
    }

    /// Assigns to what a builtin's word names; says whether that was allowed.
    pub(crate) fn assign_place(&mut self, word: &[u8], value: Bytes) -> Run<bool> {
        let Some(place) = self.place_of(word) else { return Ok(self.refuse_name(word)) };
        match self.key_of_place(&place)? {
            Some(key) => self.assign(&place.name, key, false, value),
            None => Ok(false),
        }
    }
}

/// The subscript in the brackets that all of `text` is.
fn within_brackets<'a>(text: &'a [u8], closing: &Closing) -> Option<&'a [u8]> {
    let inside = text.strip_prefix(b"[")?;
    let end = match closing {
        Closing::Balanced => balanced(inside)?,
        Closing::First => inside.iter().position(|&byte| byte == b']')?,
        Closing::Last => inside.len().checked_sub(1).filter(|&at| inside.get(at) == Some(&b']'))?,
    };
    // An empty subscript names nothing.
    (end > 0 && end + 1 == inside.len()).then(|| inside.get(..end)).flatten()
}

/// The length of the text before the bracket that closes it.
fn balanced(text: &[u8]) -> Option<usize> {
    let mut open = 0_u32;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let rest = text.get(at + 1..).unwrap_or_default();
        match byte {
            b'\\' => at += 1,
            b'[' => open += 1,
            b']' if open == 0 => return Some(at),
            b']' => open -= 1,
            b'\'' | b'`' => at += 1 + rest.iter().position(|&other| other == byte)?,
            b'"' => at += 1 + end_of_double(rest)?,
            b'$' => match rest.first() {
                Some(b'(') => at += 1 + end_of_nested(rest, b'(', b')')?,
                Some(b'{') => at += 1 + end_of_nested(rest, b'{', b'}')?,
                _ => {}
            },
            _ => {}
        }
        at += 1;
    }
    None
}

fn end_of_double(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            b'"' => return Some(at),
            _ => {}
        }
        at += 1;
    }
    None
}

fn end_of_nested(text: &[u8], opens: u8, closes: u8) -> Option<usize> {
    let mut depth = 0_u32;
    for (at, &byte) in text.iter().enumerate() {
        if byte == opens {
            depth += 1;
        } else if byte == closes {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// Whether text as it is written in the script names an element of an array.
pub(crate) fn names_element(raw: &[u8]) -> bool {
    let (name, rest) = raw.split_at(name_len(raw));
    !name.is_empty() && within_brackets(rest, &Closing::Balanced).is_some()
}

/// The subscript at the start of a text, if it has one, and what follows it. `None` when its bracket does not close.
pub(crate) fn split_subscript(text: &[u8], first: bool) -> Option<(Option<&[u8]>, &[u8])> {
    let Some(inside) = text.strip_prefix(b"[") else { return Some((None, text)) };
    let end = if first { inside.iter().position(|&byte| byte == b']')? } else { balanced(inside)? };
    if end == 0 {
        return None;
    }
    Some((inside.get(..end), inside.get(end + 1..).unwrap_or_default()))
}
