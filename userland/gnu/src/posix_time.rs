//! POSIX times in digits: `MMDDhhmm[[CC]YY][.ss]` for `date`, `[[CC]YY]MMDDhhmm[.ss]` for `touch -t`.

use crate::calendar::{Moment, days_to};
use crate::datetime::Instant;
use crate::zone::Zone;

/// Parses a time; `year_first` selects the position of the year. `None` if it is invalid.
pub fn posix(text: &[u8], now: Instant, zone: &Zone, year_first: bool) -> Option<Instant> {
    let (digits, second) = match text.iter().position(|byte| *byte == b'.') {
        Some(dot) => {
            let rest = text.get(dot + 1..).filter(|rest| rest.len() == 2)?;
            (text.get(..dot)?, number(rest)?)
        }
        None => (text, 0),
    };
    if !matches!(digits.len(), 8 | 10 | 12) {
        return None;
    }
    let years = digits.len() - 8;
    let (year, rest) = match year_first {
        true => digits.split_at_checked(years)?,
        false => {
            let (rest, year) = digits.split_at_checked(8)?;
            (year, rest)
        }
    };
    let year = match (years, number(year)) {
        (0, _) => Moment::new(now.0.saturating_add(zone.at(now.0).0), 0).year,
        (2, Some(year)) => year + if year < 69 { 2000 } else { 1900 },
        (_, year) => year?,
    };
    let part = |at: usize| rest.get(at..at + 2).and_then(number);
    let (month, day, hour, minute) = (part(0)?, part(2)?, part(4)?, part(6)?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let last = match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    // A leap second is the first of the next minute.
    if !(1..=last).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let days = days_to(year, u32::try_from(month).ok()?, u32::try_from(day).ok()?);
    let local = days * 86_400 + hour * 3600 + minute * 60 + second;
    Some((local - zone.offset_of_local(local), 0))
}

fn number(digits: &[u8]) -> Option<i64> {
    let all = digits.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(digits).ok().filter(|_| all)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::posix;
    use crate::zone::Zone;

    #[test]
    fn digits_are_read_in_their_order() {
        let read =
            |text: &str, first| posix(text.as_bytes(), (1_710_498_030, 0), &Zone::utc(), first).map(|time| time.0);
        assert_eq!(read("202402291234.56", true), Some(1_709_210_096));
        assert_eq!(read("022912342024.56", false), Some(1_709_210_096));
        assert_eq!(read("02291234", true), Some(1_709_210_040));
        assert_eq!(read("7001010000", true), Some(0));
        for wrong in ["", "02301234", "0229123", "02291260", "02291234.5", "0229x234"] {
            assert_eq!(read(wrong, true), None, "{wrong}");
        }
    }
}
