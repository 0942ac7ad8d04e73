//! POSIX time zone rules in `TZ`: `EST5EDT,M3.2.0,M11.1.0`.

use super::Local;
use crate::calendar::{Moment, days_to};

/// A zone of one rule for all years.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    name: String,
    /// Seconds east of Greenwich.
    offset: i64,
    summer: Option<Summer>,
}

/// Daylight saving time: its name, its offset, and its start and end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Summer {
    name: String,
    offset: i64,
    begins: Change,
    ends: Change,
}

/// A day of every year, and the seconds of the day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    day: Day,
    seconds: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Day {
    /// Month, week (5 is the last), day of the week.
    OfMonth(u32, i64, i64),
    /// 1 to 365, without leap days.
    Julian(i64),
    /// 0 to 365.
    OfYear(i64),
}

/// Default start and end of daylight saving time if `TZ` does not specify them.
const USUAL: &str = "M3.2.0,M11.1.0";

impl Rule {
    /// One offset under one name.
    pub(super) fn fixed(name: &str, offset: i64) -> Self {
        Self { name: name.to_owned(), offset, summer: None }
    }

    /// Parses a value of `TZ`; `None` if it has another form.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (name, rest) = name(text)?;
        let (offset, rest) = clock(rest)?;
        let offset = -offset;
        if rest.is_empty() {
            return Some(Self { name, offset, summer: None });
        }
        let (summer, rest) = self::name(rest)?;
        let (summer_offset, rest) = match clock(rest) {
            Some((offset, rest)) => (-offset, rest),
            None => (offset + 3600, rest),
        };
        let rules = rest.strip_prefix(',').unwrap_or(USUAL);
        let (begins, ends) = rules.split_once(',')?;
        let summer = Summer { name: summer, offset: summer_offset, begins: change(begins)?, ends: change(ends)? };
        Some(Self { name, offset, summer: Some(summer) })
    }

    /// Returns the offset and name in force at a point in time.
    pub(super) fn at(&self, seconds: i64) -> Local<'_> {
        match &self.summer {
            Some(summer) if self.is_summer(summer, seconds) => {
                Local { offset: summer.offset, name: &summer.name, summer: true }
            }
            _ => Local { offset: self.offset, name: &self.name, summer: false },
        }
    }

    /// Returns the names of this zone.
    pub(super) fn names(&self) -> Vec<String> {
        let summer = self.summer.iter().map(|summer| summer.name.clone());
        std::iter::once(self.name.clone()).chain(summer).collect()
    }

    fn is_summer(&self, summer: &Summer, seconds: i64) -> bool {
        let year = Moment::new(seconds.saturating_add(self.offset), 0).year;
        let begins = summer.begins.in_year(year) - self.offset;
        let ends = summer.ends.in_year(year) - summer.offset;
        if begins < ends { (begins..ends).contains(&seconds) } else { !(ends..begins).contains(&seconds) }
    }
}

impl Change {
    /// Returns the local time of the transition, as if it were universal.
    fn in_year(self, year: i64) -> i64 {
        let first = days_to(year, 1, 1);
        let day = match self.day {
            Day::OfYear(day) => first + day,
            Day::Julian(day) => {
                let leap = year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0);
                first + day - 1 + i64::from(leap && day >= 60)
            }
            Day::OfMonth(month, week, weekday) => {
                let first = days_to(year, month, 1);
                let next = if month == 12 { days_to(year + 1, 1, 1) } else { days_to(year, month + 1, 1) };
                let day = first + (weekday - (first + 4)).rem_euclid(7) + 7 * (week - 1);
                if day >= next { day - 7 } else { day }
            }
        };
        day * 86_400 + self.seconds
    }
}

/// A name of at least three letters, or anything in `<>`.
fn name(text: &str) -> Option<(String, &str)> {
    if let Some(rest) = text.strip_prefix('<') {
        let (name, rest) = rest.split_once('>')?;
        return Some((name.to_owned(), rest));
    }
    let end = text.find(|char: char| !char.is_ascii_alphabetic()).unwrap_or(text.len());
    let (name, rest) = text.split_at_checked(end)?;
    (name.len() >= 3).then(|| (name.to_owned(), rest))
}

/// `[+-]H[:M[:S]]` in seconds, and the rest of the input.
fn clock(text: &str) -> Option<(i64, &str)> {
    let (sign, mut rest) = match text.as_bytes().first()? {
        b'-' => (-1, text.get(1..)?),
        b'+' => (1, text.get(1..)?),
        _ => (1, text),
    };
    let mut seconds = 0;
    let mut unit = 3600;
    loop {
        let end = rest.find(|char: char| !char.is_ascii_digit()).unwrap_or(rest.len());
        let (digits, behind) = rest.split_at_checked(end)?;
        seconds += digits.parse::<i64>().ok().filter(|value| *value <= 167)? * unit;
        rest = behind;
        unit /= 60;
        match rest.strip_prefix(':') {
            Some(behind) if unit > 0 => rest = behind,
            _ => return Some((sign * seconds, rest)),
        }
    }
}

fn change(text: &str) -> Option<Change> {
    let (day, time) = text.split_once('/').unwrap_or((text, "2"));
    let (seconds, rest) = clock(time)?;
    if !rest.is_empty() {
        return None;
    }
    let day = if let Some(parts) = day.strip_prefix('M') {
        let mut parts = parts.split('.').map(str::parse::<i64>);
        let (month, week, weekday) = (parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?);
        if !(1..=12).contains(&month) || !(1..=5).contains(&week) || !(0..=6).contains(&weekday) {
            return None;
        }
        Day::OfMonth(u32::try_from(month).ok()?, week, weekday)
    } else if let Some(day) = day.strip_prefix('J') {
        Day::Julian(day.parse().ok().filter(|day| (1..=365).contains(day))?)
    } else {
        Day::OfYear(day.parse().ok().filter(|day| (0..=365).contains(day))?)
    };
    Some(Change { day, seconds })
}
