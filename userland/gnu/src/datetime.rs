//! Dates as people write them, read as `date -d` and `touch -d` of GNU read them.

mod words;

use crate::calendar::{Moment, days_to};
use crate::zone::Zone;
use words::{Number, Token, Unit, tokens};

/// A point in time: seconds since 1970, and nanoseconds of the second.
pub type Instant = (i64, u32);

/// How times of day without a `am` or `pm` count.
const DAY_OF_24: Option<bool> = None;

/// Reads a date, counted from `now` where it is not complete. `None` when it has no meaning.
pub fn parse(text: &[u8], now: Instant, zone: &Zone) -> Option<Instant> {
    let trimmed = text.trim_ascii_start();
    let own;
    let (text, zone) = match trimmed.strip_prefix(b"TZ=\"") {
        None => (trimmed, zone),
        Some(rest) => {
            let end = rest.iter().position(|byte| *byte == b'"')?;
            let name: Vec<u8> = rest.get(..end)?.iter().copied().filter(|byte| *byte != b'\\').collect();
            own = Zone::named(&String::from_utf8_lossy(&name));
            (rest.get(end + 1..)?, &own)
        }
    };
    let tokens = tokens(text, &zone.names())?;
    if tokens.first() == Some(&Token::Sign(b'@')) {
        return match tokens.get(1..)? {
            [Token::Number(number)] => Some((number.value, 0)),
            [Token::Decimal { seconds, nanoseconds, .. }] => Some((*seconds, *nanoseconds)),
            _ => None,
        };
    }
    let mut reader = Reader { tokens: &tokens, said: Said::default() };
    while !reader.tokens.is_empty() {
        reader.item()?;
    }
    reader.said.settle(now, zone)
}

/// Everything that was said.
#[derive(Debug, Default)]
struct Said {
    times: u32,
    dates: u32,
    days: u32,
    local_zones: u32,
    dsts: u32,
    zones: u32,
    relative: bool,
    year: Option<(i64, usize)>,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    nanosecond: u32,
    meridian: Option<bool>,
    /// Whether the name of the local zone that was said is that of its summer.
    summer: Option<bool>,
    weekday: u32,
    ordinal: i64,
    /// Minutes east of Greenwich.
    zone: i64,
    shift: Shift,
}

/// What is added.
#[derive(Clone, Copy, Debug, Default)]
struct Shift {
    years: i64,
    months: i64,
    days: i64,
    hours: i64,
    minutes: i64,
    seconds: i64,
    nanoseconds: i64,
}

struct Reader<'t> {
    tokens: &'t [Token],
    said: Said,
}

