//! Brace expansion on the parts of a word.

use std::rc::Rc;

use crate::ir::{Bytes, Index, Op, Param, Part, Target, Word};
use crate::parse::token::is_name_byte;
use crate::state::{EvalResult, Shell};

/// Maximum number of bytes and parts in all words from one word, about 200 MiB. bash has no such limit and runs out of
/// memory instead.
const BUDGET: u64 = 24_000_000;

/// One byte of unquoted text, or the index of a part that braces do not split.
#[derive(Clone, Copy)]
enum Atom {
    Byte(u8),
    Piece(u32),
}

impl Shell {
    /// Appends the arguments of a word with braces.
    pub(crate) fn expand_braced(&mut self, word: &Word, into: &mut Vec<Bytes>) -> EvalResult {
        let atoms = atoms_of(&word.parts);
        let mut budget = BUDGET;
        let Some(expanded) = expand(&atoms, &mut budget, 0) else {
            return self.abort(2, "brace expansion: cannot allocate memory for that many words");
        };
        for atoms in expanded {
            let parts = parts_of(&atoms, &word.parts);
            match parts.as_slice() {
                // An empty quotation produces no word.
                [] => {}
                [Part::Lit(text)] if !crate::pattern::is_pattern(text, self.options.extglob) => into.push(text.clone()),
                parts => self.fields_of(parts, into)?,
            }
        }
        Ok(())
    }
}

fn atoms_of(parts: &[Part]) -> Vec<Atom> {
    let mut atoms = Vec::new();
    for (at, part) in (0..).zip(parts) {
        match part {
            Part::Lit(text) => atoms.extend(text.iter().map(|&b| Atom::Byte(b))),
            _ => atoms.push(Atom::Piece(at)),
        }
    }
    atoms
}

fn parts_of(atoms: &[Atom], pieces: &[Part]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for atom in atoms {
        match (atom, parts.last_mut()) {
            (Atom::Byte(byte), Some(Part::Lit(text))) => text.push(*byte),
            (Atom::Byte(byte), _) => parts.push(Part::Lit(vec![*byte])),
            (Atom::Piece(at), _) => parts.extend(pieces.get(*at as usize).cloned()),
        }
    }
    start_tilde(&mut parts);
    join_names(&mut parts);
    parts
}

/// A tilde that braces put at the start of a word means a home directory there.
fn start_tilde(parts: &mut Vec<Part>) {
    let alone = parts.len() == 1;
    let Some(Part::Lit(text)) = parts.first_mut() else { return };
    let Some(name) = text.strip_prefix(b"~") else { return };
    let len = name.iter().position(|&b| b == b'/').unwrap_or(name.len());
    if !alone && len == name.len() {
        return;
    }
    let (name, rest) = name.split_at(len);
    let (tilde, rest) = (Part::Tilde(name.to_vec()), rest.to_vec());
    if rest.is_empty() {
        parts.splice(..1, [tilde]);
    } else {
        parts.splice(..1, [tilde, Part::Lit(rest)]);
    }
}

/// Braces expand before parameters, so text after `$name` may extend the name.
fn join_names(parts: &mut [Part]) {
    for at in 1..parts.len() {
        let Some([Part::Param(param), Part::Lit(text)]) = parts.get_mut(at - 1..=at) else { continue };
        let len = text.iter().position(|&b| !is_name_byte(b)).unwrap_or(text.len());
        if let (Target::Var(name), false, true) = (&param.target, param.raw.starts_with(b"${"), len > 0) {
            let more: Vec<u8> = text.drain(..len).collect();
            let target = Target::Var([&name[..], &more].concat().into());
            let raw = [&param.raw[..], &more].concat().into();
            *param = Rc::new(Param { target, index: Index::None, indirect: false, op: Op::None, raw });
        }
    }
}

/// All expansions; `None` when they are too many.
fn expand(atoms: &[Atom], budget: &mut u64, depth: u32) -> Option<Vec<Vec<Atom>>> {
    let Some((start, end)) = first_brace(atoms).filter(|_| depth < 100) else {
        *budget = budget.checked_sub(atoms.len() as u64 + 1)?;
        return Some(vec![atoms.to_vec()]);
    };
    let before = atoms.get(..start)?;
    let tails = expand(atoms.get(end + 1..)?, budget, depth + 1)?;
    let inside = atoms.get(start + 1..end)?;
    let middles = match sequence(inside, budget) {
        Some(sequence) => sequence?,
        None => {
            let mut all = Vec::new();
            for choice in split_commas(inside) {
                all.extend(expand(choice, budget, depth + 1)?);
            }
            all
        }
    };
    let total = |words: &[Vec<Atom>]| words.iter().map(|word| word.len() as u64 + 1).sum::<u64>();
    let (middle, tail) = (middles.len() as u64, tails.len() as u64);
    let size = total(&middles).checked_mul(tail)?.checked_add(total(&tails).checked_mul(middle)?)?;
    let size = size.checked_add(middle.checked_mul(tail)?.checked_mul(before.len() as u64)?)?;
    *budget = budget.checked_sub(size)?;
    let mut words = Vec::with_capacity(middles.len() * tails.len());
    for middle in &middles {
        for tail in &tails {
            let mut word = before.to_vec();
            word.extend_from_slice(middle);
            word.extend_from_slice(tail);
            words.push(word);
        }
    }
    Some(words)
}

