//! Dates.

use tidebox_gnu::calendar::{DAYS, MONTHS, Moment};
use tidebox_gnu::strftime::of_c_library;
use tidebox_gnu::zone::Zone;

use super::{Entry, plain, unary};
use crate::value::{Result, Val, fault};

pub(super) const FILTERS: &[Entry] = &[
    plain!("gmtime", |value| broken_down(&value, "gmtime", &Zone::utc())),
    plain!("localtime", |value| broken_down(&value, "localtime", Zone::local())),
    plain!("mktime", |value: Val| {
        let moment = moment_of(&value, "mktime requires array of 6 numbers", "mktime requires parsed datetime inputs")?;
        #[expect(clippy::cast_precision_loss, reason = "seconds of any date are exact")]
        Ok(Val::number(moment.seconds as f64))
    }),
    unary!("strftime", |value: Val, format: Val| written(&value, &format, "strftime/1", &Zone::utc())),
    unary!("strflocaltime", |value: Val, format: Val| written(&value, &format, "strflocaltime/1", Zone::local())),
    unary!("strptime", read),
];

/// Days from 1970 to a Gregorian date; months beyond a year carry over.
fn days_to(year: i64, month0: i64, day: i64) -> i64 {
    let year = year.saturating_add(month0.div_euclid(12));
    let month = month0.rem_euclid(12) + 1;
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5;
    let days = of_era * 365 + of_era / 4 - of_era / 100 + of_year;
    era.saturating_mul(146_097).saturating_add(days - 719_468).saturating_add(day - 1)
}

#[expect(clippy::cast_possible_truncation, reason = "saturates at times that no calendar has")]
fn whole(number: f64) -> i64 {
    number.floor().clamp(-1e14, 1e14) as i64
}

/// Year, month from 0, day, hours, minutes, seconds, day of the week, day of the year from 0.
fn parts(moment: &Moment, seconds: f64) -> Val {
    #[expect(clippy::cast_precision_loss, reason = "a year")]
    let year = moment.year as f64;
    let small = |number: u32| Val::number(f64::from(number));
    Val::array(vec![
        Val::number(year),
        small(moment.month.saturating_sub(1)),
        small(moment.day),
        small(moment.hour),
        small(moment.minute),
        Val::number(seconds),
        small(moment.weekday),
        small(moment.year_day.saturating_sub(1)),
    ])
}

fn broken_down(value: &Val, name: &str, zone: &Zone) -> Result {
    let Some(seconds) = value.as_f64() else {
        return Err(fault(format!("{name}() requires a number")));
    };
    let moment = zone.moment(whole(seconds), 0);
    // The fraction is kept, with the precision of a double.
    let fraction = seconds - seconds.floor();
    Ok(parts(&moment, f64::from(moment.second) + fraction))
}

/// A time from the array made by [`parts`]. Only the first six elements count.
fn moment_of(value: &Val, short: &str, wrong: &str) -> Result<Moment> {
    let Some(fields) = value.as_array() else {
        return Err(fault(short));
    };
    if fields.len() < 6 {
        return Err(fault(short));
    }
    let mut numbers = [0_i64; 6];
    for (slot, field) in numbers.iter_mut().zip(fields) {
        let Some(number) = field.as_f64() else {
            return Err(fault(wrong));
        };
        *slot = whole(number);
    }
    let [year, month, day, hour, minute, second] = numbers;
    let days = days_to(year, month, day);
    let seconds = days.saturating_mul(86_400).saturating_add(hour.saturating_mul(3600));
    let seconds = seconds.saturating_add(minute.saturating_mul(60)).saturating_add(second);
    Ok(Moment::new(seconds.clamp(-100_000_000_000_000, 100_000_000_000_000), 0))
}

/// Formats a time. An array contains local time parts of the zone.
fn written(value: &Val, format: &Val, name: &str, zone: &Zone) -> Result {
    let seconds = match value {
        Val::Number(number) => whole(number.value()),
        value => {
            let message = format!("{name} requires parsed datetime inputs");
            let local = moment_of(value, &message, &message)?.seconds;
            local - zone.offset_of_local(local)
        }
    };
    match format.as_str() {
        Some(format) => {
            let text = of_c_library(format.as_bytes(), (seconds, 0), zone);
            Ok(Val::from(String::from_utf8_lossy(&text).into_owned()))
        }
        None => Err(fault(format!("{name} requires a string format"))),
    }
}

/// Fields parsed from a format.
struct Reading<'t> {
    rest: &'t str,
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    minute: i64,
    second: i64,
    afternoon: Option<bool>,
    /// Day of the year from 1, if the format has one and no month.
    year_day: Option<i64>,
    /// Seconds since 1970, if the format contains them.
    epoch: Option<i64>,
}

