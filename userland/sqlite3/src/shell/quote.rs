//! Values and names in SQL and other syntaxes.

use crate::engine::{Cell, Value};

/// A value as SQL.
pub(super) fn value(cell: &Cell) -> Vec<u8> {
    match &cell.value {
        Value::Null => b"NULL".to_vec(),
        Value::Integer(_) => cell.text.clone(),
        Value::Real(number) => real(*number).into_bytes(),
        Value::Text(text) => string(text),
        Value::Blob(bytes) => {
            let mut out = b"X'".to_vec();
            for byte in bytes {
                out.extend_from_slice(format!("{byte:02x}").as_bytes());
            }
            out.push(b'\'');
            out
        }
    }
}

/// A number with twenty digits, without trailing zeros.
pub(super) fn real(number: f64) -> String {
    if number.is_infinite() {
        return if number > 0.0 { "1e999" } else { "-1e999" }.to_owned();
    }
    let scientific = format!("{:.19e}", number.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits = mantissa.replace('.', "");
    let digits = digits.trim_end_matches('0');
    let sign = if number < 0.0 { "-" } else { "" };
    if digits.is_empty() {
        return "0.0".to_owned();
    }
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    let count = i32::try_from(digits.len()).unwrap_or(0);
    if !(-4..20).contains(&exponent) {
        let (first, rest) = digits.split_at(1);
        let rest = if rest.is_empty() { "0" } else { rest };
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{first}.{rest}e{exponent_sign}{:02}", exponent.abs());
    }
    if exponent < 0 {
        return format!("{sign}0.{}{digits}", zeros(-exponent - 1));
    }
    if count <= exponent + 1 {
        return format!("{sign}{digits}{}.0", zeros(exponent + 1 - count));
    }
    let (whole, fraction) = digits.split_at(usize::try_from(exponent + 1).unwrap_or(0));
    format!("{sign}{whole}.{fraction}")
}

/// A text between single quotes.
pub(super) fn string(text: &[u8]) -> Vec<u8> {
    let mut out = vec![b'\''];
    for byte in text {
        if *byte == b'\'' {
            out.push(b'\'');
        }
        out.push(*byte);
    }
    out.push(b'\'');
    out
}

/// A text as SQL on one line: newlines are inserted by `replace`.
pub(super) fn one_line(text: &[u8]) -> Vec<u8> {
    if !text.contains(&b'\n') && !text.contains(&b'\r') {
        return string(text);
    }
    let mark = |char: &str| -> String {
        let mut mark = format!("\\{char}");
        let mut count = 0;
        while String::from_utf8_lossy(text).contains(&mark) {
            count += 1;
            mark = format!("(\\{char}{count})");
        }
        mark
    };
    let (line, carriage) = (mark("n"), mark("r"));
    let mut inner = Vec::new();
    for byte in text {
        match byte {
            b'\n' => inner.extend_from_slice(line.as_bytes()),
            b'\r' => inner.extend_from_slice(carriage.as_bytes()),
            byte => inner.push(*byte),
        }
    }
    let mut out = string(&inner);
    if text.contains(&b'\n') {
        out = [b"replace(", out.as_slice(), format!(",'{line}',char(10))").as_bytes()].concat();
    }
    if text.contains(&b'\r') {
        out = [b"replace(", out.as_slice(), format!(",'{carriage}',char(13))").as_bytes()].concat();
    }
    out
}

/// Keywords that must be quoted as names.
const WORDS: [&str; 32] = [
    "select", "table", "from", "where", "group", "order", "by", "index", "values", "insert", "into", "create",
    "delete", "update", "set", "and", "or", "not", "null", "in", "is", "on", "join", "as", "primary", "unique",
    "check", "default", "case", "when", "then", "else",
];

/// A name, quoted if necessary.
pub(super) fn name(name: &[u8]) -> Vec<u8> {
    let plain = name.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
        && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
        && !WORDS.contains(&String::from_utf8_lossy(name).to_ascii_lowercase().as_str());
    if plain { name.to_vec() } else { always(name) }
}

/// A name between double quotes.
pub(super) fn always(name: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
    for byte in name {
        if *byte == b'"' {
            out.push(b'"');
        }
        out.push(*byte);
    }
    out.push(b'"');
    out
}

/// A field of a table of comma-separated values.
pub(super) fn csv(text: &[u8], separator: &[u8]) -> Vec<u8> {
    let needs = text.is_empty()
        || text.iter().any(|byte| *byte <= b' ' || *byte == b'"' || *byte == b'\'' || *byte >= 0x7f)
        || (!separator.is_empty() && text.windows(separator.len()).any(|window| window == separator));
    if needs { always(text) } else { text.to_vec() }
}

/// A text escaped for HTML.
pub(super) fn html(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for byte in text {
        match byte {
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            b'"' => out.extend_from_slice(b"&quot;"),
            b'\'' => out.extend_from_slice(b"&#39;"),
            byte => out.push(*byte),
        }
    }
    out
}