fn is(atom: &Atom, byte: u8) -> bool {
    matches!(atom, Atom::Byte(b) if *b == byte)
}

/// The first pair of braces that expands: (index of the opening one, of the closing one).
fn first_brace(atoms: &[Atom]) -> Option<(usize, usize)> {
    for start in 0..atoms.len() {
        if !is(atoms.get(start)?, b'{') {
            continue;
        }
        let mut open = 0_u32;
        for end in start + 1..atoms.len() {
            let atom = atoms.get(end)?;
            if is(atom, b'{') {
                open += 1;
            } else if is(atom, b'}') {
                if open == 0 {
                    let inside = atoms.get(start + 1..end)?;
                    if split_commas(inside).len() > 1 || parse_sequence(inside).is_some() {
                        return Some((start, end));
                    }
                    break;
                }
                open -= 1;
            }
        }
    }
    None
}

/// The parts between commas that stand outside inner braces.
fn split_commas(atoms: &[Atom]) -> Vec<&[Atom]> {
    let mut open = 0_u32;
    atoms
        .split(|atom| {
            if is(atom, b'{') {
                open += 1;
            } else if is(atom, b'}') {
                open = open.saturating_sub(1);
            }
            open == 0 && is(atom, b',')
        })
        .collect()
}

/// `from..to` or `from..to..step`: (from, to, step, width, letters).
fn parse_sequence(atoms: &[Atom]) -> Option<(i64, i64, i64, usize, bool)> {
    let mut text = Vec::with_capacity(atoms.len());
    for atom in atoms {
        match atom {
            Atom::Byte(byte) => text.push(*byte),
            Atom::Piece(_) => return None,
        }
    }
    let text = std::str::from_utf8(&text).ok()?;
    let mut pieces = text.split("..");
    let (from, to, step) = (pieces.next()?, pieces.next()?, pieces.next());
    if pieces.next().is_some() {
        return None;
    }
    let number = |s: &str| {
        let digits = s.strip_prefix(['-', '+']).unwrap_or(s);
        let valid = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        if valid { s.parse::<i64>().ok() } else { None }
    };
    let step = match step {
        Some(step) => number(step)?,
        None => 1,
    };
    if let (Some(low), Some(high)) = (number(from), number(to)) {
        let padded =
            |s: &str| s.trim_start_matches(['-', '+']).starts_with('0') && s.trim_start_matches(['-', '+']).len() > 1;
        let width = if padded(from) || padded(to) { from.len().max(to.len()) } else { 0 };
        return Some((low, high, step, width, false));
    }
    match (from.as_bytes(), to.as_bytes()) {
        ([low], [high]) if low.is_ascii_alphabetic() && high.is_ascii_alphabetic() => {
            Some((i64::from(*low), i64::from(*high), step, 0, true))
        }
        _ => None,
    }
}

/// The values of a sequence; the inner `None` when they are too many.
fn sequence(atoms: &[Atom], budget: &mut u64) -> Option<Option<Vec<Vec<Atom>>>> {
    let (from, to, step, width, letters) = parse_sequence(atoms)?;
    let step = step.unsigned_abs().max(1);
    let count = from.abs_diff(to) / step;
    if count >= *budget / 8 {
        return Some(None);
    }
    let mut values = Vec::new();
    let mut value = from;
    for _ in 0..=count {
        let text = if letters { vec![u8::try_from(value).unwrap_or(b'?')] } else { padded_number(value, width) };
        values.push(text.into_iter().map(Atom::Byte).collect());
        let step = i64::try_from(step).unwrap_or(i64::MAX);
        value = if from <= to { value.saturating_add(step) } else { value.saturating_sub(step) };
    }
    Some(Some(values))
}

fn padded_number(value: i64, width: usize) -> Vec<u8> {
    format!("{value:0width$}").into_bytes()
}
