//! Time formats, with the flags and widths that GNU adds to `strftime`.

use crate::calendar::Moment;
use crate::zone::Zone;

/// Flags and width of one field.
#[derive(Clone, Copy, Debug, Default)]
struct Form {
    /// `-`, `_`, `0` or `+`.
    padding: Option<u8>,
    upper: bool,
    swap: bool,
    width: usize,
    colons: usize,
}

/// Maximum field width.
const MAX_WIDTH: usize = 1 << 20;

/// Formats a time. Years, names and zones are those of the C locale.
pub fn format(format: &[u8], (seconds, nanoseconds): (i64, u32), zone: &Zone) -> Vec<u8> {
    let (offset, name) = zone.at(seconds);
    let moment = zone.moment(seconds, nanoseconds);
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(byte) = format.get(at).copied() {
        if byte != b'%' {
            out.push(byte);
            at += 1;
            continue;
        }
        let start = at;
        let mut form = Form::default();
        at += 1;
        while let Some(flag) = format.get(at) {
            match flag {
                b'-' | b'_' | b'0' | b'+' => form.padding = Some(*flag),
                b'^' => form.upper = true,
                b'#' => form.swap = true,
                _ => break,
            }
            at += 1;
        }
        while let Some(digit) = format.get(at).filter(|byte| byte.is_ascii_digit()) {
            form.width = (form.width * 10 + usize::from(digit - b'0')).min(MAX_WIDTH);
            at += 1;
        }
        while format.get(at) == Some(&b':') {
            form.colons += 1;
            at += 1;
        }
        if matches!(format.get(at), Some(b'E' | b'O')) {
            at += 1;
        }
        let letter = format.get(at).copied();
        at += 1;
        match letter.and_then(|letter| field(letter, form, &moment, offset, name)) {
            Some(text) => out.extend_from_slice(&text),
            None => {
                // An unknown field is literal, padded to the given width.
                at = at.min(format.len());
                let text = format.get(start..at).unwrap_or_default();
                out.resize(out.len() + form.width.saturating_sub(text.len()), b' ');
                out.extend_from_slice(text);
            }
        }
    }
    out
}

/// Formats a time like `strftime` of the C library, which has fewer fields than GNU's `date`.
pub fn of_c_library(format: &[u8], instant: (i64, u32), zone: &Zone) -> Vec<u8> {
    self::format(&without_fields_of_date(format), instant, zone)
}

/// Escapes fields that `date` supports and the C library does not: `%N`, `%q`, and those with colons or `+`.
fn without_fields_of_date(format: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(format.len());
    let mut rest = format;
    while let Some(at) = rest.iter().position(|&b| b == b'%') {
        let (before, field) = rest.split_at(at);
        out.extend_from_slice(before);
        let flags = field.iter().skip(1).take_while(|b| b"-_0^#123456789EO".contains(b)).count();
        if matches!(field.get(flags + 1), Some(b'N' | b'q' | b':' | b'+')) {
            out.push(b'%');
        }
        let (field, after) = field.split_at(field.len().min(flags + 2));
        out.extend_from_slice(field);
        rest = after;
    }
    out.extend_from_slice(rest);
    out
}

/// Default padding and minimum width of a field.
fn padded(form: Form, default: u8, width: usize, text: String) -> Vec<u8> {
    let (pad, width) = match form.padding {
        Some(b'-') => return text.into_bytes(),
        Some(b'_') => (b' ', width.max(form.width)),
        Some(_) => (b'0', width.max(form.width)),
        None => (default, width.max(form.width)),
    };
    let missing = width.saturating_sub(text.chars().count());
    let mut out = Vec::with_capacity(width);
    // Zeros follow the sign.
    match text.strip_prefix(['-', '+']).filter(|_| pad == b'0') {
        Some(digits) => {
            out.push(text.as_bytes().first().copied().unwrap_or(b'-'));
            out.resize(out.len() + missing, b'0');
            out.extend_from_slice(digits.as_bytes());
        }
        None => {
            out.resize(missing, pad);
            out.extend_from_slice(text.as_bytes());
        }
    }
    out
}

