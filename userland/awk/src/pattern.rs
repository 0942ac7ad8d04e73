//! Regular expressions in awk syntax.

use std::cell::OnceCell;
use std::ops::Range;

use tidebox_gnu::regex::{Dialect, Error, Groups, Options, Regex, Subject};

use crate::escape;

/// A regular expression, compiled on first search.
#[derive(Debug)]
pub(crate) struct Pattern {
    source: Vec<u8>,
    ignore_case: bool,
    plain: OnceCell<Result<Regex, Error>>,
    grouped: OnceCell<Result<Regex, Error>>,
}

impl Pattern {
    pub(crate) fn new(source: Vec<u8>, ignore_case: bool) -> Self {
        Self { source, ignore_case, plain: OnceCell::new(), grouped: OnceCell::new() }
    }

    /// The expression as written in the program.
    pub(crate) fn source(&self) -> &[u8] {
        &self.source
    }

    pub(crate) fn ignores_case(&self) -> bool {
        self.ignore_case
    }

    fn compile(&self, captures: bool) -> Result<Regex, Error> {
        let options = Options {
            dialect: Dialect::Extended,
            ignore_case: self.ignore_case,
            whole_line: false,
            misplaced: Default::default(),
            whole_word: false,
            subject: Subject::Text,
            terminator: b'\n',
            captures,
            unicode: !crate::text::chars_are_bytes(),
        };
        Regex::new(&[translate(&self.source)], &options)
    }

    fn plain(&self) -> Result<&Regex, String> {
        self.plain.get_or_init(|| self.compile(false)).as_ref().map_err(|error| self.explain(error))
    }

    fn grouped(&self) -> Result<&Regex, String> {
        self.grouped.get_or_init(|| self.compile(true)).as_ref().map_err(|error| self.explain(error))
    }

    fn explain(&self, error: &Error) -> String {
        format!("invalid regexp: {error}: /{}/", String::from_utf8_lossy(&self.source))
    }

    pub(crate) fn is_match(&self, text: &[u8]) -> Result<bool, String> {
        self.plain()?.is_match(text).map_err(|error| self.explain(&error))
    }

    /// The leftmost and longest match at or after `from`. The first search of a text starts at 0.
    pub(crate) fn find(&self, text: &[u8], from: usize) -> Result<Option<Range<usize>>, String> {
        self.plain()?.find_in_line(text, from).map_err(|error| self.explain(&error))
    }

    /// Like [`Self::find`], but also returns the matches of the groups.
    pub(crate) fn groups(&self, text: &[u8], from: usize) -> Result<Option<Groups>, String> {
        self.grouped()?.captures(text, from).map_err(|error| self.explain(&error))
    }

    /// Letters with a needless backslash, also in lists.
    pub(crate) fn unknown_escapes(source: &[u8]) -> Vec<u8> {
        let mut found = Vec::new();
        let mut rest = source;
        while let Some(at) = memchr::memchr(b'\\', rest) {
            let after = rest.get(at + 1..).unwrap_or_default();
            let known = b"ntrfvab01234567xyB<>wWsS`'/\\[]^$.*+?{}()|-";
            if let Some(letter) = after.first()
                && !known.contains(letter)
            {
                found.push(*letter);
            }
            rest = after.get(1..).unwrap_or_default();
        }
        found
    }

    /// The syntax error of the expression, found without compiling it.
    pub(crate) fn check(source: &[u8]) -> Result<(), String> {
        tidebox_gnu::regex::check(&translate(source), Dialect::Extended).map_err(|error| error.to_string())
    }
}

/// Translates awk escapes and literal operators to POSIX extended syntax.
fn translate(source: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(source.len() + 8);
    let mut rest = source;
    // True if an operator at this position has no operand.
    let mut start = true;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let was_start = std::mem::replace(&mut start, false);
        match first {
            b'\\' => rest = escape(rest, &mut out),
            b'[' => match bracket(rest) {
                Some((list, after)) => {
                    out.extend_from_slice(&list);
                    rest = after;
                }
                // The regex engine reports the error.
                None => out.push(b'['),
            },
            b'*' | b'+' | b'?' | b'{' if was_start => out.extend_from_slice(&[b'\\', *first]),
            b'(' | b'|' | b'^' => {
                start = true;
                out.push(*first);
            }
            _ => out.push(*first),
        }
    }
    out
}

