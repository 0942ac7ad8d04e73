//! Values of tests.

use tidebox_gnu::message::{print_error, quote_value};
use tidebox_gnu::mode::Change;
use tidebox_gnu::regex::Dialect;
use tidebox_gnu::user::{Kind, Names};
use tidebox_rt::{Errno, Stat};

use super::{DIALECTS, Rest, SECOND_NS, text, value};
use crate::expression::{Bits, Compare, Stamp, Test};
use crate::parse::Follow;

pub(super) fn compare(name: &str, text: &str) -> Result<Compare, String> {
    compare_digits(text).ok_or_else(|| format!("invalid argument `{text}' to `{name}'"))
}

pub(super) fn compare_digits(text: &str) -> Option<Compare> {
    let number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?;
    Some(match text.as_bytes().first()? {
        b'+' => Compare::More(number(text.get(1..)?)?),
        b'-' => Compare::Less(number(text.get(1..)?)?),
        _ => Compare::Equal(number(text)?),
    })
}

pub(super) fn size(text: &str) -> Result<Test, String> {
    let (digits, unit) = match text.chars().last() {
        Some('c') => (text.len() - 1, 1),
        Some('w') => (text.len() - 1, 2),
        Some('b') => (text.len() - 1, 512),
        Some('k') => (text.len() - 1, 1 << 10),
        Some('M') => (text.len() - 1, 1 << 20),
        Some('G') => (text.len() - 1, 1 << 30),
        Some(last) if last.is_ascii_digit() => (text.len(), 512),
        Some(last) => return Err(format!("invalid -size type `{last}'")),
        None => return Err("invalid null argument to -size".to_owned()),
    };
    let compare = text.get(..digits).and_then(compare_digits);
    let compare = compare.ok_or_else(|| format!("Invalid argument `{text}' to -size"))?;
    Ok(Test::Size { compare, unit })
}

/// Returns the timestamp of a letter in the name of a test.
pub(super) fn stamp(name: &str, at: usize) -> Stamp {
    match name.as_bytes().get(at) {
        Some(b'a') => Stamp::Access,
        Some(b'c') => Stamp::Change,
        _ => Stamp::Modification,
    }
}

pub(super) fn age(name: &str, rest: &mut Rest, stamp: Stamp, unit: u64) -> Result<Test, String> {
    let text = text(name, rest)?;
    // Fractions are truncated to seconds.
    let (compare, unit) = match (compare_digits(&text), text.trim_start_matches(['+', '-']).parse::<f64>()) {
        (Some(compare), _) => (compare, unit),
        (None, Ok(number)) if number.is_finite() && number >= 0.0 => {
            let seconds = (number * unit as f64) as u64;
            let compare = match text.as_bytes().first() {
                Some(b'+') => Compare::More(seconds),
                Some(b'-') => Compare::Less(seconds),
                _ => Compare::Equal(seconds),
            };
            (compare, 1)
        }
        _ => return Err(format!("invalid argument `{text}' to `{name}'")),
    };
    Ok(Test::Age { stamp, compare, unit })
}

/// Returns the metadata of a file on the command line. Under `-P`, links are not followed.
pub(super) fn stat_of(path: &[u8], follow: Follow) -> Result<Stat, String> {
    let stat = match tidebox_rt::stat(path, follow != Follow::Never) {
        Err(Errno::NOENT | Errno::LOOP) => tidebox_rt::stat(path, false),
        other => other,
    };
    stat.map_err(|error| format!("{}: {}", quote_value(path), error.text()))
}

/// Parses `-newerXY`: compares X of the file with Y of the reference, or with a time if Y is `t`.
pub(super) fn newer_than(name: &str, rest: &mut Rest, follow: Follow) -> Result<Test, String> {
    let letters = name.as_bytes();
    let (mine, theirs) = (letters.get(6).copied().unwrap_or(0), letters.get(7).copied().unwrap_or(0));
    if !b"acm".contains(&mine) || !b"acmt".contains(&theirs) {
        if mine == b'B' || theirs == b'B' {
            print_error("find", "This system does not provide a way to find the birth time of a file.");
        }
        return Err(format!("invalid predicate `{name}'"));
    }
    let than = if theirs == b't' {
        moment(&text(name, rest)?)?
    } else {
        let stat = stat_of(&value(name, rest)?, follow)?;
        match stamp(name, 7) {
            Stamp::Access => stat.atime_ns,
            Stamp::Change => stat.ctime_ns,
            Stamp::Modification => stat.mtime_ns,
        }
    };
    Ok(Test::NewerThan { stamp: stamp(name, 6), than })
}

