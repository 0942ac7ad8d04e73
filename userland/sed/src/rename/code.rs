//! Parser of `rename` code.

use tidebox_gnu::message::unicode_locale;
use tidebox_gnu::regex::{Dialect, Options, Regex, Subject};

use super::Statement;
use crate::replacement::{Case, Part, Replacement};

/// Parses statements separated by semicolons.
pub(super) fn read_code(code: &[u8]) -> Result<Vec<Statement>, String> {
    let mut statements = Vec::new();
    let mut rest = code;
    loop {
        let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == b';').count();
        rest = rest.get(blank..).unwrap_or_default();
        if rest.is_empty() {
            return Ok(statements);
        }
        let unknown = || unsupported(rest);
        let end = rest.iter().position(|byte| *byte == b';').unwrap_or(rest.len());
        let words: Vec<u8> = rest.iter().take(end).copied().filter(|byte| !b" \t\n()".contains(byte)).collect();
        let case = match words.as_slice() {
            b"$_=lc" | b"$_=lc$_" => Some(Case::Lower),
            b"$_=uc" | b"$_=uc$_" => Some(Case::Upper),
            _ => None,
        };
        if let Some(case) = case {
            statements.push(Statement::Case(case));
            rest = rest.get(end..).unwrap_or_default();
            continue;
        }
        let rest_of = |keyword: &[u8]| {
            rest.strip_prefix(keyword).filter(|rest| rest.first().is_some_and(u8::is_ascii_punctuation))
        };
        let (substitutes, after) = match (rest_of(b"s"), rest_of(b"tr").or_else(|| rest_of(b"y"))) {
            (Some(after), _) => (true, after),
            (None, Some(after)) => (false, after),
            (None, None) => return Err(unknown()),
        };
        let (first, second, after) = delimited(after).ok_or_else(unknown)?;
        let letters = after.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let (flags, after) = after.split_at_checked(letters).unwrap_or((after, b""));
        statements.push(if substitutes {
            substitute(first, second, flags)?
        } else {
            translate(&first, &second, flags)?
        });
        let blank = after.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
        rest = after.get(blank..).unwrap_or_default();
        if rest.first().is_some_and(|byte| *byte != b';') {
            return Err(unsupported(rest));
        }
    }
}

fn unsupported(code: &[u8]) -> String {
    format!("only s///, y///, tr///, lc and uc are supported here, not: {}", String::from_utf8_lossy(code))
}

/// Two delimited texts, whose delimiters may be brackets, and the rest.
fn delimited(text: &[u8]) -> Option<(Vec<u8>, Vec<u8>, &[u8])> {
    let (open, rest) = text.split_first()?;
    let close = match open {
        b'{' => b'}',
        b'(' => b')',
        b'[' => b']',
        b'<' => b'>',
        other => *other,
    };
    let (first, rest) = up_to(rest, *open, close)?;
    if close == *open {
        let (second, rest) = up_to(rest, *open, close)?;
        return Some((first, second, rest));
    }
    let blank = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let (again, rest) = rest.get(blank..)?.split_first()?;
    let (second, rest) = up_to(rest, *again, if again == open { close } else { *again })?;
    Some((first, second, rest))
}

fn up_to(text: &[u8], open: u8, close: u8) -> Option<(Vec<u8>, &[u8])> {
    let (mut out, mut depth, mut at) = (Vec::new(), 0_usize, 0);
    loop {
        let byte = *text.get(at)?;
        at += 1;
        match byte {
            b'\\' => {
                let next = *text.get(at)?;
                at += 1;
                if next != close || close.is_ascii_alphanumeric() {
                    out.push(b'\\');
                }
                out.push(next);
                continue;
            }
            byte if byte == close && depth == 0 => return Some((out, text.get(at..)?)),
            byte if byte == close => depth -= 1,
            byte if byte == open => depth += 1,
            _ => {}
        }
        out.push(byte);
    }
}

