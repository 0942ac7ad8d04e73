//! Prints blocks by formats.

use tidebox_gnu::stream::Output;

use super::Source;
use super::format::{Conversion, Format, Kind, Unit};

/// Dumps the input.
pub(super) fn show(format: &Format, source: &mut Source<'_>, begin: u64, verbose: bool, out: &mut Output) {
    if format.block == 0 {
        return;
    }
    let mut address = begin;
    let (mut previous, mut starred): (Option<Vec<u8>>, bool) = (None, false);
    let mut buffer = Vec::new();
    loop {
        while buffer.len() < format.block {
            let chunk = source.chunk(out);
            if chunk.is_empty() {
                break;
            }
            buffer.extend(chunk);
        }
        if buffer.is_empty() || out.failure().is_some() {
            break;
        }
        let mut rest = buffer.as_slice();
        while rest.len() >= format.block {
            let (block, after) = rest.split_at_checked(format.block).unwrap_or((rest, b""));
            rest = after;
            if !verbose && previous.as_deref() == Some(block) {
                if !std::mem::replace(&mut starred, true) {
                    out.push(b"*\n");
                }
            } else {
                starred = false;
                print(format, block, block.len(), address, out);
                previous = Some(block.to_vec());
            }
            address += block.len() as u64;
        }
        buffer = rest.to_vec();
        let more = source.chunk(out);
        if more.is_empty() && !buffer.is_empty() {
            let count = buffer.len();
            buffer.resize(format.block, 0);
            print(format, &buffer, count, address, out);
            address += count as u64;
            break;
        }
        buffer.extend(more);
    }
    if let Some(unit) = format.end.as_ref().filter(|_| address > 0) {
        for conversion in &unit.conversions {
            push(conversion, &[], address, false, true, out);
        }
    }
}

/// Prints one block. Only the first `count` bytes exist.
fn print(format: &Format, block: &[u8], count: usize, address: u64, out: &mut Output) {
    for units in &format.lines {
        let mut at = 0;
        for unit in units {
            print_unit(unit, block, count, address, &mut at, out);
        }
    }
}

fn print_unit(unit: &Unit, block: &[u8], count: usize, address: u64, at: &mut usize, out: &mut Output) {
    for time in 0..unit.times {
        for (number, conversion) in unit.conversions.iter().enumerate() {
            let missing = *at >= count && conversion.bytes > 0;
            let last = time + 1 == unit.times && unit.times > 1 && number + 1 == unit.conversions.len();
            let bytes = block.get(*at..at.saturating_add(conversion.bytes)).unwrap_or_default();
            push(conversion, bytes, address + *at as u64, missing, !last, out);
            *at += conversion.bytes;
        }
    }
}

/// Prints a conversion. After the end of the input it is replaced by blanks of the same width. The last repetition has no
/// trailing blanks.
fn push(conversion: &Conversion, bytes: &[u8], address: u64, missing: bool, blanks: bool, out: &mut Output) {
    out.push(&conversion.before);
    if missing {
        out.push(&b" ".repeat(conversion.width));
    } else {
        let text = converted(conversion, bytes, address);
        let fill = conversion.width.saturating_sub(text.len());
        let zeros = conversion.zeros
            && !conversion.left
            && !matches!(conversion.kind, Kind::Text | Kind::Bytes | Kind::Escaped);
        let sign = usize::from(zeros && text.first().is_some_and(|byte| matches!(byte, b'-' | b'+')));
        let (sign, body) = text.split_at_checked(sign).unwrap_or((b"", &text));
        if conversion.left {
            out.push(&text);
            out.push(&b" ".repeat(fill));
        } else {
            out.push(if zeros { sign } else { b"" });
            out.push(&(if zeros { b"0" } else { b" " }).repeat(fill));
            out.push(if zeros { body } else { &text });
        }
    }
    let after = if blanks { conversion.after.as_slice() } else { conversion.after.trim_ascii_end() };
    out.push(after);
}

fn unsigned(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn signed(bytes: &[u8]) -> i64 {
    let unused = 64 - 8 * u32::try_from(bytes.len().clamp(1, 8)).unwrap_or(8);
    (unsigned(bytes) << unused).cast_signed() >> unused
}

fn with_precision(digits: String, conversion: &Conversion) -> String {
    let missing = conversion.precision.unwrap_or(0).saturating_sub(digits.len());
    "0".repeat(missing) + &digits
}

fn in_radix(value: u64, letter: char, conversion: &Conversion) -> String {
    let digits = match letter {
        'o' => format!("{value:o}"),
        'x' => format!("{value:x}"),
        'X' => format!("{value:X}"),
        _ => value.to_string(),
    };
    let prefix = match letter {
        _ if !conversion.alternate || value == 0 => "",
        'o' => "0",
        'x' => "0x",
        'X' => "0X",
        _ => "",
    };
    prefix.to_owned() + &with_precision(digits, conversion)
}

fn converted(conversion: &Conversion, bytes: &[u8], address: u64) -> Vec<u8> {
    let byte = bytes.first().copied().unwrap_or(0);
    let text = match conversion.kind {
        Kind::Text => return Vec::new(),
        Kind::Address(radix) => in_radix(address, radix, conversion),
        Kind::Signed => {
            let value = signed(bytes);
            let sign = match (value < 0, conversion.plus, conversion.space) {
                (true, ..) => "-",
                (_, true, _) => "+",
                (_, _, true) => " ",
                _ => "",
            };
            sign.to_owned() + &with_precision(value.unsigned_abs().to_string(), conversion)
        }
        Kind::Unsigned(letter) => in_radix(unsigned(bytes), letter, conversion),
        Kind::Character => return vec![byte],
        Kind::Bytes => {
            let shown = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
            return shown
                .get(..conversion.precision.unwrap_or(shown.len()).min(shown.len()))
                .unwrap_or_default()
                .to_vec();
        }
        Kind::Escaped => escaped(byte),
        Kind::Printable => return vec![if (32..127).contains(&byte) { byte } else { b'.' }],
    };
    text.into_bytes()
}

fn escaped(byte: u8) -> String {
    match byte {
        0 => "\\0".to_owned(),
        7 => "\\a".to_owned(),
        8 => "\\b".to_owned(),
        9 => "\\t".to_owned(),
        10 => "\\n".to_owned(),
        11 => "\\v".to_owned(),
        12 => "\\f".to_owned(),
        13 => "\\r".to_owned(),
        32..=126 => char::from(byte).to_string(),
        _ => format!("{byte:03o}"),
    }
}
