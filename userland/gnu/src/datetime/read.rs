//! Grammar of dates: the token sequences of times, days, zones and offsets.

use super::fields::DateFields;
use super::tokens::{Number, Token, Unit};

/// Interpretation of times of day without `am` or `pm`.
const DAY_OF_24: Option<bool> = None;

/// Parses tokens from left to right and stores the fields.
#[derive(Debug)]
pub(super) struct Reader<'t> {
    tokens: &'t [Token],
    said: DateFields,
}

impl<'t> Reader<'t> {
    pub(super) fn new(tokens: &'t [Token]) -> Self {
        Self { tokens, said: DateFields::default() }
    }

    /// Parses all tokens.
    pub(super) fn all(mut self) -> Option<DateFields> {
        while !self.tokens.is_empty() {
            self.item()?;
        }
        Some(self.said)
    }

    fn at(&self, at: usize) -> Option<&Token> {
        self.tokens.get(at)
    }

    fn take(&mut self, count: usize) {
        self.tokens = self.tokens.get(count..).unwrap_or_default();
    }

    /// Returns the unsigned number at an index.
    fn plain(&self, at: usize) -> Option<Number> {
        match self.at(at) {
            Some(Token::Number(number)) if !number.signed => Some(*number),
            _ => None,
        }
    }

    /// Returns the signed number at an index.
    fn signed(&self, at: usize) -> Option<Number> {
        match self.at(at) {
            Some(Token::Number(number)) if number.signed => Some(*number),
            _ => None,
        }
    }

    fn is_sign(&self, at: usize, sign: u8) -> bool {
        self.at(at) == Some(&Token::Sign(sign))
    }

    /// Parses one item.
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

    /// An offset, subtracted if `ago` follows.
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

    /// A zone by name, with an optional offset.
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

    /// Items that start with a number.
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
            // A time of day follows the letter.
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

    /// A single number is a date, a year or a time, depending on its number of digits.
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

    /// A time of day with an optional half of the day or zone.
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
        // Four leading digits are a year.
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