impl Reader<'_> {
    fn at(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    fn take(&mut self, count: usize) {
        self.tokens = self.tokens.get(count..).unwrap_or_default();
    }

    /// A number without a sign at a place.
    fn plain(&self, at: usize) -> Option<Number> {
        match self.at(at) {
            Some(Token::Number(number)) if !number.signed => Some(*number),
            _ => None,
        }
    }

    /// A number with a sign.
    fn signed(&self, at: usize) -> Option<Number> {
        match self.at(at) {
            Some(Token::Number(number)) if number.signed => Some(*number),
            _ => None,
        }
    }

    fn is_sign(&self, at: usize, sign: u8) -> bool {
        self.at(at) == Some(&Token::Sign(sign))
    }

    /// Reads one thing that is said.
    fn item(&mut self) -> Option<()> {
        match self.at(0)?.clone() {
            Token::Number(number) if !number.signed => self.number(number),
            Token::Number(number) => {
                let Some(Token::Unit(unit, count)) = self.at(1).cloned() else {
                    return None;
                };
                self.take(2);
                self.relative(unit, number.value.checked_mul(count)?, 0)
            }
            Token::Decimal { seconds, nanoseconds, .. } => {
                let Some(Token::Unit(Unit::Second, _)) = self.at(1) else {
                    return None;
                };
                self.take(2);
                self.relative(Unit::Second, seconds, nanoseconds)
            }
            Token::Unit(unit, count) => {
                self.take(1);
                self.relative(unit, count, 0)
            }
            Token::DayShift(days) => {
                self.take(1);
                self.said.relative = true;
                self.said.shift.days = self.said.shift.days.checked_add(days)?;
                Some(())
            }
            Token::Ordinal(ordinal) => match self.at(1).cloned()? {
                Token::Unit(unit, count) => {
                    self.take(2);
                    self.relative(unit, ordinal.checked_mul(count)?, 0)
                }
                Token::Day(day) => {
                    self.take(2);
                    self.weekday(day, ordinal)
                }
                _ => None,
            },
            Token::Day(day) => {
                self.take(1);
                if self.is_sign(0, b',') {
                    self.take(1);
                }
                self.weekday(day, 0)
            }
            Token::Month(month) => self.month_first(month),
            Token::Zone(minutes) => self.zone(minutes),
            Token::LetterT => self.zone(-420),
            Token::LocalZone(summer) => {
                self.take(1);
                self.said.local_zones += 1;
                self.said.summer = Some(summer);
                if self.at(0) == Some(&Token::Dst) {
                    self.take(1);
                    self.said.dsts += 1;
                }
                Some(())
            }
            Token::Meridian(_) | Token::Dst | Token::Ago(_) | Token::Sign(_) | Token::Unknown => None,
        }
    }

    fn weekday(&mut self, day: u32, ordinal: i64) -> Option<()> {
        self.said.days += 1;
        (self.said.weekday, self.said.ordinal) = (day, ordinal);
        Some(())
    }

    /// Something is added, or taken away where `ago` follows.
    fn relative(&mut self, unit: Unit, count: i64, nanoseconds: u32) -> Option<()> {
        let mut factor = 1;
        if let Some(Token::Ago(sign)) = self.at(0) {
            factor = *sign;
            self.take(1);
        }
        self.said.relative = true;
        let shift = &mut self.said.shift;
        shift.nanoseconds += i64::from(nanoseconds) * factor;
        let place = match unit {
            Unit::Year => &mut shift.years,
            Unit::Month => &mut shift.months,
            Unit::Day => &mut shift.days,
            Unit::Hour => &mut shift.hours,
            Unit::Minute => &mut shift.minutes,
            Unit::Second => &mut shift.seconds,
        };
        *place = place.checked_add(count.checked_mul(factor)?)?;
        Some(())
    }

    /// A zone by name, and what may be added to it.
    fn zone(&mut self, minutes: i64) -> Option<()> {
        self.take(1);
        self.said.zones += 1;
        self.said.zone = minutes;
        if self.at(0) == Some(&Token::Dst) {
            self.take(1);
            self.said.zone += 60;
        } else if self.signed(0).is_some() && !matches!(self.at(1), Some(Token::Unit(..))) {
            self.said.zone += self.offset()?;
        }
        Some(())
    }

    /// `+2`, `+0230` or `+02:30`, in minutes.
    fn offset(&mut self) -> Option<i64> {
        let number = self.signed(0)?;
        self.take(1);
        let mut minutes = None;
        if self.is_sign(0, b':') {
            minutes = Some(self.plain(1)?.value);
            self.take(2);
        }
        let whole = number.value.unsigned_abs() as i64;
        let sum = match minutes {
            Some(minutes) => whole.checked_mul(60)?.checked_add(minutes)?,
            None if number.digits <= 2 => whole * 60,
            None => whole / 100 * 60 + whole % 100,
        };
        (sum <= 24 * 60).then_some(if number.negative { -sum } else { sum })
    }

    /// What begins with a number.
    fn number(&mut self, first: Number) -> Option<()> {
        match self.at(1).cloned() {
            Some(Token::Meridian(_)) => {
                self.take(1);
                self.time(first.value, 0, 0, 0)
            }
            Some(Token::Sign(b':')) => self.clock(first),
            Some(Token::Sign(b'/')) => self.slashes(first),
            Some(Token::Month(month)) => self.day_and_month(first, month),
            Some(Token::Day(day)) => {
                self.take(2);
                self.weekday(day, first.value)
            }
            Some(Token::Unit(unit, count)) => {
                self.take(2);
                self.relative(unit, first.value.checked_mul(count)?, 0)
            }
            Some(Token::Number(second)) if second.signed => self.before_sign(first, second),
            _ => {
                self.take(1);
                self.digits(first);
                Some(())
            }
        }
    }

    /// `2024-05-06`, `10 +2 days`, `10 +0200`.
    fn before_sign(&mut self, first: Number, second: Number) -> Option<()> {
        if let Some(third) = self.signed(2) {
            self.take(3);
            self.said.dates += 1;
            self.said.year = Some((first.value, first.digits));
            self.said.month = second.value.checked_neg()?;
            self.said.day = third.value.checked_neg()?;
            if self.at(0) != Some(&Token::LetterT) {
                return Some(());
            }
            // Behind the letter stands a time of day.
            let hour = self.plain(1)?;
            self.take(1);
            return match self.at(1) {
                Some(Token::Sign(b':')) => self.clock(hour),
                Some(Token::Number(offset)) if offset.signed => {
                    self.take(1);
                    self.time(hour.value, 0, 0, 0)
                }
                _ => None,
            };
        }
        self.take(1);
        if let Some(Token::Unit(..)) = self.at(1) {
            self.digits(first);
            return Some(());
        }
        self.time(first.value, 0, 0, 0)
    }

    /// A number alone is a date, a year or a time, as it has digits.
    fn digits(&mut self, number: Number) {
        let said = &mut self.said;
        if said.dates > 0 && said.year.is_none() && !said.relative && (said.times > 0 || number.digits > 2) {
            said.year = Some((number.value, number.digits));
        } else if number.digits > 4 {
            said.dates += 1;
            said.day = number.value % 100;
            said.month = number.value / 100 % 100;
            said.year = Some((number.value / 10_000, number.digits - 4));
        } else {
            said.times += 1;
            (said.hour, said.minute) =
                if number.digits <= 2 { (number.value, 0) } else { (number.value / 100, number.value % 100) };
            (said.second, said.nanosecond, said.meridian) = (0, 0, DAY_OF_24);
        }
    }

    /// `H:M`, `H:M:S`.
    fn clock(&mut self, hour: Number) -> Option<()> {
        let minute = self.plain(2)?.value;
        self.take(3);
        if !self.is_sign(0, b':') {
            return self.time(hour.value, minute, 0, 0);
        }
        let (second, nanosecond) = match self.at(1)? {
            Token::Number(number) if !number.signed => (number.value, 0),
            Token::Decimal { signed: false, seconds, nanoseconds } => (*seconds, *nanoseconds),
            _ => return None,
        };
        self.take(2);
        self.time(hour.value, minute, second, nanosecond)
    }

    /// A time of day, with what may follow it: half of the day or zone.
    fn time(&mut self, hour: i64, minute: i64, second: i64, nanosecond: u32) -> Option<()> {
        self.said.times += 1;
        (self.said.hour, self.said.minute) = (hour, minute);
        (self.said.second, self.said.nanosecond, self.said.meridian) = (second, nanosecond, DAY_OF_24);
        if let Some(Token::Meridian(afternoon)) = self.at(0) {
            self.said.meridian = Some(*afternoon);
            self.take(1);
        } else if self.signed(0).is_some() {
            self.said.zones += 1;
            self.said.zone = self.offset()?;
        }
        Some(())
    }

    /// `6/5`, `6/5/2024`, `2024/6/5`.
    fn slashes(&mut self, first: Number) -> Option<()> {
        let second = self.plain(2)?;
        self.said.dates += 1;
        (self.said.month, self.said.day) = (first.value, second.value);
        self.take(3);
        if !self.is_sign(0, b'/') {
            return Some(());
        }
        let third = self.plain(1)?;
        self.take(2);
        // Four digits in front are a year.
        if first.digits >= 4 {
            self.said.year = Some((first.value, first.digits));
            (self.said.month, self.said.day) = (second.value, third.value);
        } else {
            self.said.year = Some((third.value, third.digits));
        }
        Some(())
    }

    /// `5 June`, `5 June 2024`, `5-June-2024`.
    fn day_and_month(&mut self, day: Number, month: u32) -> Option<()> {
        self.take(2);
        self.said.dates += 1;
        (self.said.month, self.said.day) = (i64::from(month), day.value);
        if let Some(year) = self.signed(0) {
            self.take(1);
            self.said.year = Some((year.value.checked_neg()?, year.digits));
        } else if let Some(year) = self.plain(0) {
            self.take(1);
            self.said.year = Some((year.value, year.digits));
        }
        Some(())
    }

    /// `June 5`, `June 5, 2024`, `June-5-2024`.
    fn month_first(&mut self, month: u32) -> Option<()> {
        self.said.month = i64::from(month);
        if let (Some(day), Some(year)) = (self.signed(1), self.signed(2)) {
            self.take(3);
            self.said.dates += 1;
            self.said.day = day.value.checked_neg()?;
            self.said.year = Some((year.value.checked_neg()?, year.digits));
            return Some(());
        }
        let day = self.plain(1)?;
        self.take(2);
        self.said.dates += 1;
        self.said.day = day.value;
        if self.is_sign(0, b',') {
            let year = self.plain(1)?;
            self.take(2);
            self.said.year = Some((year.value, year.digits));
        }
        Some(())
    }
}