impl Reading<'_> {
    /// A number with a maximum number of digits, after spaces.
    fn number(&mut self, most: usize) -> Option<i64> {
        let text = self.rest.trim_start();
        let (sign, text) = match text.strip_prefix('-').filter(|_| most > 3) {
            Some(text) => (-1, text),
            None => (1, text.strip_prefix('+').unwrap_or(text)),
        };
        let len = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
        let (digits, rest) = text.split_at(len);
        self.rest = rest;
        digits.parse::<i64>().ok().map(|number| sign * number)
    }

    fn within(&mut self, most: usize, low: i64, high: i64) -> Option<i64> {
        self.number(most).filter(|number| (low..=high).contains(number))
    }

    /// A name from a list, or its first three letters.
    fn name(&mut self, names: &[&str]) -> Option<i64> {
        for (at, name) in names.iter().enumerate() {
            for len in [name.len(), 3] {
                if self.rest.get(..len).is_some_and(|start| start.eq_ignore_ascii_case(name.get(..len).unwrap_or(name)))
                {
                    self.rest = self.rest.get(len..).unwrap_or_default();
                    return i64::try_from(at).ok();
                }
            }
        }
        None
    }

    fn read(&mut self, format: &str) -> Option<()> {
        let mut chars = format.chars();
        while let Some(char) = chars.next() {
            if char.is_ascii_whitespace() {
                self.rest = self.rest.trim_start();
                continue;
            }
            if char != '%' {
                self.rest = self.rest.strip_prefix(char)?;
                continue;
            }
            let mut letter = chars.next()?;
            while matches!(letter, '-' | '_' | '0' | '^' | 'E' | 'O') {
                letter = chars.next()?;
            }
            self.conversion(letter)?;
        }
        Some(())
    }

    fn conversion(&mut self, letter: char) -> Option<()> {
        match letter {
            'Y' => self.year = self.number(4)?,
            'C' => self.year = self.within(2, 0, 99)? * 100 + self.year.rem_euclid(100),
            'y' => {
                let year = self.within(2, 0, 99)?;
                self.year = if year < 69 { 2000 + year } else { 1900 + year };
            }
            'm' => self.month = self.within(2, 1, 12)? - 1,
            'd' | 'e' => self.day = self.within(2, 1, 31)?,
            'H' | 'k' => self.hour = self.within(2, 0, 23)?,
            'I' | 'l' => self.hour = self.within(2, 1, 12)? % 12,
            'M' => self.minute = self.within(2, 0, 59)?,
            'S' => self.second = self.within(2, 0, 61)?,
            'j' => self.year_day = Some(self.within(3, 1, 366)?),
            's' => self.epoch = Some(self.number(20)?),
            'a' | 'A' => drop(self.name(&DAYS)?),
            'b' | 'B' | 'h' => self.month = self.name(&MONTHS)?,
            'p' | 'P' => self.afternoon = Some(self.name(&["AM ", "PM "]).or_else(|| self.half())? == 1),
            'U' | 'W' | 'V' | 'g' => drop(self.number(2)?),
            'G' => drop(self.number(4)?),
            'u' | 'w' => drop(self.number(1)?),
            'Z' => self.rest = self.rest.trim_start_matches(|char: char| char.is_ascii_alphabetic()),
            'z' => self.zone()?,
            'n' | 't' => self.rest = self.rest.trim_start(),
            '%' => self.rest = self.rest.strip_prefix('%')?,
            'D' | 'x' => self.read("%m/%d/%y")?,
            'F' => self.read("%Y-%m-%d")?,
            'T' | 'X' => self.read("%H:%M:%S")?,
            'R' => self.read("%H:%M")?,
            'r' => self.read("%I:%M:%S %p")?,
            'c' => self.read("%a %b %e %H:%M:%S %Y")?,
            _ => return None,
        }
        Some(())
    }

    fn half(&mut self) -> Option<i64> {
        let half = self.rest.get(..2)?.to_ascii_uppercase();
        let found = ["AM", "PM"].iter().position(|name| *name == half)?;
        self.rest = self.rest.get(2..)?;
        i64::try_from(found).ok()
    }

    /// `Z`, `+hh`, `+hhmm` or `+hh:mm`. Parsed and ignored, as in jq.
    fn zone(&mut self) -> Option<()> {
        self.rest = self.rest.trim_start();
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Some(());
        }
        let rest = self.rest.strip_prefix(['+', '-'])?;
        let hours = rest.get(..2).filter(|hours| hours.bytes().all(|byte| byte.is_ascii_digit()))?;
        let rest = rest.get(hours.len()..)?;
        let after = rest.strip_prefix(':').unwrap_or(rest);
        let minutes = after.get(..2).filter(|minutes| minutes.bytes().all(|byte| byte.is_ascii_digit()));
        self.rest = minutes.map_or(rest, |minutes| after.get(minutes.len()..).unwrap_or_default());
        Some(())
    }
}

fn read(value: Val, format: Val) -> Result {
    let Some(text) = value.as_str() else {
        return Err(fault("strptime/1 requires string inputs and arguments"));
    };
    let Some(format) = format.as_str() else {
        return Err(fault("strptime/1 requires string inputs and arguments"));
    };
    let mut reading = Reading {
        rest: text,
        year: 1900,
        month: 0,
        day: 0,
        hour: 0,
        minute: 0,
        second: 0,
        afternoon: None,
        year_day: None,
        epoch: None,
    };
    if reading.read(format).is_none() {
        return Err(fault(format!("date \"{text}\" does not match format \"{format}\"")));
    }
    if let Some(epoch) = reading.epoch {
        return broken_down(&Val::number(f64::from(u32::try_from(epoch).unwrap_or(0))), "gmtime", &Zone::utc());
    }
    if reading.afternoon == Some(true) {
        reading.hour = reading.hour % 12 + 12;
    }
    let days = match reading.year_day {
        Some(day) => days_to(reading.year, 0, day),
        None => days_to(reading.year, reading.month, reading.day),
    };
    let moment = Moment::new(days.saturating_mul(86_400), 0);
    let small = |number: i64| Val::number(f64::from(i32::try_from(number).unwrap_or(0)));
    let (month, day) = match reading.year_day {
        Some(_) => (i64::from(moment.month) - 1, i64::from(moment.day)),
        None => (reading.month, reading.day),
    };
    let mut parts = vec![
        small(reading.year),
        small(month),
        small(day),
        small(reading.hour),
        small(reading.minute),
        small(reading.second),
        small(i64::from(moment.weekday)),
        small(i64::from(moment.year_day) - 1),
    ];
    // Input after the end of the format is returned as a separate part.
    if !reading.rest.is_empty() {
        parts.push(Val::text(reading.rest));
    }
    Ok(Val::array(parts))
}