fn substitute(pattern: Vec<u8>, replacement: Vec<u8>, flags: &[u8]) -> Result<Statement, String> {
    if let Some(flag) = flags.iter().find(|flag| !b"gi".contains(flag)) {
        return Err(format!("flag '{}' of s/// is not supported here", char::from(*flag)));
    }
    let options = Options {
        dialect: Dialect::Perl,
        ignore_case: flags.contains(&b'i'),
        whole_line: false,
        misplaced: Default::default(),
        whole_word: false,
        subject: Subject::Text,
        terminator: 0,
        captures: true,
        unicode: unicode_locale(),
    };
    let regex = Regex::new(&[pattern], &options).map_err(|error| error.to_string())?;
    Ok(Statement::Substitute { regex, replacement: read_replacement(&replacement)?, global: flags.contains(&b'g') })
}

/// `$1`, `${1}`, `\1`, `$&` and the escapes for case.
fn read_replacement(text: &[u8]) -> Result<Replacement, String> {
    let mut parts: Vec<Part> = Vec::new();
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        let part = match (first, after.first()) {
            (b'$', Some(b'&')) => {
                rest = after.get(1..).unwrap_or_default();
                Part::Group(0)
            }
            (b'$', Some(b'{' | b'0'..=b'9')) => {
                let braced = after.first() == Some(&b'{');
                let inner = if braced { after.get(1..).unwrap_or_default() } else { after };
                let digits = inner.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let number = std::str::from_utf8(inner.get(..digits).unwrap_or_default())
                    .ok()
                    .and_then(|digits| digits.parse().ok());
                rest = inner.get(digits + usize::from(braced)..).unwrap_or_default();
                Part::Group(number.ok_or_else(|| {
                    format!("only numbered groups are supported in {}", String::from_utf8_lossy(text))
                })?)
            }
            (b'$', Some(byte)) if byte.is_ascii_alphabetic() || *byte == b'_' => {
                return Err(format!("variables are not supported here, as in {}", String::from_utf8_lossy(text)));
            }
            (b'\\', Some(letter)) => {
                rest = after.get(1..).unwrap_or_default();
                match letter {
                    b'1'..=b'9' => Part::Group(usize::from(letter - b'0')),
                    b'U' => Part::Case(Case::Upper),
                    b'L' => Part::Case(Case::Lower),
                    b'u' => Part::Case(Case::UpperNext),
                    b'l' => Part::Case(Case::LowerNext),
                    b'E' => Part::Case(Case::End),
                    b'n' => Part::Text(b"\n".to_vec()),
                    b't' => Part::Text(b"\t".to_vec()),
                    other => Part::Text(vec![*other]),
                }
            }
            _ => Part::Text(vec![*first]),
        };
        match (parts.last_mut(), part) {
            (Some(Part::Text(text)), Part::Text(more)) => text.extend_from_slice(&more),
            (_, part) => parts.push(part),
        }
    }
    Ok(Replacement { parts })
}

fn translate(from: &[u8], to: &[u8], flags: &[u8]) -> Result<Statement, String> {
    if let Some(flag) = flags.iter().find(|flag| !b"ds".contains(flag)) {
        return Err(format!("flag '{}' of tr/// is not supported here", char::from(*flag)));
    }
    let delete = flags.contains(&b'd');
    let (from, mut to) = (ranges(from), ranges(to));
    if to.is_empty() && !delete {
        to.clone_from(&from);
    }
    Ok(Statement::Translate { from, to, delete, squeeze: flags.contains(&b's') })
}

/// The bytes of a list with ranges.
fn ranges(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match after {
            [b'-', last, more @ ..] if last >= first => {
                out.extend(*first..=*last);
                rest = more;
            }
            [escaped, more @ ..] if *first == b'\\' => {
                out.push(match escaped {
                    b'n' => b'\n',
                    b't' => b'\t',
                    other => *other,
                });
                rest = more;
            }
            _ => out.push(*first),
        }
    }
    out
}