impl Said {
    /// The point in time that all this means.
    fn settle(&self, now: Instant, zone: &Zone) -> Option<Instant> {
        if (self.times | self.dates | self.days | self.dsts | (self.local_zones + self.zones)) > 1 {
            return None;
        }
        let local_now = now.0 + zone.at(now.0).0;
        let today = Moment::new(local_now, now.1);
        let year = self.year.map_or(today.year, |(year, digits)| match digits {
            2 if (0..69).contains(&year) => year + 2000,
            2 if (69..100).contains(&year) => year + 1900,
            _ => year,
        });
        let (mut month, mut day) = (i64::from(today.month), i64::from(today.day));
        if self.dates > 0 {
            (month, day) = (self.month, self.day);
        }
        let keeps_time = self.times == 0 && self.relative && self.dates == 0 && self.days == 0;
        let (hour, minute, second, nanosecond) = match () {
            () if self.times > 0 => (self.hour_of_day()?, self.minute, self.second, self.nanosecond),
            () if keeps_time => {
                (i64::from(today.hour), i64::from(today.minute), i64::from(today.second), today.nanoseconds)
            }
            () => (0, 0, 0, 0),
        };
        let last = days_in(year, month)?;
        if !(1..=last).contains(&day) || !(0..60).contains(&minute) || !(0..60).contains(&second) {
            return None;
        }
        let mut days = days_to(year, u32::try_from(month).ok()?, u32::try_from(day).ok()?);
        if self.days > 0 && self.dates == 0 {
            let weekday = (days + 4).rem_euclid(7);
            let wanted = i64::from(self.weekday);
            let weeks = self.ordinal - i64::from(self.ordinal > 0 && weekday != wanted);
            days = days.checked_add((wanted - weekday + 7) % 7)?.checked_add(weeks.checked_mul(7)?)?;
        }
        let days = self.shifted(days)?;
        let local = days.checked_mul(86_400)?.checked_add(hour * 3600 + minute * 60 + second)?;
        let offset = match self.summer {
            _ if self.zones > 0 => self.zone * 60,
            Some(summer) => zone.offset_of_local_in(local, summer),
            None => zone.offset_of_local(local),
        };
        // There is no such hour where clocks are set forward, and no summer in winter.
        if self.zones == 0 && zone.at(local.checked_sub(offset)?).0 != offset {
            return None;
        }
        if self.summer.is_some_and(|summer| zone.is_summer_at(local - offset) != summer) {
            return None;
        }
        let shift = &self.shift;
        let nanoseconds = i64::from(nanosecond) + shift.nanoseconds;
        let seconds = local
            .checked_sub(offset)?
            .checked_add(shift.hours.checked_mul(3600)?)?
            .checked_add(shift.minutes.checked_mul(60)?)?
            .checked_add(shift.seconds)?
            .checked_add(nanoseconds.div_euclid(1_000_000_000))?;
        // What follows is written with years of a few digits.
        (seconds.unsigned_abs() < 1 << 55)
            .then_some((seconds, u32::try_from(nanoseconds.rem_euclid(1_000_000_000)).unwrap_or(0)))
    }

