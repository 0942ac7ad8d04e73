//! `:s/old/new/` and `:&`.

use super::expand::{Expander, Fault};
use super::modifier::Scope;
use super::word;
use crate::ir::Bytes;

impl Expander<'_> {
    /// Reads the two texts of a substitution, whose delimiter is at `at`. Returns its end.
    pub(super) fn read_substitution(&mut self, line: &[u8], at: usize) -> usize {
        let Some(&delimiter) = line.get(at) else { return at };
        let (old, next) = operand(line, at + 1, delimiter);
        if !old.is_empty() {
            self.memory.old = Some(old);
        } else if self.memory.old.is_none() {
            self.memory.old = self.memory.searched.clone().filter(|text| !text.is_empty());
        }
        let (new, end) = operand(line, next, delimiter);
        self.memory.new = with_old(&new, self.memory.old.as_deref().unwrap_or_default());
        end
    }

    /// The text after the substitution that was read last.
    pub(super) fn substitute(&self, text: &[u8], scope: Scope) -> Result<Bytes, Fault> {
        let Some(old) = self.memory.old.as_deref().filter(|old| !old.is_empty()) else {
            return Err(Fault::NoSubstitution);
        };
        let new = &self.memory.new;
        let mut out = Bytes::new();
        let (mut at, mut done) = (0, false);
        // End of the word in which replacements may still occur.
        let mut word_end = 0;
        while let Some(&byte) = text.get(at) {
            if scope == Scope::OncePerWord && at >= word_end {
                let blanks = text.get(at..).unwrap_or_default().iter().take_while(|&&b| word::is_blank(b)).count();
                out.extend_from_slice(text.get(at..at + blanks).unwrap_or_default());
                at += blanks;
                word_end = word::word_end(text, at);
                if blanks > 0 {
                    continue;
                }
            }
            if !text.get(at..).unwrap_or_default().starts_with(old) {
                out.push(byte);
                at += 1;
                continue;
            }
            done = true;
            out.extend_from_slice(new);
            at += old.len();
            let upto = match scope {
                Scope::Everywhere => at,
                Scope::OncePerWord => word_end.max(at),
                Scope::Once => text.len(),
            };
            out.extend_from_slice(text.get(at..upto).unwrap_or_default());
            at = upto;
        }
        if done { Ok(out) } else { Err(Fault::Substitution) }
    }
}

/// One text of a substitution, and where the next one starts. A backslash quotes the delimiter.
fn operand(line: &[u8], from: usize, delimiter: u8) -> (Bytes, usize) {
    let mut text = Bytes::new();
    let mut at = from;
    while let Some(&byte) = line.get(at) {
        if byte == delimiter {
            return (text, at + 1);
        }
        if byte == b'\\' && line.get(at + 1) == Some(&delimiter) {
            at += 1;
            text.push(delimiter);
        } else {
            text.push(byte);
        }
        at += 1;
    }
    (text, at)
}

/// The new text, in which `&` is the old one.
fn with_old(new: &[u8], old: &[u8]) -> Bytes {
    let mut out = Bytes::new();
    let mut rest = new;
    loop {
        rest = match rest {
            [] => return out,
            [b'\\', b'&', after @ ..] => {
                out.push(b'&');
                after
            }
            [b'&', after @ ..] => {
                out.extend_from_slice(old);
                after
            }
            [byte, after @ ..] => {
                out.push(*byte);
                after
            }
        };
    }
}
