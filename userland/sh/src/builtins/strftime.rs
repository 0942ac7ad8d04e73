//! Dates for `printf '%(..)T'`, in UTC, because the sandbox has no other zone.

use crate::ir::Bytes;

const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// A moment as a calendar shows it.
struct Date {
    year: i64,
    /// 1 to 12.
    month: i64,
    day: i64,
    /// 0 is Sunday.
    weekday: i64,
    /// 0 is the first of January.
    yearday: i64,
    hour: i64,
    minute: i64,
    second: i64,
}

/// The calendar of the proleptic Gregorian year, by the method of Howard Hinnant's `civil_from_days`.
fn date(seconds: i64) -> Date {
    let days = seconds.div_euclid(86_400);
    let time = seconds.rem_euclid(86_400);
    let shifted = days.saturating_add(719_468);
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    let before = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];
    let index = usize::try_from(month - 1).unwrap_or(0);
    let yearday = before.get(index).copied().unwrap_or(0) + day - 1 + i64::from(leap && month > 2);
    Date {
        year,
        month,
        day,
        weekday: (days + 4).rem_euclid(7),
        yearday,
        hour: time / 3600,
        minute: time / 60 % 60,
        second: time % 60,
    }
}

fn name(list: &[&'static str], at: i64) -> &'static str {
    usize::try_from(at).ok().and_then(|at| list.get(at)).copied().unwrap_or("?")
}

/// The week of the year by ISO 8601, and the year that it belongs to.
fn iso_week(date: &Date) -> (i64, i64) {
    let weekday = (date.weekday + 6) % 7;
    let week = (date.yearday - weekday + 10) / 7;
    let weeks_of = |year: i64| {
        let first = |year: i64| (year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400)).rem_euclid(7);
        if first(year) == 4 || first(year - 1) == 3 { 53 } else { 52 }
    };
    match week {
        0 => (weeks_of(date.year - 1), date.year - 1),
        week if week > weeks_of(date.year) => (1, date.year + 1),
        week => (week, date.year),
    }
}

/// Formats a moment as `strftime` does in the C locale.
pub(crate) fn format(format: &[u8], seconds: i64) -> Bytes {
    let date = date(seconds);
    let mut out = Bytes::new();
    let mut bytes = format.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let mut letter = bytes.next();
        let mut pad = None;
        while let Some(flag @ (b'-' | b'_' | b'0' | b'E' | b'O')) = letter {
            pad = Some(flag);
            letter = bytes.next();
        }
        let Some(letter) = letter else {
            out.push(b'%');
            break;
        };
        let text = field(&date, seconds, letter, pad);
        out.extend_from_slice(text.as_bytes());
    }
    out
}

fn two(value: i64, pad: Option<u8>) -> String {
    match pad {
        Some(b'-') => value.to_string(),
        Some(b'_') => format!("{value:2}"),
        _ => format!("{value:02}"),
    }
}

fn field(date: &Date, seconds: i64, letter: u8, pad: Option<u8>) -> String {
    let again = |text: &str| String::from_utf8_lossy(&format(text.as_bytes(), seconds)).into_owned();
    let twelve = if date.hour % 12 == 0 { 12 } else { date.hour % 12 };
    match letter {
        b'a' => name(&DAYS, date.weekday).get(..3).unwrap_or("?").to_owned(),
        b'A' => name(&DAYS, date.weekday).to_owned(),
        b'b' | b'h' => name(&MONTHS, date.month - 1).get(..3).unwrap_or("?").to_owned(),
        b'B' => name(&MONTHS, date.month - 1).to_owned(),
        b'c' => again("%a %b %e %H:%M:%S %Y"),
        b'C' => two(date.year.div_euclid(100), pad),
        b'd' => two(date.day, pad),
        b'D' | b'x' => again("%m/%d/%y"),
        b'e' => format!("{:2}", date.day),
        b'F' => again("%Y-%m-%d"),
        b'g' => two(iso_week(date).1.rem_euclid(100), pad),
        b'G' => iso_week(date).1.to_string(),
        b'H' => two(date.hour, pad),
        b'I' => two(twelve, pad),
        b'j' => format!("{:03}", date.yearday + 1),
        b'k' => format!("{:2}", date.hour),
        b'l' => format!("{twelve:2}"),
        b'm' => two(date.month, pad),
        b'M' => two(date.minute, pad),
        b'n' => "\n".to_owned(),
        b'p' => if date.hour < 12 { "AM" } else { "PM" }.to_owned(),
        b'P' => if date.hour < 12 { "am" } else { "pm" }.to_owned(),
        b'r' => again("%I:%M:%S %p"),
        b'R' => again("%H:%M"),
        b's' => seconds.to_string(),
        b'S' => two(date.second, pad),
        b't' => "\t".to_owned(),
        b'T' | b'X' => again("%H:%M:%S"),
        b'u' => (if date.weekday == 0 { 7 } else { date.weekday }).to_string(),
        b'U' => two((date.yearday + 7 - date.weekday) / 7, pad),
        b'V' => two(iso_week(date).0, pad),
        b'w' => date.weekday.to_string(),
        b'W' => two((date.yearday + 7 - (date.weekday + 6) % 7) / 7, pad),
        b'y' => two(date.year.rem_euclid(100), pad),
        b'Y' => date.year.to_string(),
        b'z' => "+0000".to_owned(),
        b'Z' => "UTC".to_owned(),
        b'%' => "%".to_owned(),
        other => format!("%{}", char::from(other)),
    }
}
