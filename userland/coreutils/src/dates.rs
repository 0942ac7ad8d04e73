//! `date` and `touch`: how GNU reads dates where the parser of uutils reads them otherwise, and what only a clock that
//! may be set could do.

use std::ffi::OsString;

use tidebox_gnu::getopt::Item;

use crate::border::{Turn, os_string};
use crate::grammar;

/// `date`: formats are chosen once, dates are given once, and the clock cannot be set.
pub(crate) fn date(arguments: Vec<OsString>) -> Turn {
    let Some(items) = grammar::items("date", &arguments) else {
        return Turn::Run(arguments);
    };
    let mut words = vec![OsString::from("date")];
    let (mut formats, mut sources, mut set) = (0, 0, false);
    let mut operands = Vec::new();
    for (name, item) in items {
        let (letter, value) = match item {
            Item::Operand(operand) => {
                operands.push(operand);
                continue;
            }
            Item::Option(letter, value) => (letter, value.unwrap_or_default()),
        };
        let word = |text: &str, value: &[u8]| os_string(&[text.as_bytes(), value].concat());
        match (letter, name) {
            ('d', _) | (_, "date") => {
                sources += 1;
                words.push(word("--date=", &as_gnu_reads(&value)));
            }
            ('s', _) | (_, "set") => {
                set = true;
                words.push(word("--date=", &as_gnu_reads(&value)));
            }
            ('f', _) | (_, "file") => {
                sources += 1;
                words.push(word("--file=", &value));
            }
            ('r', _) | (_, "reference") => {
                sources += 1;
                words.push(word("--reference=", &value));
            }
            ('I', _) | (_, "iso-8601") => {
                formats += 1;
                words.push(word("-I", &value));
            }
            (_, "rfc-3339") => {
                formats += 1;
                words.push(word("--rfc-3339=", &value));
            }
            ('R', _) | (_, "rfc-email") => {
                formats += 1;
                words.push("-R".into());
            }
            ('u', _) | (_, "utc") => words.push("-u".into()),
            _ => words.push("--debug".into()),
        }
    }
    formats += operands.iter().filter(|operand| operand.starts_with(b"+")).take(1).count();
    if formats > 1 {
        return Turn::Refuse("multiple output formats specified".to_owned(), 1);
    }
    if sources > 1 {
        return Turn::Usage("the options to specify dates for printing are mutually exclusive".to_owned(), 1);
    }
    if set && sources > 0 {
        return Turn::Usage("the options to print and set the time may not be used together".to_owned(), 1);
    }
    if let Some(moment) = operands.first().filter(|_| sources == 0).and_then(|word| touch_form(word)) {
        operands.remove(0);
        set = true;
        words.push(os_string(format!("--date={moment}").as_bytes()));
    }
    words.extend(operands.iter().map(|operand| os_string(operand)));
    if set { Turn::RunAndFail(words, 1) } else { Turn::Run(words) }
}

/// `MMDDhhmm[[CC]YY][.ss]`, as the clock was set of old.
fn touch_form(word: &[u8]) -> Option<String> {
    let (digits, seconds) = match word.iter().position(|byte| *byte == b'.') {
        Some(dot) => (word.get(..dot)?, word.get(dot + 1..)?),
        None => (word, &b"00"[..]),
    };
    let all = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    if !all(digits) || !all(seconds) || seconds.len() != 2 || !matches!(digits.len(), 8 | 10 | 12) {
        return None;
    }
    let text = std::str::from_utf8(digits).ok()?;
    let part = |at: usize| text.get(at..at + 2).unwrap_or_default();
    let year = match text.len() {
        12 => text.get(8..12)?.to_owned(),
        10 => format!("{}{}", if part(8) < "69" { "20" } else { "19" }, part(8)),
        _ => tidebox_gnu::calendar::Moment::from_ns(tidebox_rt::realtime_ns()).year.to_string(),
    };
    let seconds = std::str::from_utf8(seconds).ok()?;
    Some(format!("{year}-{}-{} {}:{}:{seconds}", part(0), part(2), part(4), part(6)))
}

/// `touch`: one source of times.
pub(crate) fn touch(arguments: Vec<OsString>) -> Turn {
    let Some(items) = grammar::items("touch", &arguments) else {
        return Turn::Run(arguments);
    };
    let mut words = vec![OsString::from("touch")];
    let (mut stamps, mut others) = (0, 0);
    let mut failed = false;
    let mut operands = Vec::new();
    for (name, item) in items {
        let (letter, value) = match item {
            Item::Operand(operand) => {
                operands.push(operand);
                continue;
            }
            Item::Option(letter, value) => (letter, value.unwrap_or_default()),
        };
        let word = |text: &str, value: &[u8]| os_string(&[text.as_bytes(), value].concat());
        words.push(match (letter, name) {
            ('d', _) | (_, "date") => {
                others += 1;
                word("--date=", &as_gnu_reads(&value))
            }
            ('r', _) | (_, "reference") => {
                others += 1;
                word("--reference=", &value)
            }
            ('t', _) => {
                let valid = stamp(&value);
                if !valid {
                    let shown = tidebox_gnu::message::cited(&value);
                    return Turn::Refuse(format!("invalid date format {shown}"), 1);
                }
                stamps += 1;
                word("-t", &value)
            }
            (_, "time") => word("--time=", full_time_word(&value)),
            (_, "no-create") => "-c".into(),
            (_, "no-dereference") => "-h".into(),
            (letter, _) => word("-", letter.to_string().as_bytes()),
        });
    }
    if stamps > 0 && others > 0 {
        return Turn::Usage("cannot specify times from more than one source".to_owned(), 1);
    }
    words.push("--".into());
    for operand in &operands {
        if operand.is_empty() {
            tidebox_gnu::message::complain("touch", "cannot touch '': No such file or directory");
            failed = true;
            continue;
        }
        words.push(os_string(operand));
    }
    match (failed, words.last().is_some_and(|last| last == "--")) {
        (true, true) => Turn::Answer(1),
        (true, false) => Turn::RunAndFail(words, 1),
        _ => Turn::Run(words),
    }
}

