//! Expressions whose text is only known once it is expanded.

use std::rc::Rc;

use super::{Fault, MAX_LEVELS, Value, located, message};
use crate::expand::word::Mode;
use crate::ir::{Arith, Bytes, Part};
use crate::parse::{parse_expr, plain_number};
use crate::state::{Run, Shell};

impl Shell {
    /// A fault whose place is known in the text without its expansions.
    pub(super) fn located_in(
        &mut self,
        arith: &Arith,
        texts: &[Bytes],
        at: usize,
        fault: fn(usize) -> Fault,
    ) -> Run<Fault> {
        let mut lengths = Vec::new();
        let text = self.arith_text(arith, &arith.text.parts, texts, &mut lengths)?;
        let rest = crate::parse::text_from(arith, &lengths, at);
        Ok(located(fault(text.len().saturating_sub(rest)), &text))
    }

    /// The text of an expression with its expansions in place, of which those that `texts` has are not made again. `lengths`
    /// gets how long each of them is, also within subscripts.
    pub(super) fn arith_text(
        &mut self,
        arith: &Arith,
        parts: &[Part],
        texts: &[Bytes],
        lengths: &mut Vec<usize>,
    ) -> Run<Bytes> {
        let mut out = Bytes::new();
        for part in parts {
            let found = arith.expansions.iter().position(|known| same_part(known, part)).and_then(|at| texts.get(at));
            match (found, part) {
                (Some(text), _) => {
                    lengths.push(text.len());
                    out.extend_from_slice(text);
                }
                (None, Part::Double(inner)) => out.extend(self.arith_text(arith, inner, texts, lengths)?),
                (None, part) => {
                    let text = self.expand_as(std::slice::from_ref(part), Mode::Text)?;
                    if matches!(part, Part::Param(_) | Part::Command(_) | Part::Arith(_)) {
                        lengths.push(text.len());
                    }
                    out.extend(text);
                }
            }
        }
        Ok(out)
    }

    /// The text of an expression with its expansions in place. Those between brackets, of which `depth` are open, get
    /// backslashes before what would have a meaning when the subscript is read.
    pub(super) fn guarded_text(&mut self, parts: &[Part], depth: &mut u32) -> Run<Bytes> {
        let mut out = Bytes::new();
        for part in parts {
            match part {
                Part::Lit(text) | Part::Quoted(text) => {
                    for byte in text {
                        match byte {
                            b'[' => *depth = depth.saturating_add(1),
                            b']' => *depth = depth.saturating_sub(1),
                            _ => {}
                        }
                    }
                    out.extend_from_slice(text);
                }
                Part::Double(inner) => out.extend(self.guarded_text(inner, depth)?),
                part => {
                    for byte in self.expand_as(std::slice::from_ref(part), Mode::Text)? {
                        if *depth > 0 && b"[]$`'\"\\~".contains(&byte) {
                            out.push(b'\\');
                        }
                        out.push(byte);
                    }
                }
            }
        }
        Ok(out)
    }

    /// The value of text as an expression, with the error left to the caller.
    pub(crate) fn text_value(&mut self, text: &[u8]) -> Value {
        if self.arith_levels >= MAX_LEVELS {
            return Err(Fault::Message(message(text, "expression recursion level exceeded", text)));
        }
        let trimmed = trim_blanks(text);
        let tree = match parse_expr(trimmed) {
            Ok(Some(tree)) if self.arith_levels + 1 < MAX_LEVELS => tree,
            Ok(None) => return Ok(0),
            // There is something wrong with it, which shows only when all before that has been done; or the next level is one
            // too many, and the message names the place.
            Ok(Some(_)) | Err(()) => {
                self.arith_levels += 1;
                let value = super::interpret::interpret(self, trimmed);
                self.arith_levels -= 1;
                return value;
            }
        };
        self.arith_levels += 1;
        let value = self.eval(&tree, &[]);
        self.arith_levels -= 1;
        match value {
            Err(fault) => Err(located(fault, trimmed)),
            other => other,
        }
    }

    /// The value of a variable's text, which may be an expression too.
    pub(super) fn nested_value(&mut self, text: &[u8]) -> Value {
        let trimmed = text.trim_ascii();
        match plain_number(trimmed) {
            Some(number) if self.arith_levels < MAX_LEVELS => Ok(number),
            None if trimmed.is_empty() => Ok(0),
            // On the last level a number is one level too many, too.
            _ => {
                // What was compiled is a level as well.
                let compiled = u32::from(self.arith_levels == 0);
                self.arith_levels += compiled;
                let value = self.text_value(text);
                self.arith_levels -= compiled;
                value
            }
        }
    }
}

fn same_part(a: &Part, b: &Part) -> bool {
    match (a, b) {
        (Part::Param(a), Part::Param(b)) => Rc::ptr_eq(a, b),
        (Part::Command(a), Part::Command(b)) => Rc::ptr_eq(a, b),
        (Part::Arith(a), Part::Arith(b)) => Rc::ptr_eq(a, b),
        _ => false,
    }
}

/// The text from its first character on that is no blank; messages show newlines.
pub(super) fn trim_blanks(text: &[u8]) -> &[u8] {
    let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    text.get(blanks..).unwrap_or_default()
}

/// An expanded subscript with backslashes that keep brackets and quotes from their meaning.
pub(super) fn guarded(text: &[u8]) -> Bytes {
    let mut out = Bytes::with_capacity(text.len());
    for (at, &byte) in text.iter().enumerate() {
        if matches!(byte, b'[' | b']' | b'\'' | b'~') || (byte == b'#' && at == 0) {
            out.push(b'\\');
        }
        out.push(byte);
    }
    out
}
