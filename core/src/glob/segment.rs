//! Matching of one pattern segment against one name.

/// One segment of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    /// `**`: any number of directories. A leading dot is subject to [`super::GlobRules::star_matches_dot`].
    AnyDirectories,
    /// Prefix of a bare pattern: any number of directories with any names.
    AnyDepth,
    /// A literal name or one with wildcards.
    Name(Wild),
}

impl Segment {
    pub(super) fn name(text: &[u8]) -> Self {
        Self::Name(Wild::parse(text))
    }
}

/// A name with wildcards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wild(Vec<Token>);

/// A character, or a byte of invalid UTF-8, counted from after the last character.
type Unit = u32;

const NO_CHARACTER: Unit = 0x11_0000;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Exactly(Unit),
    One,
    Many,
    Class { negated: bool, ranges: Vec<(Unit, Unit)> },
}

impl Token {
    fn matches(&self, unit: Unit) -> bool {
        match self {
            Self::Exactly(this) => *this == unit,
            Self::One | Self::Many => true,
            Self::Class { negated, ranges } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&unit)) != *negated
            }
        }
    }
}

impl Wild {
    fn parse(text: &[u8]) -> Self {
        let units = units(text);
        let mut tokens = Vec::with_capacity(units.len());
        let mut at = 0;
        while let Some(unit) = units.get(at) {
            at += 1;
            match char::from_u32(*unit) {
                Some('*') if tokens.last() == Some(&Token::Many) => {}
                Some('*') => tokens.push(Token::Many),
                Some('?') => tokens.push(Token::One),
                Some('[') => match class(&units, at) {
                    Some((class, end)) => {
                        tokens.push(class);
                        at = end;
                    }
                    None => tokens.push(Token::Exactly(*unit)),
                },
                Some('\\') if at < units.len() => {
                    tokens.extend(units.get(at).map(|escaped| Token::Exactly(*escaped)));
                    at += 1;
                }
                _ => tokens.push(Token::Exactly(*unit)),
            }
        }
        Self(tokens)
    }

    /// Returns whether the whole name matches. With `dot_must_be_named`, a wildcard does not match a leading dot.
    pub(super) fn matches(&self, name: &[u8], dot_must_be_named: bool) -> bool {
        if dot_must_be_named && self.0.first() != Some(&Token::Exactly(Unit::from(b'.'))) {
            return false;
        }
        let name = units(name);
        let (mut token, mut unit) = (0, 0);
        // Backtracking position: after the last `*`, which then consumes one more unit. Earlier stars need not be retried, so the
        // work is bounded by the product of the two lengths.
        let mut retry = None;
        while let Some(this) = name.get(unit) {
            match self.0.get(token) {
                Some(Token::Many) => {
                    token += 1;
                    retry = Some((token, unit));
                }
                Some(wanted) if wanted.matches(*this) => {
                    token += 1;
                    unit += 1;
                }
                _ => {
                    let Some((after_star, taken)) = retry else { return false };
                    token = after_star;
                    unit = taken + 1;
                    retry = Some((after_star, unit));
                }
            }
        }
        self.0.get(token..).unwrap_or_default().iter().all(|rest| *rest == Token::Many)
    }
}

/// Parses the class whose `[` is before `start`; returns it and its end. `None` if it is not closed: then `[` is literal.
fn class(units: &[Unit], start: usize) -> Option<(Token, usize)> {
    let is =
        |at: usize, text: &[u8]| units.get(at).is_some_and(|unit| text.iter().any(|byte| Unit::from(*byte) == *unit));
    let negated = is(start, b"!^");
    let first = start + usize::from(negated);
    let mut at = first;
    let mut ranges = Vec::new();
    loop {
        // `]` directly at the start is a member.
        if at > first && is(at, b"]") {
            return Some((Token::Class { negated, ranges }, at + 1));
        }
        let low = *units.get(at)?;
        if is(at + 1, b"-") && units.get(at + 2).is_some() && !is(at + 2, b"]") {
            ranges.push((low, *units.get(at + 2)?));
            at += 3;
        } else {
            ranges.push((low, low));
            at += 1;
        }
    }
}

fn units(text: &[u8]) -> Vec<Unit> {
    let mut units = Vec::with_capacity(text.len());
    for chunk in text.utf8_chunks() {
        units.extend(chunk.valid().chars().map(Unit::from));
        units.extend(chunk.invalid().iter().map(|byte| NO_CHARACTER + Unit::from(*byte)));
    }
    units
}