/// Translates one escape outside brackets, after its backslash.
fn escape<'s>(rest: &'s [u8], out: &mut Vec<u8>) -> &'s [u8] {
    let Some((letter, after)) = rest.split_first() else {
        // The regex engine reports it.
        out.push(b'\\');
        return rest;
    };
    if let Some((byte, after)) = character(rest) {
        // An operator written by its number remains an operator.
        out.push(byte);
        return after;
    }
    match letter {
        b'y' => out.extend_from_slice(b"\\b"),
        b'B' | b'<' | b'>' | b'w' | b'W' | b's' | b'S' | b'`' | b'\'' => out.extend_from_slice(&[b'\\', *letter]),
        byte => literal(*byte, out),
    }
    after
}

/// The byte of an escape, inside or outside brackets.
fn character(rest: &[u8]) -> Option<(u8, &[u8])> {
    if let Some((byte, length)) = escape::character(rest) {
        return Some((byte, rest.get(length..)?));
    }
    let after = rest.strip_prefix(b"x")?;
    let digits = after.iter().take(2).take_while(|byte| byte.is_ascii_hexdigit()).count();
    let text = std::str::from_utf8(after.get(..digits)?).ok()?;
    Some((u8::from_str_radix(text, 16).ok()?, after.get(digits..)?))
}

fn literal(byte: u8, out: &mut Vec<u8>) {
    if b"\\[]^$.*+?{}()|".contains(&byte) {
        out.push(b'\\');
    }
    out.push(byte);
}

/// Translates a bracket expression after its `[`, with escapes resolved. `None` if it is not closed.
fn bracket(rest: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut list = Vec::new();
    let (mut closing, mut caret, mut dash, mut opening) = (false, false, false, false);
    let (negated, mut rest) = match rest {
        [b'^', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let mut first = true;
    loop {
        let (byte, after) = rest.split_first()?;
        rest = after;
        match byte {
            b']' if !first => break,
            b']' => closing = true,
            b'[' if matches!(rest.first(), Some(b':' | b'.' | b'=')) => {
                let kind = *rest.first()?;
                let end = rest.windows(2).skip(1).position(|pair| pair == [kind, b']']).map(|at| at + 3);
                match end {
                    Some(end) => {
                        list.push(b'[');
                        list.extend_from_slice(rest.get(..end)?);
                        rest = rest.get(end..)?;
                    }
                    None => opening = true,
                }
            }
            b'\\' => {
                let (byte, after) = match character(rest) {
                    Some(found) => found,
                    None => rest.split_first().map(|(byte, after)| (*byte, after))?,
                };
                rest = after;
                let in_range = list.last() == Some(&b'-') || rest.first() == Some(&b'-');
                match byte {
                    b']' if !in_range => closing = true,
                    b']' => list.extend_from_slice(b"[.].]"),
                    b'-' if matches!(rest, [b'-', end, ..] if *end != b']') => list.extend_from_slice(b"[.-.]"),
                    b'-' => dash = true,
                    b'^' if !in_range => caret = true,
                    b'[' if !in_range => opening = true,
                    byte => list.push(byte),
                }
            }
            b'^' if first => caret = true,
            // Three dashes mean one dash at any position.
            b'-' if rest.starts_with(b"--") => {
                dash = true;
                rest = rest.get(2..)?;
            }
            b'-' if first && rest.first() != Some(&b'-') || rest.first() == Some(&b']') => dash = true,
            byte => list.push(*byte),
        }
        first = false;
    }
    Some((assemble(negated, &list, Literals { closing, caret, dash, opening }), rest))
}

/// Characters of a list that are literal only at some positions.
struct Literals {
    closing: bool,
    caret: bool,
    dash: bool,
    opening: bool,
}

/// Builds a bracket expression with the special characters at positions where they are literal.
fn assemble(negated: bool, list: &[u8], literals: Literals) -> Vec<u8> {
    let Literals { closing, caret, dash, opening } = literals;
    let mut out = Vec::with_capacity(list.len() + 6);
    out.push(b'[');
    if negated {
        out.push(b'^');
    }
    if closing {
        out.push(b']');
    }
    out.extend_from_slice(list);
    if opening {
        out.push(b'[');
    }
    // A caret that would come first negates the list, unless it is alone with a dash.
    let alone = !negated && !closing && list.is_empty() && !opening;
    match (caret, alone, dash) {
        (true, true, false) => return b"\\^".to_vec(),
        (true, true, true) => return b"[-^]".to_vec(),
        (true, false, _) => out.push(b'^'),
        _ => {}
    }
    if dash {
        out.push(b'-');
    }
    out.push(b']');
    out
}
