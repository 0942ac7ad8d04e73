//! Brackets within brackets in operands of `-eq` and its kind. bash puts backslashes before the inner ones, so that they are no
//! subscripts.

use crate::expand::Mode;
use crate::ir::{Bytes, Part, Word};
use crate::state::{EvalResult, Shell};

/// A byte of a word or an expansion in it.
enum Item<'a> {
    /// `[` or `]` that may be one of a subscript.
    Bracket(u8),
    /// Another byte, with whether it is a quoted bracket.
    Byte(u8, bool),
    Expansion(&'a Part),
}

/// The items of a word. Quoted text is a separate item, unless brackets are open.
fn items<'a>(parts: &'a [Part], quoted: bool, open: &mut u32, into: &mut Vec<Item<'a>>) {
    for part in parts {
        match part {
            Part::Lit(text) if !quoted => {
                for &byte in text {
                    match byte {
                        b'[' => *open = open.saturating_add(1),
                        b']' => *open = open.saturating_sub(1),
                        _ => {}
                    }
                    into.push(if matches!(byte, b'[' | b']') { Item::Bracket(byte) } else { Item::Byte(byte, false) });
                }
            }
            Part::Lit(text) | Part::Quoted(text) => {
                into.extend(text.iter().map(|&byte| Item::Byte(byte, matches!(byte, b'[' | b']'))));
            }
            Part::Double(inner) => items(inner, quoted || *open > 0, open, into),
            part => into.push(Item::Expansion(part)),
        }
    }
}

/// The number of items after a bracket up to the one that closes it.
fn closing(items: &[Item<'_>]) -> Option<usize> {
    let mut open = 0_usize;
    items.iter().position(|item| match item {
        Item::Bracket(b'[') => {
            open += 1;
            false
        }
        Item::Bracket(_) if open == 0 => true,
        Item::Bracket(_) => {
            open -= 1;
            false
        }
        _ => false,
    })
}

impl Shell {
    /// The text of an operand in which brackets stand within brackets; `None`, with nothing expanded, where none do.
    pub(super) fn nested_brackets(&mut self, word: &Word) -> EvalResult<Option<Bytes>> {
        if word.raw.iter().filter(|byte| matches!(byte, b'[' | b']')).count() < 3 {
            return Ok(None);
        }
        let mut all = Vec::new();
        items(&word.parts, false, &mut 0, &mut all);
        let (mut end, mut regions, mut nested) = (0, Vec::new(), false);
        for (at, item) in all.iter().enumerate() {
            let within = at < end;
            nested |= within && matches!(item, Item::Bracket(_) | Item::Byte(_, true));
            if !within && matches!(item, Item::Bracket(b'[')) {
                // A closing bracket of an outer level does not count within.
                end = closing(all.get(at + 1..).unwrap_or_default()).map_or(0, |len| at + 1 + len);
            }
            regions.push(within);
        }
        if !nested {
            return Ok(None);
        }
        let mut text = Bytes::new();
        for (item, within) in all.into_iter().zip(regions) {
            let (section, guarded): (Bytes, &[u8]) = match item {
                Item::Bracket(byte) | Item::Byte(byte, true) => (vec![byte], b"[]"),
                Item::Byte(byte, false) => (vec![byte], b""),
                Item::Expansion(part) => (self.expand_as(std::slice::from_ref(part), Mode::Text)?, b"[]$`'\"\\~"),
            };
            for byte in section {
                if within && guarded.contains(&byte) {
                    text.push(b'\\');
                }
                text.push(byte);
            }
        }
        Ok(Some(text))
    }
}
