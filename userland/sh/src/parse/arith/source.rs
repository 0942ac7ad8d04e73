//! The text of an expression, and how it and the pieces in it become one that has a tree.

use std::rc::Rc;

use super::ExprParser;
use crate::ir::{Arith, Bytes, Part, Word};
use crate::parse::word::Stop;
use crate::parse::{Parse, Parser};

/// Stands in the flat text for the expansion whose index follows.
pub(super) const MARK: u8 = 0;

impl Parser<'_> {
    /// An expression that is a command or belongs to one, and no expansion.
    pub(in crate::parse) fn command_arith_until(&mut self, closers: &'static [u8]) -> Parse<Arith> {
        let outer = std::mem::take(&mut self.quoted_substitution);
        let arith = self.arith_until(closers);
        self.quoted_substitution = outer;
        arith
    }

    /// An expression up to one of `closers`, which is not read.
    pub(in crate::parse) fn arith_until(&mut self, closers: &'static [u8]) -> Parse<Arith> {
        let word = self.word_until(Stop::Arith(closers), true)?;
        if self.peek().is_none() {
            return Err(self.unclosed(if closers == b"]" { b']' } else { b')' }, self.line));
        }
        Ok(from_word(word))
    }
}

/// An expression whose text is this word.
pub(crate) fn from_word(text: Word) -> Arith {
    let mut flat = Bytes::new();
    let mut parts = Vec::new();
    if !flatten(&text.parts, &mut flat, &mut parts) {
        return Arith { text, ..Arith::default() };
    }
    let mut parser = ExprParser::new(&flat, &parts);
    match parser.whole() {
        Ok(expr) => Arith { tree: expr.map(Rc::new), expansions: parser.used, text, guards: false },
        Err(_) => Arith { text, ..Arith::default() },
    }
}

/// The expression that the source of a word is, whatever the word would be as one of a command; `None` when it is none.
pub(crate) fn arith_of_source(raw: &[u8]) -> Option<Arith> {
    let text = [raw, b")"].concat();
    let mut parser = Parser::new(&text, 1, Rc::from(&b""[..]));
    let arith = parser.arith_until(b")").ok()?;
    (parser.offset() + 1 == text.len()).then_some(arith)
}

/// Bytes of an expression's text from a place in its tree on, once its expansions have become texts of these lengths.
pub(crate) fn text_from(arith: &Arith, lengths: &[usize], at: usize) -> usize {
    let (mut flat, mut parts) = (Bytes::new(), Vec::new());
    flatten(&arith.text.parts, &mut flat, &mut parts);
    let before = flat.get(..at).unwrap_or_default().iter().filter(|&&byte| byte == MARK).count() / 2;
    let rest = flat.get(at..).unwrap_or_default();
    let plain: usize = rest.split(|&byte| byte == MARK).step_by(2).map(<[u8]>::len).sum();
    plain + lengths.iter().skip(before).sum::<usize>()
}

/// The text with marks for its expansions; false when it holds something that cannot be marked.
fn flatten(from: &[Part], flat: &mut Bytes, parts: &mut Vec<Part>) -> bool {
    from.iter().all(|part| match part {
        Part::Lit(text) | Part::Quoted(text) => {
            flat.extend_from_slice(text);
            !text.contains(&MARK)
        }
        Part::Double(inner) => flatten(inner, flat, parts),
        Part::Tilde(name) => {
            flat.push(b'~');
            flat.extend_from_slice(name);
            true
        }
        Part::Process { .. } => false,
        Part::Param(_) | Part::Command(_) | Part::Arith(_) => {
            flat.push(MARK);
            flat.extend_from_slice(parts.len().to_string().as_bytes());
            flat.push(MARK);
            parts.push(part.clone());
            true
        }
    })
}
