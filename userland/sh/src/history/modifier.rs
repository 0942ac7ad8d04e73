//! Modifiers of a reference, as `:h` and `:s/old/new/`.

use super::expand::{Expander, Fault};
use crate::ir::Bytes;

/// What the modifiers made of a text.
pub(super) struct Modified {
    pub(super) text: Bytes,
    /// Where they end.
    pub(super) end: usize,
    /// `:p` was among them.
    pub(super) print: bool,
}

/// How often a substitution replaces.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Once,
    Everywhere,
    OncePerWord,
}

impl Expander<'_> {
    /// Applies the modifiers at `at`.
    pub(super) fn modify(&mut self, line: &[u8], start: usize, text: Bytes) -> Result<Modified, (Fault, usize, usize)> {
        let mut done = Modified { text, end: start, print: false };
        let (mut quote, mut scope) = (0, Scope::Once);
        while line.get(done.end) == Some(&b':') {
            let at = done.end;
            let mut letter = line.get(at + 1).copied().unwrap_or(0);
            match letter {
                b'g' | b'a' => scope = Scope::Everywhere,
                b'G' => scope = Scope::OncePerWord,
                _ => {}
            }
            let at = if matches!(letter, b'g' | b'a' | b'G') {
                letter = line.get(at + 2).copied().unwrap_or(0);
                at + 1
            } else {
                at
            };
            done.end = at + 2;
            match letter {
                b'q' | b'x' => quote = letter,
                b'p' => done.print = true,
                b't' => {
                    if let Some(slash) = done.text.iter().rposition(|&b| b == b'/') {
                        done.text.drain(..=slash);
                    }
                }
                b'h' => {
                    if let Some(slash) = done.text.iter().rposition(|&b| b == b'/') {
                        done.text.truncate(slash);
                    }
                }
                b'r' => {
                    if let Some(dot) = done.text.iter().rposition(|&b| b == b'.') {
                        done.text.truncate(dot);
                    }
                }
                b'e' => {
                    if let Some(dot) = done.text.iter().rposition(|&b| b == b'.') {
                        done.text.drain(..dot);
                    }
                }
                // Without a delimiter there is nothing to do.
                b's' if line.get(at + 2).is_none() => {}
                b's' | b'&' => {
                    if letter == b's' {
                        done.end = self.read_substitution(line, at + 2);
                    }
                    done.text = self.substitute(&done.text, scope).map_err(|fault| (fault, start, done.end))?;
                    if scope == Scope::Everywhere {
                        scope = Scope::Once;
                    }
                }
                _ => return Err((Fault::Modifier, at + 1, (at + 2).min(line.len()))),
            }
        }
        match quote {
            b'q' => done.text = quoted(&done.text, false),
            b'x' => done.text = quoted(&done.text, true),
            _ => {}
        }
        Ok(done)
    }
}

/// A text in single quotes, of which blanks are left out where each word is to be quoted by itself.
fn quoted(text: &[u8], by_words: bool) -> Bytes {
    let mut out = vec![b'\''];
    for &byte in text {
        match byte {
            b'\'' => out.extend_from_slice(b"'\\''"),
            b' ' | b'\t' | b'\n' if by_words => out.extend([b'\'', byte, b'\'']),
            _ => out.push(byte),
        }
    }
    out.push(b'\'');
    out
}
