//! Formats: `REPETITIONS/BYTES "TEXT WITH %CONVERSIONS"`.

use tidebox_gnu::escape::control;

/// Kind of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Only text.
    Text,
    /// The position, in a radix.
    Address(char),
    Signed,
    Unsigned(char),
    Character,
    /// `%s`
    Bytes,
    /// `%_c`: a character or its escape.
    Escaped,
    /// `%_p`: a character or a dot.
    Printable,
}

/// A conversion with the text around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Conversion {
    pub(crate) before: Vec<u8>,
    pub(crate) after: Vec<u8>,
    pub(crate) kind: Kind,
    pub(crate) bytes: usize,
    pub(crate) left: bool,
    pub(crate) zeros: bool,
    pub(crate) alternate: bool,
    pub(crate) plus: bool,
    pub(crate) space: bool,
    pub(crate) width: usize,
    pub(crate) precision: Option<usize>,
}

/// Conversions that are repeated together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Unit {
    pub(crate) times: usize,
    pub(crate) conversions: Vec<Conversion>,
    /// The number of repetitions was given.
    counted: bool,
}

impl Unit {
    fn bytes(&self) -> usize {
        self.conversions.iter().map(|conversion| conversion.bytes).sum::<usize>().saturating_mul(self.times)
    }
}

/// All formats.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) lines: Vec<Vec<Unit>>,
    /// Printed at the end of the input.
    pub(crate) end: Option<Unit>,
    pub(crate) block: usize,
}

/// Maximum width of a field and length of a block, in bytes. Bounds memory.
const MAX_WIDTH: usize = 1 << 16;

/// Parses formats. The error is the message.
pub(crate) fn parse(texts: &[Vec<u8>]) -> Result<Format, String> {
    let mut format = Format::default();
    for text in texts {
        let mut units = parse_line(text)?;
        // `_A` is printed after the last block.
        if let Some(at) = units
            .iter()
            .position(|unit| unit.conversions.iter().any(|conversion| conversion.kind == Kind::Address('!')))
        {
            let mut unit = units.remove(at);
            for conversion in &mut unit.conversions {
                if conversion.kind == Kind::Address('!') {
                    conversion.kind = Kind::Address(char::from(conversion.after.pop().unwrap_or(b'd')));
                    conversion.after = std::mem::take(&mut conversion.after);
                }
            }
            format.end = Some(unit);
        }
        format.lines.push(units);
    }
    let bytes = |units: &Vec<Unit>| units.iter().map(Unit::bytes).fold(0, usize::saturating_add);
    format.block = format.lines.iter().map(bytes).max().unwrap_or(0);
    if format.block > MAX_WIDTH {
        return Err("the block of the format is too long".to_owned());
    }
    let block = format.block;
    for units in &mut format.lines {
        let missing = block - bytes(units).min(block);
        // Without a number of repetitions, the last unit is repeated until the block is full.
        if let Some(unit) = units.last_mut()
            && !unit.counted
            && missing > 0
        {
            let once = unit.bytes() / unit.times.max(1);
            unit.times += missing.checked_div(once).unwrap_or(0);
        }
    }
    Ok(format)
}

fn parse_line(text: &[u8]) -> Result<Vec<Unit>, String> {
    let bad = || format!("bad format {{{}}}", String::from_utf8_lossy(text));
    let mut units = Vec::new();
    let mut rest = text.trim_ascii();
    while !rest.is_empty() {
        let mut unit = Unit { times: 1, ..Unit::default() };
        let mut size = None;
        if let Some((number, after)) = number(rest) {
            (unit.times, unit.counted) = (number.min(MAX_WIDTH), true);
            rest = after.trim_ascii_start();
        }
        if let Some(after) = rest.strip_prefix(b"/") {
            let (number, after) = number(after.trim_ascii_start()).ok_or_else(bad)?;
            size = Some(number);
            rest = after.trim_ascii_start();
        }
        let body = rest.strip_prefix(b"\"").ok_or_else(bad)?;
        let mut end = 0;
        while body.get(end).is_some_and(|byte| *byte != b'"') {
            end += if body.get(end) == Some(&b'\\') { 2 } else { 1 };
        }
        let inside = body.get(..end).ok_or_else(bad)?;
        rest = body.get(end + 1..).ok_or_else(bad)?.trim_ascii_start();
        unit.conversions = parse_conversions(&unescaped(inside), size)?;
        units.push(unit);
    }
    Ok(units)
}

fn number(text: &[u8]) -> Option<(usize, &[u8])> {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at_checked(digits)?;
    Some((std::str::from_utf8(digits).ok()?.parse().ok()?, rest))
}

fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        match bytes.next() {
            Some(b'0') => break,
            Some(letter) => out.push(control(*letter).unwrap_or(*letter)),
            None => {}
        }
    }
    out
}

fn parse_conversions(text: &[u8], size: Option<usize>) -> Result<Vec<Conversion>, String> {
    let mut conversions: Vec<Conversion> = Vec::new();
    let mut rest = text;
    let mut before = Vec::new();
    while let Some((first, after)) = rest.split_first() {
        if *first != b'%' {
            before.push(*first);
            rest = after;
            continue;
        }
        if after.first() == Some(&b'%') {
            before.push(b'%');
            rest = after.get(1..).unwrap_or_default();
            continue;
        }
        let (mut conversion, after) = parse_conversion(after, size)?;
        conversion.before = std::mem::take(&mut before);
        // Text up to the next conversion belongs to this one, because both are omitted together.
        let end = after.iter().position(|byte| *byte == b'%').unwrap_or(after.len());
        let (text, next) = after.split_at_checked(end).unwrap_or((after, b""));
        let is_end = conversion.kind == Kind::Address('!');
        let radix = if is_end { conversion.after.pop() } else { None };
        conversion.after = text.to_vec();
        conversion.after.extend(radix);
        conversions.push(conversion);
        rest = next;
    }
    if !before.is_empty() {
        let mut text = plain();
        text.before = before;
        conversions.push(text);
    }
    Ok(conversions)
}

fn plain() -> Conversion {
    Conversion {
        before: Vec::new(),
        after: Vec::new(),
        kind: Kind::Text,
        bytes: 0,
        left: false,
        zeros: false,
        alternate: false,
        plus: false,
        space: false,
        width: 0,
        precision: None,
    }
}

/// Parses a conversion after its percent sign.
fn parse_conversion(text: &[u8], size: Option<usize>) -> Result<(Conversion, &[u8]), String> {
    let mut conversion = plain();
    let mut rest = text;
    while let Some((flag, after)) = rest.split_first() {
        match flag {
            b'-' => conversion.left = true,
            b'0' => conversion.zeros = true,
            b'#' => conversion.alternate = true,
            b'+' => conversion.plus = true,
            b' ' => conversion.space = true,
            _ => break,
        }
        rest = after;
    }
    if let Some((width, after)) = number(rest) {
        (conversion.width, rest) = (width.min(MAX_WIDTH), after);
    }
    if let Some(after) = rest.strip_prefix(b".") {
        let (precision, after) = number(after).unwrap_or((0, after));
        (conversion.precision, rest) = (Some(precision.min(MAX_WIDTH)), after);
    }
    let bad = |letter: &[u8]| format!("bad conversion character %{}", String::from_utf8_lossy(letter));
    let (letter, after) = rest.split_first().ok_or_else(|| bad(b""))?;
    let counted = |kind: Kind, usual: usize, allowed: &[usize]| {
        let bytes = size.filter(|size| *size > 0).unwrap_or(usual);
        if allowed.contains(&bytes) {
            Ok((kind, bytes))
        } else {
            Err(format!("bad byte count for conversion character {}", char::from(*letter)))
        }
    };
    let mut rest = after;
    (conversion.kind, conversion.bytes) = match letter {
        b'c' => counted(Kind::Character, 1, &[1])?,
        b'd' | b'i' => counted(Kind::Signed, 4, &[1, 2, 4, 8])?,
        b'o' | b'u' | b'x' | b'X' => counted(Kind::Unsigned(char::from(*letter)), 4, &[1, 2, 4, 8])?,
        b's' => match size.or(conversion.precision) {
            Some(bytes) => (Kind::Bytes, bytes.min(MAX_WIDTH)),
            None => return Err("%s requires a precision or a byte count".to_owned()),
        },
        b'_' => {
            let (kind, after) = rest.split_first().ok_or_else(|| bad(b"_"))?;
            rest = after;
            match kind {
                b'a' | b'A' => {
                    let (radix, after) = rest.split_first().ok_or_else(|| bad(b"_a"))?;
                    rest = after;
                    if !matches!(radix, b'd' | b'o' | b'x') {
                        return Err(bad(&[b'_', *kind, *radix]));
                    }
                    if *kind == b'A' {
                        conversion.after.push(*radix);
                        (Kind::Address('!'), 0)
                    } else {
                        (Kind::Address(char::from(*radix)), 0)
                    }
                }
                b'c' => counted(Kind::Escaped, 1, &[1])?,
                b'p' => counted(Kind::Printable, 1, &[1])?,
                other => return Err(bad(&[b'_', *other])),
            }
        }
        other => return Err(bad(&[*other])),
    };
    Ok((conversion, rest))
}
