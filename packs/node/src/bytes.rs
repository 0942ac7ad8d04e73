//! Buffers: encodings, comparison and search.

use rquickjs::function::Opt;
use rquickjs::{Ctx, IntoJs as _, Object, Result, Value};

use crate::values::{Region, Text, Units, array_of_bytes, define, string_of_units};

pub(crate) fn define<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    define!(ctx, native,
        "decode" => decode,
        "encode" => |ctx: Ctx<'js>, text: Value<'js>, encoding: String| -> Result<_> {
            array_of_bytes(&ctx, &encoded(&ctx, text, &encoding)?).map(rquickjs::TypedArray::into_value).map(Held)
        },
        "encodeInto" => encode_into,
        "byteLengthUtf8" => |text: Text| text.0.len(),
        "compareBytes" => |one: Region<'js>, other: Region<'js>| order(one.bytes().cmp(other.bytes())),
        "indexOfBytes" => |within: Region<'js>, what: Region<'js>, start: f64, forward: bool, step: usize| {
            index_of(within.bytes(), what.bytes(), start, forward, step)
        },
        "isUtf8" => |bytes: Region<'js>| core::str::from_utf8(bytes.bytes()).is_ok(),
        "isAscii" => |bytes: Region<'js>| bytes.bytes().is_ascii(),
        "copyBytes" => copy,
    );
    Ok(())
}

/// A value of the engine, returned as it is.
#[derive(Debug)]
struct Held<'js>(Value<'js>);

impl<'js> rquickjs::IntoJs<'js> for Held<'js> {
    fn into_js(self, _: &Ctx<'js>) -> Result<Value<'js>> {
        Ok(self.0)
    }
}

fn order(order: core::cmp::Ordering) -> i32 {
    order as i32
}

/// Copies bytes; both may be regions of one buffer.
fn copy(from: Region<'_>, mut to: Region<'_>, to_start: usize, start: usize, len: usize) -> usize {
    let source = from.part(start, start.saturating_add(len)).to_vec();
    let room = to.bytes_mut().get_mut(to_start..).unwrap_or_default();
    let len = source.len().min(room.len());
    if let (Some(room), Some(source)) = (room.get_mut(..len), source.get(..len)) {
        room.copy_from_slice(source);
    }
    len
}

/// Returns the position of `what`, or -1. `start` is from the end if negative. `step` is 2 for units of UTF-16.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "positions in memory; `as` saturates"
)]
fn index_of(within: &[u8], what: &[u8], start: f64, forward: bool, step: usize) -> f64 {
    let len = within.len();
    let from = if start < 0.0 { start + len as f64 } else { start };
    if from < 0.0 && !forward {
        return -1.0;
    }
    let from = (from.max(0.0) as usize).min(len);
    if what.is_empty() {
        return from as f64;
    }
    let fits =
        |at: &usize| at.is_multiple_of(step.max(1)) && within.get(*at..).is_some_and(|rest| rest.starts_with(what));
    let Some(last) = len.checked_sub(what.len()) else { return -1.0 };
    let found = if forward {
        let mut at = from;
        loop {
            // The first byte is found faster than the whole.
            let Some(first) = what.first() else { break None };
            let Some(next) = within.get(at..).and_then(|rest| rest.iter().position(|byte| byte == first)) else {
                break None;
            };
            at += next;
            if at > last {
                break None;
            }
            if fits(&at) {
                break Some(at);
            }
            at += 1;
        }
    } else {
        (0..=from.min(last)).rev().find(fits)
    };
    found.map_or(-1.0, |at| at as f64)
}

/// Decodes a part of a buffer.
fn decode<'js>(ctx: Ctx<'js>, from: Region<'js>, encoding: String, start: usize, end: usize) -> Result<Value<'js>> {
    let bytes = from.part(start, end);
    let text = match encoding.as_str() {
        "utf8" => return String::from_utf8_lossy(bytes).into_js(&ctx),
        "latin1" => bytes.iter().map(|&byte| char::from(byte)).collect(),
        "ascii" => bytes.iter().map(|&byte| char::from(byte & 127)).collect(),
        "hex" => hex(bytes),
        "base64" => base64(bytes, BASE64, true),
        "base64url" => base64(bytes, BASE64URL, false),
        _ => {
            let units: Vec<u16> =
                bytes.chunks_exact(2).filter_map(|pair| Some(u16::from_le_bytes(*pair.first_chunk()?))).collect();
            return string_of_units(&ctx, &units);
        }
    };
    text.into_js(&ctx)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];
    let digit = |value: u8| DIGITS.get(usize::from(value & 15)).copied().unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const BASE64URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn base64(bytes: &[u8], letters: &[u8; 64], padded: bool) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    let letter = |value: u32| char::from(letters.get(value as usize & 63).copied().unwrap_or(b'A'));
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let value = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            if at <= group.len() {
                text.push(letter(value >> (18 - 6 * at)));
            } else if padded {
                text.push('=');
            }
        }
    }
    text
}

/// Decodes both alphabets, ignores other characters and ends at `=`, as Node does.
fn bytes_of_base64(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    let (mut value, mut bits) = (0_u32, 0_u32);
    for &letter in text {
        let six = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => continue,
        };
        value = value << 6 | u32::from(six);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((value >> bits & 255) as u8);
        }
    }
    bytes
}

/// Decodes digits up to the first other character.
fn bytes_of_hex(text: &[u8]) -> Vec<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    text.chunks_exact(2).map_while(|pair| Some(digit(pair.first()?)? << 4 | digit(pair.get(1)?)?)).collect()
}

/// Encodes a string.
fn encoded<'js>(ctx: &Ctx<'js>, text: Value<'js>, encoding: &str) -> Result<Vec<u8>> {
    use rquickjs::FromJs as _;
    Ok(match encoding {
        "utf8" => Text::from_js(ctx, text)?.0,
        // The low byte of each unit.
        "latin1" | "ascii" => Units::from_js(ctx, text)?.0.iter().map(|unit| (unit & 255) as u8).collect(),
        "hex" => bytes_of_hex(&Text::from_js(ctx, text)?.0),
        "base64" | "base64url" => bytes_of_base64(&Text::from_js(ctx, text)?.0),
        _ => Units::from_js(ctx, text)?.0.iter().flat_map(|unit| unit.to_le_bytes()).collect(),
    })
}

/// Encodes a string into a buffer from `start`, at most `len` bytes and only whole characters. Returns the number of bytes.
fn encode_into<'js>(
    ctx: Ctx<'js>,
    text: Value<'js>,
    encoding: String,
    mut into: Region<'js>,
    start: usize,
    len: Opt<usize>,
) -> Result<usize> {
    let bytes = encoded(&ctx, text, &encoding)?;
    let room = into.len().saturating_sub(start).min(len.0.unwrap_or(usize::MAX));
    let mut fit = bytes.len().min(room);
    match encoding.as_str() {
        // A byte of the form 10xxxxxx continues a character.
        "utf8" => {
            while fit > 0 && bytes.get(fit).is_some_and(|byte| byte & 0xc0 == 0x80) {
                fit -= 1;
            }
        }
        "utf16le" | "ucs2" => fit &= !1,
        _ => {}
    }
    if let (Some(to), Some(from)) = (into.bytes_mut().get_mut(start..start.saturating_add(fit)), bytes.get(..fit)) {
        to.copy_from_slice(from);
    }
    Ok(fit)
}
