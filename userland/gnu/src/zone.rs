//! The zone of local times, as `TZ` says it in the form of POSIX: `EST5EDT,M3.2.0,M11.1.0`.

use crate::calendar::{Moment, days_to};

/// A zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    name: String,
    /// Seconds east of Greenwich.
    offset: i64,
    summer: Option<Summer>,
}

/// Daylight saving time: its name, its offset, and when it begins and ends.
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

/// When daylight saving time begins and ends where `TZ` does not say.
const USUAL: &str = "M3.2.0,M11.1.0";

impl Zone {
    /// Universal time.
    pub fn utc() -> Self {
        Self { name: "UTC".to_owned(), offset: 0, summer: None }
    }

    /// The zone that the environment asks for.
    pub fn of_environment() -> Self {
        std::env::var("TZ").map_or_else(|_| Self::utc(), |name| Self::named(&name))
    }

    /// The zone of a value of `TZ`. What has no meaning is universal time under the name that it begins with.
    pub fn named(text: &str) -> Self {
        let text = text.strip_prefix(':').unwrap_or(text);
        if text.is_empty() {
            return Self::utc();
        }
        Self::posix(text).unwrap_or_else(|| {
            let name: String = text.chars().take_while(char::is_ascii_alphabetic).collect();
            Self { name: if name.len() < 3 { String::new() } else { name }, offset: 0, summer: None }
        })
    }

    fn posix(text: &str) -> Option<Self> {
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

    /// Seconds east of Greenwich and the name of the zone at a point in time.
    pub fn at(&self, seconds: i64) -> (i64, &str) {
        match &self.summer {
            Some(summer) if self.is_summer(summer, seconds) => (summer.offset, &summer.name),
            _ => (self.offset, &self.name),
        }
    }

    /// Seconds east of Greenwich at a local time, which counts as if it were universal.
    pub fn offset_of_local(&self, local: i64) -> i64 {
        let summer = self.summer.as_ref().map_or(self.offset, |summer| summer.offset);
        let first = self.at(local.saturating_sub(summer)).0;
        let second = self.at(local.saturating_sub(first)).0;
        // Of an hour that comes twice the first counts.
        if first == second || self.at(local.saturating_sub(first)).0 == first { first } else { second }
    }

    /// Whether summer time is in force.
    pub fn is_summer_at(&self, seconds: i64) -> bool {
        self.summer.as_ref().is_some_and(|summer| self.is_summer(summer, seconds))
    }

    /// The names that stand for this zone.
    pub fn names(&self) -> Vec<String> {
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
    /// The local time of the change, as if it were universal.
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

/// `[+-]H[:M[:S]]` in seconds, and what is behind.
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

#[cfg(test)]
mod tests {
    use super::Zone;

    #[test]
    fn zones_of_posix_know_their_summers() {
        let zone = Zone::named("EST5EDT");
        assert_eq!(zone.at(1_704_067_200), (-5 * 3600, "EST"));
        assert_eq!(zone.at(1_719_792_000), (-4 * 3600, "EDT"));
        let zone = Zone::named("CET-1CEST,M3.5.0,M10.5.0/3");
        assert_eq!(zone.at(1_711_846_799), (3600, "CET"));
        assert_eq!(zone.at(1_711_846_800), (7200, "CEST"));
        assert_eq!(Zone::named("<+0530>-5:30").at(0), (19_800, "+0530"));
        assert_eq!(Zone::named("Asia/Nowhere").at(0), (0, "Asia"));
        assert_eq!(Zone::named("").at(0), (0, "UTC"));
    }
}
