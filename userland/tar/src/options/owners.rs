//! Owner map files.

use std::collections::BTreeMap;

use tidebox_gnu::user::{Kind, Names};

use super::lists::words;
use super::{Owner, Stop, whole};
use crate::message::warn;
use crate::quote::escaped;

/// Replacement of the owner of an id.
pub(crate) type OwnerMap = BTreeMap<u64, Owner>;

/// Reads an owner map. Every invalid line is reported.
pub(super) fn read(file: &[u8], kind: Kind) -> Result<OwnerMap, Stop> {
    let shown = escaped(file, true);
    let text = whole(file)
        .map_err(|errno| Stop::Fatal([&shown, b": Cannot open: ".as_slice(), errno.text().as_bytes()].concat()))?;
    let names = Names::load(kind);
    let what = if kind == Kind::User { "UID" } else { "GID" };
    let mut map = OwnerMap::new();
    let mut wrong = false;
    for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let mut fields = words(line);
        if let Some(comment) = fields.iter().position(|field| field.starts_with(b"#")) {
            fields.truncate(comment);
        }
        let entry = match fields.as_slice() {
            [] => continue,
            [old, new] => old_id(old, &names, what).and_then(|old| Ok((old, new_owner(new, &names, what)?))),
            _ => Err(b"malformed line".to_vec()),
        };
        match entry {
            Ok((old, new)) => {
                map.entry(old).or_insert(new);
            }
            Err(reason) => {
                wrong = true;
                warn(&[&shown, format!(":{}: ", number + 1).as_bytes(), &reason]);
            }
        }
    }
    if wrong { Err(Stop::Fatal(b"errors reading map file".to_vec())) } else { Ok(map) }
}

/// A known name, or an id after `+`.
fn old_id(text: &[u8], names: &Names, what: &str) -> Result<u64, Vec<u8>> {
    match text.strip_prefix(b"+") {
        Some(digits) => id(digits, what),
        None => known(text, names, what),
    }
}

/// `NAME`, `NAME:ID`, `:ID` or `+ID`. A name with an empty id after its colon keeps the id.
fn new_owner(text: &[u8], names: &Names, what: &str) -> Result<Owner, Vec<u8>> {
    if let Some(digits) = text.strip_prefix(b"+") {
        return Ok(Owner { name: Some(Vec::new()), id: Some(id(digits, what)?) });
    }
    let Some(colon) = text.iter().position(|byte| *byte == b':') else {
        return Ok(Owner { name: Some(text.to_vec()), id: Some(known(text, names, what)?) });
    };
    let (name, digits) = (text.get(..colon).unwrap_or_default(), text.get(colon + 1..).unwrap_or_default());
    let id = if digits.is_empty() { None } else { Some(id(digits.strip_prefix(b"+").unwrap_or(digits), what)?) };
    Ok(Owner { name: Some(name.to_vec()), id })
}

fn known(name: &[u8], names: &Names, what: &str) -> Result<u64, Vec<u8>> {
    let found = std::str::from_utf8(name).ok().and_then(|name| names.id(name));
    // Known names are looked up literally; digits are not names.
    let found = found.filter(|_| !name.iter().all(u8::is_ascii_digit));
    found.map(u64::from).ok_or_else(|| [format!("can't obtain {what} of ").as_bytes(), name].concat())
}

fn id(digits: &[u8], what: &str) -> Result<u64, Vec<u8>> {
    let number = digits.strip_prefix(b"-").unwrap_or(digits);
    if number.is_empty() || !number.iter().all(u8::is_ascii_digit) {
        return Err([format!("invalid {what}: ").as_bytes(), digits].concat());
    }
    let value = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<u32>().ok());
    value.map(u64::from).ok_or_else(|| [format!("{what} out of range: ").as_bytes(), digits].concat())
}
