//! Texts.

use super::{Entry, plain, unary};
use crate::value::{Result, Val, fault, split};

pub(super) const FILTERS: &[Entry] = &[
    plain!("tostring", |value: Val| -> Result {
        Ok(match value {
            text @ Val::String(_) => text,
            value => Val::from(value.json()),
        })
    }),
    plain!("tojson", |value: Val| -> Result { Ok(Val::from(value.json())) }),
    plain!("fromjson", from_json),
    plain!("ascii_downcase", |value| cased(&value, "ascii_downcase", |text| text.to_ascii_lowercase())),
    plain!("ascii_upcase", |value| cased(&value, "ascii_upcase", |text| text.to_ascii_uppercase())),
    plain!("explode", explode),
    plain!("implode", implode),
    unary!("split", |value: Val, separator: Val| match (value.as_str(), separator.as_str()) {
        (Some(text), Some(separator)) => Ok(split(text, separator)),
        _ => Err(fault("split input and separator must be strings")),
    }),
    unary!("join", join),
    unary!("startswith", |value: Val, part: Val| match (value.as_str(), part.as_str()) {
        (Some(text), Some(part)) => Ok(Val::Bool(text.starts_with(part))),
        _ => Err(fault("startswith() requires string inputs")),
    }),
    unary!("endswith", |value: Val, part: Val| match (value.as_str(), part.as_str()) {
        (Some(text), Some(part)) => Ok(Val::Bool(text.ends_with(part))),
        _ => Err(fault("endswith() requires string inputs")),
    }),
    unary!("ltrimstr", |value: Val, part: Val| Ok(without(value, &part, |text, part| text.strip_prefix(part)))),
    unary!("rtrimstr", |value: Val, part: Val| Ok(without(value, &part, |text, part| text.strip_suffix(part)))),
    unary!("trimstr", |value: Val, part: Val| {
        let value = without(value, &part, |text, part| text.strip_prefix(part));
        Ok(without(value, &part, |text, part| text.strip_suffix(part)))
    }),
    plain!("trim", |value| trimmed(&value, str::trim)),
    plain!("ltrim", |value| trimmed(&value, str::trim_start)),
    plain!("rtrim", |value| trimmed(&value, str::trim_end)),
    unary!("offsets", offsets),
];

fn from_json(value: Val) -> Result {
    let Some(text) = value.as_str() else {
        return Err(fault(format!("{} only strings can be parsed", value.described())));
    };
    crate::json::parse_one(text.as_bytes()).map_err(|message| fault(format!("{message} (while parsing '{text}')")))
}

fn cased(value: &Val, name: &str, change: impl Fn(&str) -> String) -> Result {
    match value.as_str() {
        Some(text) => Ok(Val::from(change(text))),
        None => Err(fault(format!("{name} input must be a string"))),
    }
}

fn explode(value: Val) -> Result {
    match value.as_str() {
        Some(text) => Ok(text.chars().map(|char| Val::number(f64::from(u32::from(char)))).collect()),
        None => Err(fault("explode input must be a string")),
    }
}

fn implode(value: Val) -> Result {
    let Some(codes) = value.as_array() else {
        return Err(fault("implode input must be an array"));
    };
    let mut text = String::with_capacity(codes.len());
    for code in codes {
        let Some(code) = code.as_f64() else {
            return Err(fault("Unicode codepoint must be numeric"));
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates to what is no character"
        )]
        text.push(char::from_u32(code as u32).unwrap_or(char::REPLACEMENT_CHARACTER));
    }
    Ok(Val::from(text))
}

fn join(value: Val, separator: Val) -> Result {
    let items = match value {
        array @ Val::Array(_) => array.into_items(),
        object @ Val::Object(_) => object.into_map().into_values().collect(),
        value => return Err(super::collections::cannot_iterate(&value)),
    };
    if items.is_empty() {
        return Ok(Val::text(""));
    }
    let mut text = String::new();
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            match &separator {
                Val::String(separator) => text.push_str(separator),
                Val::Null => {}
                separator => return (Val::from(text) + separator.clone()).and_then(|_| Err(fault("cannot be joined"))),
            }
        }
        match item {
            Val::Null => {}
            Val::String(item) => text.push_str(&item),
            item @ (Val::Bool(_) | Val::Number(_)) => text.push_str(&item.json()),
            item => return Val::from(text) + item,
        }
    }
    Ok(Val::from(text))
}

/// Removes a prefix or suffix if present; other values are returned unchanged.
fn without(value: Val, part: &Val, strip: for<'t> fn(&'t str, &str) -> Option<&'t str>) -> Val {
    let stripped = match (value.as_str(), part.as_str()) {
        (Some(text), Some(part)) => strip(text, part).map(Val::text),
        _ => None,
    };
    stripped.unwrap_or(value)
}

fn trimmed(value: &Val, trim: impl Fn(&str) -> &str) -> Result {
    match value.as_str() {
        Some(text) => Ok(Val::text(trim(text))),
        None => Err(fault(format!("{} cannot be trimmed", value.described()))),
    }
}

/// Character offsets of all overlapping occurrences.
fn offsets(value: Val, part: Val) -> Result {
    let (Some(text), Some(part)) = (value.as_str(), part.as_str()) else {
        return Err(fault("_strindices input must be a string"));
    };
    if part.is_empty() {
        return Ok(Val::Null);
    }
    let starts = text.char_indices().enumerate();
    let found = starts.filter(|(_, (at, _))| text.get(*at..).is_some_and(|rest| rest.starts_with(part)));
    Ok(found.map(|(count, _)| Val::count(count)).collect())
}
