//! Modifiers of a reference, as `:h` and `:s/old/new/`.

use super::expand::{Expander, Fault};
use crate::ir::Bytes;

/// The result of applying modifiers to a text.
pub(super) struct Modified {
    pub(super) text: Bytes,
    /// The end of the modifiers.
    pub(super) end: usize,
    /// `:p` was among them.
    pub(super) print: bool,
}

/// The scope of a substitution.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    Once,
    Everywhere,
    OncePerWord,
}

impl Scope {
    /// The scope that a letter before `s` or `&` requests.
    fn of(letter: u8) -> Option<Self> {
        match letter {
            b'g' | b'a' => Some(Self::Everywhere),
            b'G' => Some(Self::OncePerWord),
            _ => None,
        }
    }
}

impl Expander<'_> {
    /// Applies the modifiers at `at`.
    pub(super) fn modify(&mut self, line: &[u8], start: usize, text: Bytes) -> Result<Modified, (Fault, usize, usize)> {
        let mut done = Modified { text, end: start, print: false };
        let (mut quote, mut scope) = (0, Scope::Once);
        while line.get(done.end) == Some(&b':') {
            let mut at = done.end;
            if let Some(wider) = line.get(at + 1).and_then(|&letter| Scope::of(letter)) {
                scope = wider;
                at += 1;
            }
            let letter = line.get(at + 1).copied().unwrap_or(0);
            done.end = at + 2;
            match letter {
                b'q' | b'x' => quote = letter,
                b'p' => done.print = true,
                b't' | b'h' | b'r' | b'e' => keep_part(&mut done.text, letter),
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

/// Keeps the part of a path that `:t`, `:h`, `:r` or `:e` requests: the tail, the head, the part before the suffix, or the
/// suffix.
fn keep_part(path: &mut Bytes, letter: u8) {
    let border = if matches!(letter, b't' | b'h') { b'/' } else { b'.' };
    let Some(at) = path.iter().rposition(|&b| b == border) else { return };
    match letter {
        b't' => drop(path.drain(..=at)),
        b'e' => drop(path.drain(..at)),
        _ => path.truncate(at),
    }
}

/// A text in single quotes. With `by_words` each word is quoted separately.
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
