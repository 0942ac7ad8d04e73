//! Positions in which a tilde means a home directory.

use super::{PartBuilder, Stop};
use crate::ir::{Part, Word};
use crate::parse::Parser;
use crate::parse::token::{is_meta, is_name_byte, name_len};

impl Parser<'_> {
    pub(super) fn tilde(&mut self, builder: &mut PartBuilder) {
        let rest = self.rest().get(1..).unwrap_or_default();
        let len = rest.iter().position(|&b| !is_name_byte(b) && !matches!(b, b'-' | b'+' | b'.')).unwrap_or(rest.len());
        let ends = match rest.get(len) {
            None | Some(b'/' | b':' | b'}') => true,
            Some(&byte) => is_meta(byte),
        };
        self.pos += 1;
        if ends {
            builder.push(Part::Tilde(rest.get(..len).unwrap_or_default().to_vec()));
            self.pos += len;
        } else {
            builder.literal.push(b'~');
        }
    }
}

pub(super) fn takes_tilde(stop: Stop) -> bool {
    matches!(stop, Stop::Meta | Stop::Brace | Stop::BraceOrSlash | Stop::Regex)
}

/// Expands the tildes of an argument that looks like an assignment as in an assignment.
pub(in crate::parse) fn tilde_after_equals(mut word: Word) -> Word {
    let Some(Part::Lit(text)) = word.parts.first() else { return word };
    let Some(len) = assigned_len(text) else { return word };
    let (name, value) = text.split_at_checked(len + 1).unwrap_or((text, b""));
    // Text after the literal would be part of the user's name.
    let ends = word.parts.len() == 1 || value.iter().any(|byte| matches!(byte, b'/' | b':'));
    if value.first() == Some(&b'~') && ends {
        let mut parts = vec![Part::Lit(name.to_vec())];
        // Processed as if it followed a colon, which is removed again.
        split_tildes(&[b":", value].concat(), &mut parts);
        if let Some(Part::Lit(colon)) = parts.get_mut(1) {
            colon.remove(0);
        }
        parts.retain(|part| !matches!(part, Part::Lit(text) if text.is_empty()));
        parts.extend(word.parts.drain(1..));
        word.parts = parts;
        return word;
    }
    tilde_after_colons(&mut word);
    word
}

/// The length of the text before the `=` of an assignment: a name, an optional subscript, and an optional plus sign.
fn assigned_len(text: &[u8]) -> Option<usize> {
    let name = name_len(text);
    let rest = text.get(name..).filter(|_| name > 0)?;
    let element = if rest.first() == Some(&b'[') { rest.iter().position(|byte| *byte == b']')? + 1 } else { 0 };
    let len = name + element + usize::from(rest.get(element) == Some(&b'+'));
    (text.get(len) == Some(&b'=')).then_some(len)
}

/// In the value of an assignment a tilde also expands after a colon.
pub(in crate::parse) fn tilde_after_colons(word: &mut Word) {
    let needed = |part: &Part| matches!(part, Part::Lit(text) if text.windows(2).any(|pair| pair == b":~"));
    if !word.parts.iter().any(needed) {
        return;
    }
    let mut parts = Vec::new();
    for part in word.parts.drain(..) {
        match part {
            Part::Lit(text) => split_tildes(&text, &mut parts),
            other => parts.push(other),
        }
    }
    word.parts = parts;
}

fn split_tildes(text: &[u8], parts: &mut Vec<Part>) {
    let mut rest = text;
    while let Some(at) = rest.windows(2).position(|pair| pair == b":~") {
        let (before, after) = rest.split_at_checked(at + 1).unwrap_or((rest, b""));
        parts.push(Part::Lit(before.to_vec()));
        let name = after.get(1..).unwrap_or_default();
        let len = name.iter().position(|&b| !is_name_byte(b) && !matches!(b, b'-' | b'+' | b'.')).unwrap_or(name.len());
        let ends = matches!(name.get(len), None | Some(b'/' | b':'));
        if ends {
            parts.push(Part::Tilde(name.get(..len).unwrap_or_default().to_vec()));
            rest = name.get(len..).unwrap_or_default();
        } else {
            parts.push(Part::Lit(b"~".to_vec()));
            rest = name;
        }
    }
    if !rest.is_empty() {
        parts.push(Part::Lit(rest.to_vec()));
    }
}