fn field(letter: u8, form: Form, moment: &Moment, offset: i64, zone: &str) -> Option<Vec<u8>> {
    let plain = |letter: char| moment.field(letter);
    let number = |width: usize, value: i64| Some(padded(form, b'0', width, value.to_string()));
    let spaced = |width: usize, value: u32| Some(padded(form, b' ', width, value.to_string()));
    let hour12 = if moment.hour.is_multiple_of(12) { 12 } else { moment.hour % 12 };
    let text = |text: String| {
        let text = match () {
            () if form.upper => text.to_ascii_uppercase(),
            () if form.swap && matches!(letter, b'p' | b'Z') => text.to_ascii_lowercase(),
            () if form.swap => text.to_ascii_uppercase(),
            () => text,
        };
        Some(padded(form, b' ', 0, text))
    };
    if form.colons > 0 && letter != b'z' {
        return None;
    }
    match letter {
        b'%' if form.width == 0 => text("%".to_owned()),
        b'n' => text("\n".to_owned()),
        b't' => text("\t".to_owned()),
        b'a' | b'A' | b'b' | b'B' | b'h' | b'p' => text(plain(char::from(letter))?),
        b'P' => Some(padded(form, b' ', 0, plain('p')?.to_ascii_lowercase())),
        b'Z' => text(zone.to_owned()),
        b'c' => text(format!("{} {} {:>2} {} {}", plain('a')?, plain('b')?, moment.day, plain('T')?, moment.year)),
        b'x' | b'D' => text(plain('D')?),
        b'X' | b'T' => text(plain('T')?),
        b'r' => text(plain('r')?),
        b'R' => text(plain('R')?),
        b'F' => {
            let rest = format!("-{:02}-{:02}", moment.month, moment.day);
            let width = form.width.saturating_sub(rest.len());
            let padding = if form.width == 0 { form.padding.or(Some(b'+')) } else { form.padding };
            Some([year_of(Form { width, padding, ..form }, moment.year, 4), rest.into_bytes()].concat())
        }
        // Before year 0 both are reversed.
        b'C' => number(2, moment.year / 100),
        b'y' => number(2, (moment.year % 100).abs()),
        b'Y' => Some(year_of(form, moment.year, 4)),
        b'g' => number(2, plain('g')?.parse().ok()?),
        b'G' => Some(year_of(form, plain('G')?.parse().ok()?, 4)),
        b'd' => number(2, i64::from(moment.day)),
        b'e' => spaced(2, moment.day),
        b'H' => number(2, i64::from(moment.hour)),
        b'k' => spaced(2, moment.hour),
        b'I' => number(2, i64::from(hour12)),
        b'l' => spaced(2, hour12),
        b'j' => number(3, i64::from(moment.year_day)),
        b'm' => number(2, i64::from(moment.month)),
        b'M' => number(2, i64::from(moment.minute)),
        b'S' => number(2, i64::from(moment.second)),
        b's' => number(1, moment.seconds),
        b'q' => number(1, i64::from(moment.month.saturating_sub(1) / 3) + 1),
        b'u' | b'w' => number(1, plain(char::from(letter))?.parse().ok()?),
        b'U' | b'V' | b'W' => number(2, plain(char::from(letter))?.parse().ok()?),
        b'N' => Some(nanoseconds(form, moment.nanoseconds)),
        b'z' => offset_text(form, offset),
        _ => None,
    }
}

/// A year has at least four digits, and a sign if requested and it has more.
fn year_of(form: Form, year: i64, digits: usize) -> Vec<u8> {
    let wide = form.padding == Some(b'+') && (year > 9999 || form.width > digits) && year >= 0;
    let text = if wide && form.width > digits || form.padding == Some(b'+') && year > 9999 {
        format!("+{year}")
    } else {
        year.to_string()
    };
    padded(form, b'0', digits, text)
}

/// Prints as many digits of the fraction as the width specifies.
fn nanoseconds(form: Form, value: u32) -> Vec<u8> {
    let mut digits = format!("{value:09}");
    if form.width > 0 {
        digits.truncate(form.width);
    }
    let width = if form.width == 0 { digits.len() } else { form.width };
    // Trailing zeros are spaces with `_`, and omitted with `-` if a width is given.
    let trims = form.padding == Some(b'_') || form.padding == Some(b'-') && form.width > 0;
    if trims {
        let kept = digits.trim_end_matches('0').len().max(1);
        digits.truncate(kept);
    }
    match form.padding {
        Some(b'-') => digits,
        Some(b'_') => format!("{digits:<width$}"),
        _ => format!("{digits:0<width$}"),
    }
    .into_bytes()
}

/// `+hhmm`; with more colons `+hh:mm`, `+hh:mm:ss`, and the shortest form.
fn offset_text(form: Form, offset: i64) -> Option<Vec<u8>> {
    let sign = if offset < 0 { '-' } else { '+' };
    let seconds = offset.unsigned_abs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let rest = match form.colons {
        0 => format!("{minutes:02}"),
        1 => format!(":{minutes:02}"),
        2 => format!(":{minutes:02}:{seconds:02}"),
        3 if seconds > 0 => format!(":{minutes:02}:{seconds:02}"),
        3 if minutes > 0 => format!(":{minutes:02}"),
        3 => String::new(),
        _ => return None,
    };
    let width = form.width.saturating_sub(rest.len() + 1).max(2);
    // Without leading zeros, hours and minutes form one number.
    let bare = if form.colons == 0 { (hours * 100 + minutes).to_string() } else { format!("{hours}{rest}") };
    Some(
        match form.padding {
            Some(b'-') => format!("{sign}{bare}"),
            Some(b'_') => {
                let body = format!("{sign}{bare}");
                format!("{body:>0$}", form.width.max(5 + form.colons.min(1)))
            }
            _ => format!("{sign}{hours:0>width$}{rest}"),
        }
        .into_bytes(),
    )
}

#[cfg(test)]
mod tests {
    use super::without_fields_of_date;

    #[test]
    fn fields_that_only_date_has_are_text() {
        let made = |format: &str| String::from_utf8_lossy(&without_fields_of_date(format.as_bytes())).into_owned();
        assert_eq!(made("%Y %N %-q %:z %%N %_5d 100%"), "%Y %%N %%-q %%:z %%N %_5d 100%");
    }

    use super::format;
    use crate::zone::Zone;

    #[test]
    fn flags_and_widths_change_a_field() {
        for (text, wanted) in [
            ("%Y-%m-%dT%H:%M:%S.%3N%:z", "2024-02-29T12:34:56.123+00:00"),
            ("%-d %_d %e %05d", "29 29 29 00029"),
            ("%^a %#p %P %^B", "THU pm pm FEBRUARY"),
            ("%N %6N %-N", "123450000 123450 123450000"),
            ("%s %q %j %5Y", "1709210096 1 060 02024"),
            ("%z %::z %:::z %Z", "+0000 +00:00:00 +00 UTC"),
            ("%Q %", "%Q %"),
        ] {
            let out = format(text.as_bytes(), (1_709_210_096, 123_450_000), &Zone::utc());
            assert_eq!(String::from_utf8_lossy(&out), wanted, "{text}");
        }
    }
}
