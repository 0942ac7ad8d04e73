//! Name transformation with sed `s` expressions.

use tidebox_gnu::regex::{Dialect, Options, Regex, Subject};

/// One expression.
#[derive(Debug)]
pub(crate) struct Transform {
    regex: Regex,
    parts: Vec<Part>,
    /// Replace every match.
    global: bool,
    /// Flags: applies to member names, symbolic link targets, and hard link targets.
    applies: [bool; 3],
}

/// Kind of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    Member,
    SymbolicLink,
    HardLink,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(Vec<u8>),
    Group(usize),
    Case(Case),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Case {
    Lower,
    Upper,
    LowerNext,
    UpperNext,
    Stop,
}

const INVALID: &str = "Invalid transform expression";

impl Transform {
    /// Parses expressions separated by semicolons.
    pub(crate) fn parse(text: &[u8]) -> Result<Vec<Self>, String> {
        let mut all = Vec::new();
        let mut rest = text;
        // Default scope of an expression.
        let mut applies = [true; 3];
        loop {
            let (one, after) = Self::one(rest, &mut applies).ok_or(INVALID)??;
            all.extend(one);
            match after.split_first() {
                None => return Ok(all),
                Some((b';', [])) => return Ok(all),
                Some((b';', after)) => rest = after,
                Some((flag, _)) => {
                    return Err(format!("Unknown flag in transform expression: {}", char::from(*flag)));
                }
            }
        }
    }

    #[expect(
        clippy::type_complexity,
        reason = "the outer one says that it is no expression, the inner one what is wrong with it"
    )]
    fn one<'a>(text: &'a [u8], usual: &mut [bool; 3]) -> Option<Result<(Option<Self>, &'a [u8]), String>> {
        if let Some(flags) = text.strip_prefix(b"flags=") {
            let end = flags.iter().position(|byte| *byte == b';').unwrap_or(flags.len());
            *usual = [false; 3];
            for flag in flags.get(..end)? {
                scope(*flag, usual)?;
            }
            return Some(Ok((None, flags.get(end..)?)));
        }
        let (mark, rest) = text.strip_prefix(b"s")?.split_first()?;
        let (pattern, rest) = until(rest, *mark)?;
        let (replacement, mut rest) = until(rest, *mark)?;
        let (mut extended, mut ignore_case, mut global) = (false, false, false);
        let mut applies = *usual;
        while let Some((flag, after)) = rest.split_first() {
            match flag {
                b'g' => global = true,
                b'i' => ignore_case = true,
                b'x' => extended = true,
                flag if scope(*flag, &mut applies).is_some() => {}
                _ => break,
            }
            rest = after;
        }
        let options = Options {
            dialect: if extended { Dialect::Extended } else { Dialect::Basic },
            ignore_case,
            whole_line: false,
            misplaced: Default::default(),
            whole_word: false,
            subject: Subject::Text,
            terminator: b'\n',
            captures: true,
            unicode: false,
        };
        Some(match Regex::new(&[pattern], &options) {
            Ok(regex)
                if parts(&replacement)
                    .iter()
                    .any(|part| matches!(part, Part::Group(group) if *group > regex.groups())) =>
            {
                Err("Invalid transform replacement: back reference out of range".to_owned())
            }
            Ok(regex) => Ok((Some(Self { regex, parts: parts(&replacement), global, applies }), rest)),
            Err(error) => Err(format!("Invalid transform expression: {error}")),
        })
    }

    /// Transforms a name.
    pub(crate) fn apply(&self, name: &[u8], of: Of) -> Vec<u8> {
        let applies = match of {
            Of::Member => self.applies[0],
            Of::SymbolicLink => self.applies[1],
            Of::HardLink => self.applies[2],
        };
        if !applies {
            return name.to_vec();
        }
        let mut out = Vec::new();
        let (mut from, mut copied) = (0, 0);
        while from <= name.len() {
            let Ok(Some(groups)) = self.regex.captures(name, from) else {
                break;
            };
            let Some(Some(whole)) = groups.first().cloned() else {
                break;
            };
            out.extend_from_slice(name.get(copied..whole.start).unwrap_or_default());
            self.replace(name, &groups, &mut out);
            copied = whole.end;
            if !self.global {
                break;
            }
            from = if whole.is_empty() { whole.end + 1 } else { whole.end };
        }
        out.extend_from_slice(name.get(copied..).unwrap_or_default());
        out
    }

    fn replace(&self, name: &[u8], groups: &[Option<std::ops::Range<usize>>], out: &mut Vec<u8>) {
        let (mut lasting, mut next) = (None, None);
        for part in &self.parts {
            let text = match part {
                Part::Case(case) => {
                    match case {
                        Case::Lower | Case::Upper => lasting = Some(*case),
                        Case::LowerNext | Case::UpperNext => next = Some(*case),
                        Case::Stop => (lasting, next) = (None, None),
                    }
                    continue;
                }
                Part::Text(text) => text.as_slice(),
                Part::Group(number) => {
                    let range = groups.get(*number).cloned().flatten().unwrap_or(0..0);
                    name.get(range).unwrap_or_default()
                }
            };
            for byte in text {
                out.push(match next.take().or(lasting) {
                    Some(Case::Lower | Case::LowerNext) => byte.to_ascii_lowercase(),
                    Some(Case::Upper | Case::UpperNext) => byte.to_ascii_uppercase(),
                    _ => *byte,
                });
            }
        }
    }
}

/// Parses a scope flag; `None` for any other flag.
fn scope(flag: u8, applies: &mut [bool; 3]) -> Option<()> {
    let at = b"rsh".iter().position(|known| *known == flag.to_ascii_lowercase())?;
    *applies.get_mut(at)? = flag.is_ascii_lowercase();
    Some(())
}

/// Returns the text up to the next unescaped delimiter, and the rest.
fn until(text: &[u8], mark: u8) -> Option<(Vec<u8>, &[u8])> {
    let mut out = Vec::new();
    let mut at = 0;
    loop {
        match text.get(at)? {
            byte if *byte == mark => return Some((out, text.get(at + 1..)?)),
            b'\\' => {
                let next = *text.get(at + 1)?;
                if next != mark {
                    out.push(b'\\');
                }
                out.push(next);
                at += 2;
            }
            byte => {
                out.push(*byte);
                at += 1;
            }
        }
    }
}

/// Parses a replacement.
fn parts(text: &[u8]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut plain = Vec::new();
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        let part = match byte {
            b'&' => Part::Group(0),
            b'\\' => match bytes.next() {
                Some(digit @ b'0'..=b'9') => Part::Group(usize::from(digit - b'0')),
                Some(b'L') => Part::Case(Case::Lower),
                Some(b'U') => Part::Case(Case::Upper),
                Some(b'l') => Part::Case(Case::LowerNext),
                Some(b'u') => Part::Case(Case::UpperNext),
                Some(b'E') => Part::Case(Case::Stop),
                Some(b'n') => Part::Text(b"\n".to_vec()),
                Some(b't') => Part::Text(b"\t".to_vec()),
                Some(other) => Part::Text(vec![*other]),
                None => Part::Text(b"\\".to_vec()),
            },
            other => {
                plain.push(*other);
                continue;
            }
        };
        if !plain.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut plain)));
        }
        parts.push(part);
    }
    if !plain.is_empty() {
        parts.push(Part::Text(plain));
    }
    parts
}
