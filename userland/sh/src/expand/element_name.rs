//! Words of builtins that name a variable or an element of an array.

use super::lossy;
use crate::ir::{Bytes, Name};
use crate::parse::closing_bracket;
use crate::parse::token::name_len;
use crate::state::{EvalResult, Shell};
use crate::vars::Key;

/// The variable or element that a word such as `name[subscript]` names.
#[derive(Clone, Debug)]
pub(crate) struct ElementName {
    pub(crate) name: Name,
    pub(crate) subscript: Option<Bytes>,
    /// The key of an associative array is the unexpanded subscript.
    literal: bool,
}

impl Shell {
    /// Parses the name or element in a builtin's argument; `None` if it is invalid.
    pub(crate) fn parse_element_name(&self, word: &[u8]) -> Option<ElementName> {
        let len = name_len(word);
        let (name, rest) = word.split_at(len);
        if len == 0 {
            return None;
        }
        if rest.is_empty() {
            return Some(ElementName { name: name.into(), subscript: None, literal: false });
        }
        let keyed = self.is_keyed(name);
        let subscript = within_brackets(rest, keyed)?;
        let literal = keyed && (self.options.assoc_expand_once || !expands(subscript));
        Some(ElementName { name: name.into(), subscript: Some(subscript.to_vec()), literal })
    }

    /// The key of an element; `None` after an error message.
    pub(crate) fn key_of_element_name(&mut self, element: &ElementName) -> EvalResult<Option<Key>> {
        let Some(subscript) = &element.subscript else { return Ok(Some(Key::Whole)) };
        let assoc = self.is_keyed(&element.name);
        let whole = matches!(subscript.as_slice(), b"@" | b"*");
        let key = match assoc {
            true if whole || element.literal => Key::Word(subscript.clone()),
            false if whole => {
                self.report_error(format!("{}[{}]: bad array subscript", lossy(&element.name), lossy(subscript)));
                return Ok(None);
            }
            _ => self.key_of(&element.name, &crate::parse::subscript_from_text(subscript))?,
        };
        if key == Key::Word(Bytes::new()) {
            self.report_error(format!("{}[{}]: bad array subscript", lossy(&element.name), lossy(subscript)));
            return Ok(None);
        }
        Ok(Some(key))
    }

    /// The key of an element in a declaration; `None` after an error message.
    pub(crate) fn key_of_declared(&mut self, name: &Name, subscript: &[u8]) -> EvalResult<Option<Key>> {
        let literal = self.options.assoc_expand_once;
        let element = ElementName { name: Name::clone(name), subscript: Some(subscript.to_vec()), literal };
        self.key_of_element_name(&element)
    }

    /// Assigns to the variable or element that a builtin's argument names. Returns whether it was allowed.
    pub(crate) fn assign_element_name(&mut self, word: &[u8], value: Bytes) -> EvalResult<bool> {
        let Some(element) = self.parse_element_name(word) else { return Ok(self.reject_name(word)) };
        match self.key_of_element_name(&element)? {
            Some(key) => self.assign(&element.name, key, false, value),
            None => Ok(false),
        }
    }
}

/// Returns whether a key has something to expand, or is quoted as a whole.
fn expands(key: &[u8]) -> bool {
    let quoted = |quote: u8| key.len() > 1 && key.first() == Some(&quote) && key.last() == Some(&quote);
    key.iter().any(|byte| matches!(byte, b'$' | b'`' | b'\\')) || quoted(b'\'') || quoted(b'"')
}

/// The subscript in the brackets that all of `text` is.
fn within_brackets(text: &[u8], keyed: bool) -> Option<&[u8]> {
    let inside = text.strip_prefix(b"[")?;
    // A key may hold any brackets and quotes.
    let end = if keyed {
        inside.len().checked_sub(1).filter(|&at| inside.get(at) == Some(&b']'))?
    } else {
        closing_bracket(inside)?
    };
    // An empty subscript names nothing.
    (end > 0 && end + 1 == inside.len()).then(|| inside.get(..end)).flatten()
}

/// The subscript at the start of a text, if any, and the rest. `None` when its bracket does not close.
pub(crate) fn split_subscript(text: &[u8], first: bool) -> Option<(Option<&[u8]>, &[u8])> {
    let Some(inside) = text.strip_prefix(b"[") else { return Some((None, text)) };
    let end = if first { inside.iter().position(|&byte| byte == b']')? } else { closing_bracket(inside)? };
    if end == 0 {
        return None;
    }
    Some((inside.get(..end), inside.get(end + 1..).unwrap_or_default()))
}
