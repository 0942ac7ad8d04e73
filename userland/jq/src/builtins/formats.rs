//! `@csv` and the other formats.

use std::fmt::Write as _;

use super::{Entry, plain, unary};
use crate::value::{Result, Val, fault};

pub(super) const FILTERS: &[Entry] = &[
    plain!("@text", |value: Val| -> Result { Ok(Val::from(text_of(&value))) }),
    plain!("@json", |value: Val| -> Result { Ok(Val::from(value.json())) }),
    plain!("@csv", csv),
    plain!("@tsv", tsv),
    plain!("@html", |value: Val| -> Result { Ok(Val::from(html(&text_of(&value)))) }),
    plain!("@uri", |value: Val| -> Result { Ok(Val::from(uri(&text_of(&value)))) }),
    plain!("@urid", |value: Val| -> Result { Ok(Val::from(from_uri(&text_of(&value)))) }),
    plain!("@sh", shell),
    plain!("@base64", |value: Val| -> Result { Ok(Val::from(base64(text_of(&value).as_bytes()))) }),
    plain!("@base64d", from_base64),
    unary!("format", |value: Val, name: Val| match name.as_str() {
        Some("text") => Ok(Val::from(text_of(&value))),
        Some("json") => Ok(Val::from(value.json())),
        Some("csv") => csv(value),
        Some("tsv") => tsv(value),
        Some("html") => Ok(Val::from(html(&text_of(&value)))),
        Some("uri") => Ok(Val::from(uri(&text_of(&value)))),
        Some("sh") => shell(value),
        Some("base64") => Ok(Val::from(base64(text_of(&value).as_bytes()))),
        Some("base64d") => from_base64(value),
        Some(name) => Err(fault(format!("{name} is not a valid format"))),
        None => Err(fault(format!("{} is not a valid format", name.described()))),
    }),
];

fn text_of(value: &Val) -> String {
    value.as_str().map_or_else(|| value.json(), str::to_owned)
}

/// Formats a row; `field` writes a string.
fn row(value: &Val, name: &str, separator: char, field: impl Fn(&mut String, &str)) -> Result {
    let Some(items) = value.as_array() else {
        return Err(fault(format!("{} cannot be {name}-formatted, only array", value.described())));
    };
    let mut line = String::new();
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            line.push(separator);
        }
        match item {
            Val::Null => {}
            Val::Bool(value) => line.push_str(if *value { "true" } else { "false" }),
            Val::Number(number) if number.value().is_nan() => {}
            Val::Number(number) => line.push_str(&number.text()),
            Val::String(text) => field(&mut line, text),
            item => return Err(fault(format!("{} is not valid in a csv row", item.described()))),
        }
    }
    Ok(Val::from(line))
}

fn csv(value: Val) -> Result {
    row(&value, "csv", ',', |line, text| {
        line.push('"');
        line.push_str(&text.replace('"', "\"\""));
        line.push('"');
    })
}

fn tsv(value: Val) -> Result {
    row(&value, "tsv", '\t', |line, text| {
        for char in text.chars() {
            match char {
                '\t' => line.push_str("\\t"),
                '\r' => line.push_str("\\r"),
                '\n' => line.push_str("\\n"),
                '\\' => line.push_str("\\\\"),
                char => line.push(char),
            }
        }
    })
}

fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\'' => out.push_str("&#39;"),
            '"' => out.push_str("&quot;"),
            char => out.push(char),
        }
    }
    out
}

fn uri(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn from_uri(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let code = text.get(at + 1..at + 3).filter(|_| *byte == b'%').and_then(|hex| u8::from_str_radix(hex, 16).ok());
        out.push(code.unwrap_or(*byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn shell(value: Val) -> Result {
    let items = match value {
        array @ Val::Array(_) => array.into_items(),
        value => vec![value],
    };
    let mut words = Vec::with_capacity(items.len());
    for item in items {
        words.push(match item {
            Val::String(text) => format!("'{}'", text.replace('\'', "'\\''")),
            item @ (Val::Array(_) | Val::Object(_)) => {
                return Err(fault(format!("{} can not be escaped for shell", item.described())));
            }
            item => item.json(),
        });
    }
    Ok(Val::from(words.join(" ")))
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let digit = BASE64.get((bits >> (18 - 6 * at) & 63) as usize);
            out.push(digit.filter(|_| at <= group.len()).map_or('=', |digit| char::from(*digit)));
        }
    }
    out
}

/// Decodes the digits. `None` for an invalid one.
fn decode(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let (mut held, mut count) = (0_u32, 0);
    for byte in text.trim_end_matches('=').bytes() {
        let value = BASE64.iter().position(|digit| *digit == byte)?;
        held = (held << 6 | u32::try_from(value).ok()?) & 0xffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from(held >> count & 0xff).ok()?);
        }
    }
    Some(out)
}

fn from_base64(value: Val) -> Result {
    let text = text_of(&value);
    let described = || Val::text(&text).described();
    let digits = text.trim_end_matches('=').len();
    let Some(bytes) = decode(&text) else {
        return Err(fault(format!("{} is not valid base64 data", described())));
    };
    if digits % 4 == 1 {
        return Err(fault(format!("{} trailing base64 byte found", described())));
    }
    Ok(Val::from(String::from_utf8_lossy(&bytes).into_owned()))
}
