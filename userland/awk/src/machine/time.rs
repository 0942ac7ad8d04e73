//! `strftime`, `mktime` and `systime`.

use tidebox_gnu::calendar::{Moment, days_to};

use super::{Machine, Outcome, fatal};
use crate::array::Key;
use crate::builtin::Builtin;
use crate::compile::slot;
use crate::value::Value;

/// What `strftime` writes without a format.
const DEFAULT_FORMAT: &[u8] = b"%a %b %e %H:%M:%S %Z %Y";

impl Machine {
    pub(super) fn time_function(&mut self, builtin: Builtin, count: usize) -> Outcome<()> {
        let now = || (tidebox_rt::realtime_ns() / 1_000_000_000) as f64;
        match builtin {
            Builtin::Systime => self.push(Value::Number(now())),
            Builtin::Mktime => {
                if count == 2 {
                    // The clock shows universal time anyway.
                    self.pop();
                }
                let text = self.pop_text();
                self.push(Value::Number(seconds_of(text.bytes()).unwrap_or(-1.0)));
            }
            _ => {
                if count == 3 {
                    self.pop();
                }
                let time = if count >= 2 { self.pop_number() } else { now() };
                let format = if count >= 1 { self.pop_text().bytes().to_vec() } else { self.default_format() };
                if time.abs() > 67_767_976_233_532_799.0 {
                    return fatal("strftime: second argument out of range for time_t");
                }
                let moment = Moment::new(time.floor() as i64, 0);
                let mut out = Vec::new();
                write_time(&format, &moment, &mut out);
                self.push(Value::text(&out));
            }
        }
        Ok(())
    }

    fn default_format(&self) -> Vec<u8> {
        let named = match &self.globals[slot("PROCINFO") as usize] {
            Value::Array(procinfo) => procinfo.borrow().get(&Key::of_bytes(b"strftime")).cloned(),
            _ => None,
        };
        named.map_or(DEFAULT_FORMAT.to_vec(), |format| self.text_of(&format).bytes().to_vec())
    }
}

/// Writes a moment as a format of `strftime` says; what it does not know stays as it is.
fn write_time(format: &[u8], moment: &Moment, out: &mut Vec<u8>) {
    let mut rest = format;
    while let Some(at) = memchr::memchr(b'%', rest) {
        out.extend_from_slice(rest.get(..at).unwrap_or_default());
        let directive = rest.get(at..).unwrap_or_default();
        let flags = directive.iter().skip(1).take_while(|byte| b"_-0^#+".contains(byte)).count();
        let width = directive.iter().skip(1 + flags).take_while(|byte| byte.is_ascii_digit()).count();
        let modifier = usize::from(matches!(directive.get(1 + flags + width), Some(b'E' | b'O')));
        let length = 1 + flags + width + modifier;
        let letter = directive.get(length).copied();
        let field = match letter {
            Some(b'%') => Some("%".to_owned()),
            Some(b'n') => Some("\n".to_owned()),
            Some(b't') => Some("\t".to_owned()),
            Some(letter) => moment.field(char::from(letter)),
            None => None,
        };
        match field {
            Some(field) => {
                let flags = directive.get(1..1 + flags).unwrap_or_default();
                let width =
                    std::str::from_utf8(directive.get(1 + flags.len()..1 + flags.len() + width).unwrap_or_default());
                let width = width.ok().and_then(|width| width.parse().ok());
                out.extend_from_slice(changed(field, flags, width).as_bytes());
                rest = directive.get(length + 1..).unwrap_or_default();
            }
            None => {
                let shown = directive.get(..=length).unwrap_or(directive);
                out.extend_from_slice(shown);
                rest = directive.get(shown.len()..).unwrap_or_default();
            }
        }
    }
    out.extend_from_slice(rest);
}

/// A field as flags and width of the C library change it.
fn changed(field: String, flags: &[u8], width: Option<usize>) -> String {
    let mut field = field;
    let mut fill = if field.starts_with(|first: char| first.is_ascii_digit()) { '0' } else { ' ' };
    for flag in flags {
        match flag {
            b'-' => {
                let trimmed = field.trim_start_matches([' ', '0']);
                field = if trimmed.is_empty() && !field.is_empty() { "0".to_owned() } else { trimmed.to_owned() };
            }
            b'_' => {
                let digits = field.trim_start_matches('0');
                let kept = if digits.is_empty() { "0" } else { digits };
                field = format!("{kept:>width$}", width = field.len());
                fill = ' ';
            }
            b'0' => {
                field = field.replace(' ', "0");
                fill = '0';
            }
            b'^' => field = field.to_uppercase(),
            b'#' => {
                let upper = field.chars().all(|char| !char.is_lowercase());
                field = if upper { field.to_lowercase() } else { field.to_uppercase() };
            }
            _ => {}
        }
    }
    let missing = width.unwrap_or(0).min(1024).saturating_sub(field.chars().count());
    std::iter::repeat_n(fill, missing).collect::<String>() + &field
}

/// The seconds of `YYYY MM DD HH MM SS`, whose parts may lie outside of what a calendar shows.
fn seconds_of(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(text).ok()?;
    let parts: Vec<i64> = text.split_whitespace().map_while(|part| part.parse().ok()).take(7).collect();
    let [year, month, day, hour, minute, second] = *parts.get(..6)? else {
        return None;
    };
    if [year, month, day, hour, minute, second].iter().any(|part| part.abs() > 1_000_000_000_000) {
        return None;
    }
    let months = year * 12 + month - 1;
    let first = days_to(months.div_euclid(12), u32::try_from(months.rem_euclid(12)).ok()? + 1, 1);
    Some(((first + day - 1) * 86_400 + hour * 3600 + minute * 60 + second) as f64)
}