    /// The hour from 0 to 23.
    fn hour_of_day(&self) -> Option<i64> {
        match self.meridian {
            None => (0..24).contains(&self.hour).then_some(self.hour),
            Some(afternoon) => (1..=12).contains(&self.hour).then_some(self.hour % 12 + if afternoon { 12 } else { 0 }),
        }
    }

    /// Adds years, months and days to a day.
    fn shifted(&self, days: i64) -> Option<i64> {
        let shift = &self.shift;
        if !self.relative || (shift.years, shift.months, shift.days) == (0, 0, 0) {
            return Some(days);
        }
        let from = Moment::new(days.checked_mul(86_400)?, 0);
        let months = from.year.checked_add(shift.years)?.checked_mul(12)?;
        let months = months.checked_add(i64::from(from.month) - 1)?.checked_add(shift.months)?;
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
        if year.unsigned_abs() > 1 << 40 {
            return None;
        }
        // A day that the month does not have is one of the next.
        let first = days_to(year, u32::try_from(month).ok()?, 1);
        first.checked_add(i64::from(from.day) - 1)?.checked_add(shift.days)
    }
}

/// How many days a month has; `None` when there is no such month.
fn days_in(year: i64, month: i64) -> Option<i64> {
    let leap = year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0);
    let here = year.unsigned_abs() < 1 << 40;
    Some(match month {
        _ if !here => return None,
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::parse;
    use crate::zone::Zone;

    /// Friday, 2024-03-15 10:20:30.5 UTC.
    const NOW: (i64, u32) = (1_710_498_030, 500_000_000);

    fn read(text: &str) -> Option<String> {
        let (seconds, nanoseconds) = parse(text.as_bytes(), NOW, &Zone::utc())?;
        let moment = crate::calendar::Moment::new(seconds, nanoseconds);
        Some(format!("{} {}", moment.field('F')?, moment.field('T')?))
    }

    #[test]
    fn words_and_numbers_mean_what_they_mean_to_gnu() {
        for (text, wanted) in [
            ("", "2024-03-15 00:00:00"),
            ("now", "2024-03-15 10:20:30"),
            ("yesterday", "2024-03-14 10:20:30"),
            ("yesterday noon", ""),
            ("3 June 10:00", ""),
            ("tomorrow 8am", "2024-03-16 08:00:00"),
            ("next friday", "2024-03-22 00:00:00"),
            ("friday", "2024-03-15 00:00:00"),
            ("last monday", "2024-03-11 00:00:00"),
            ("2 days ago 10:00", "2024-03-13 10:00:00"),
            ("1 month ago", "2024-02-15 10:20:30"),
            ("2024-01-31 +1 month", "2024-03-02 00:00:00"),
            ("@0", "1970-01-01 00:00:00"),
            ("@-1.5", "1969-12-31 23:59:58"),
            ("2024-02-30", ""),
            ("2024-05-06T07:08:09Z", "2024-05-06 07:08:09"),
            ("2024-05-06T07:08:09+02:00", "2024-05-06 05:08:09"),
            ("10:00 +2 days", "2024-03-16 08:00:00"),
            ("20240506 1234", "2024-05-06 12:34:00"),
            ("5 June 99", "1999-06-05 00:00:00"),
            ("Jun 5, 2023 3pm", "2023-06-05 15:00:00"),
            ("6/5", "2024-06-05 00:00:00"),
            ("2023/6/5", "2023-06-05 00:00:00"),
            ("Fri, 15 Mar 2024 10:00:00 -0500", "2024-03-15 15:00:00"),
            ("12am", "2024-03-15 00:00:00"),
            ("13pm", ""),
            ("24:00", ""),
            ("third week", "2024-04-05 10:20:30"),
            ("nonsense", ""),
        ] {
            assert_eq!(read(text).unwrap_or_default(), wanted, "{text}");
        }
    }
}