pub(super) fn moment(text: &str) -> Result<u64, String> {
    let wrong = || format!("I cannot figure out how to interpret {} as a date or time", quote_value(text.as_bytes()));
    let parsed = parse_datetime::parse_datetime(text).map_err(|_| wrong())?;
    let seconds = u64::try_from(parsed.unix_epoch_second()).unwrap_or(0);
    let nanoseconds = u64::try_from(parsed.subsec_nanosecond()).unwrap_or(0);
    Ok(seconds.saturating_mul(SECOND_NS).saturating_add(nanoseconds))
}

pub(super) fn permission(text: &str) -> Result<Test, String> {
    let (bits, mode) = match text.as_bytes().first() {
        Some(b'-') => (Bits::All, text.get(1..)),
        Some(b'/') => (Bits::Any, text.get(1..)),
        _ => (Bits::Exactly, Some(text)),
    };
    // `+MODE` is the obsolete form of `/MODE`.
    let old = text.strip_prefix('+').is_some_and(|rest| rest.starts_with(|char: char| char.is_ascii_digit()));
    let change = mode.filter(|_| !old).and_then(Change::parse);
    let change = change.ok_or_else(|| format!("invalid mode {}", quote_value(text.as_bytes())))?;
    Ok(Test::Permission { change: Box::new(change), bits })
}

pub(super) fn owner(kind: Kind, name: &str) -> Result<Compare, String> {
    let word = if kind == Kind::User { "user" } else { "group" };
    if name.is_empty() {
        return Err(format!("The argument to -{word} should not be empty"));
    }
    let id = Names::load(kind).id(name).ok_or_else(|| match kind {
        Kind::User => format!("{} is not the name of a known user", quote_value(name.as_bytes())),
        Kind::Group => format!("{} is not the name of an existing group", quote_value(name.as_bytes())),
    })?;
    Ok(Compare::Equal(u64::from(id)))
}

pub(super) fn types(name: &str, text: &str) -> Result<Vec<u8>, String> {
    let mut letters = Vec::new();
    for (at, part) in text.split(',').enumerate() {
        match part.as_bytes() {
            [letter] if letters.contains(letter) => {
                return Err(format!("Duplicate file type '{part}' in the argument list to {name}."));
            }
            [letter] if b"bcdpflsD".contains(letter) => letters.push(*letter),
            [] if text.starts_with(',') || text.contains(",,") => return Err(format!("Unknown argument to {name}: ,")),
            [] if at > 0 => {
                return Err(format!(
                    "Last file type in list argument to {name} is missing, i.e., list is ending on: ','"
                ));
            }
            [] => return Err(format!("Arguments to {name} should contain at least one letter")),
            [_] => return Err(format!("Unknown argument to {name}: {part}")),
            _ => return Err(format!("Must separate multiple arguments to {name} using: ','")),
        }
    }
    Ok(letters)
}

pub(super) fn dialect(name: &str) -> Result<Dialect, String> {
    Ok(match name {
        "findutils-default" | "emacs" => Dialect::Emacs,
        "ed" | "sed" | "grep" | "posix-basic" | "posix-minimal-basic" => Dialect::Basic,
        "egrep" | "posix-egrep" | "posix-extended" | "awk" | "posix-awk" | "gnu-awk" => Dialect::Extended,
        _ => {
            let known = DIALECTS.map(|name| quote_value(name.as_bytes())).join(", ");
            let name = quote_value(name.as_bytes());
            return Err(format!("Unknown regular expression type {name}; valid types are {known}."));
        }
    })
}