/// Whether this looks like `[[CC]YY]MMDDhhmm[.ss]`.
fn stamp(word: &[u8]) -> bool {
    let (digits, seconds) = match word.iter().position(|byte| *byte == b'.') {
        Some(dot) => (word.get(..dot).unwrap_or_default(), word.get(dot + 1..).unwrap_or_default()),
        None => (word, &b"00"[..]),
    };
    let all = |text: &[u8]| text.iter().all(u8::is_ascii_digit);
    all(digits) && all(seconds) && seconds.len() == 2 && matches!(digits.len(), 8 | 10 | 12)
}

/// The words of `--time` may be shortened.
fn full_time_word(word: &[u8]) -> &'static [u8] {
    match word.first() {
        Some(b'm') => b"mtime",
        _ => b"atime",
    }
}

/// Rewrites a date so that the parser understands it as GNU does: a signed number behind a time of day is a time zone,
/// also where a unit follows, and where there is a date a day of the week does not count.
fn as_gnu_reads(text: &[u8]) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(text) else {
        return text.to_vec();
    };
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let dated = words.iter().any(|word| is_date(word));
    let mut out: Vec<String> = Vec::new();
    let mut changed = false;
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| words.get(at)).copied().unwrap_or_default();
        let next = words.get(at + 1).copied().unwrap_or_default();
        if dated && is_weekday(word) {
            let counts =
                |word: &str| is_ordinal(word) || (!word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit()));
            if out.last().is_some_and(|last| counts(last)) && !is_date(before) {
                out.pop();
            }
            changed = true;
            continue;
        }
        if is_time(before) && is_zone(word) && is_unit(next) {
            let (sign, digits) = word.split_at(1);
            out.push(format!("{sign}{digits:0>2}:00"));
            out.push("1".to_owned());
            changed = true;
            continue;
        }
        out.push((*word).to_owned());
    }
    if changed { out.join(" ").into_bytes() } else { text.as_bytes().to_vec() }
}

fn is_date(word: &str) -> bool {
    let parts: Vec<&str> = word.split(['-', '/']).collect();
    parts.len() == 3 && parts.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_time(word: &str) -> bool {
    word.contains(':') && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b':' || byte == b'.')
}

/// A sign and at most two digits, which are hours at most 24.
fn is_zone(word: &str) -> bool {
    let digits = word.strip_prefix('+').or_else(|| word.strip_prefix('-'));
    digits.is_some_and(|digits| digits.len() <= 2 && digits.parse::<u8>().is_ok_and(|hours| hours <= 24))
}

fn is_unit(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    let word = word.strip_suffix('s').unwrap_or(&word);
    matches!(word, "year" | "month" | "fortnight" | "week" | "day" | "hour" | "minute" | "min" | "second" | "sec")
}

fn is_weekday(word: &str) -> bool {
    let word = word.trim_end_matches([',', '.']).to_ascii_lowercase();
    const DAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
    matches!(word.as_str(), "tues" | "wednes" | "thur" | "thurs")
        || DAYS.iter().any(|day| word == *day || word == day[..3])
}

fn is_ordinal(word: &str) -> bool {
    const ORDINALS: [&str; 14] = [
        "last", "this", "next", "first", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
        "eleventh", "twelfth",
    ];
    ORDINALS.contains(&word.to_ascii_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{as_gnu_reads, date, touch_form};
    use crate::border::Turn;

    #[test]
    fn dates_are_rewritten_as_gnu_reads_them() {
        for (text, wanted) in [
            ("2024-01-31 12:00 +1 day", "2024-01-31 12:00 +01:00 1 day"),
            ("2024-01-31 12:00 -2 months +3 days", "2024-01-31 12:00 -02:00 1 months +3 days"),
            ("2024-01-31 next monday", "2024-01-31"),
            ("2024-01-31 +1 day", "2024-01-31 +1 day"),
            ("next monday", "next monday"),
            ("12:00 tomorrow", "12:00 tomorrow"),
        ] {
            assert_eq!(as_gnu_reads(text.as_bytes()), wanted.as_bytes(), "{text}");
        }
    }

    #[test]
    fn the_clock_is_told_and_not_set() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert_eq!(date(words("date -s 2024-01-01")), Turn::RunAndFail(words("date --date=2024-01-01"), 1));
        assert_eq!(touch_form(b"010203042024.05").as_deref(), Some("2024-01-02 03:04:05"));
        assert_eq!(touch_form(b"0102030499").as_deref(), Some("1999-01-02 03:04:00"));
        assert_eq!(touch_form(b"12"), None);
    }

    #[test]
    fn one_format_and_one_date_are_enough() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert!(matches!(date(words("date -I -R")), Turn::Refuse(_, 1)));
        assert!(matches!(date(words("date -r a -d x")), Turn::Usage(_, 1)));
    }
}
