//! Parsed fields of a date and their conversion to a point in time.

use super::Instant;
use crate::calendar::{Moment, days_to};
use crate::zone::Zone;

/// All parsed fields.
#[derive(Debug, Default)]
pub(super) struct DateFields {
    pub(super) times: u32,
    pub(super) dates: u32,
    pub(super) days: u32,
    pub(super) local_zones: u32,
    pub(super) dsts: u32,
    pub(super) zones: u32,
    pub(super) relative: bool,
    pub(super) year: Option<(i64, usize)>,
    pub(super) month: i64,
    pub(super) day: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
    pub(super) nanosecond: u32,
    pub(super) meridian: Option<bool>,
    /// True if the given name of the local zone is its daylight-saving name.
    pub(super) summer: Option<bool>,
    pub(super) weekday: u32,
    pub(super) ordinal: i64,
    /// Minutes east of Greenwich.
    pub(super) zone: i64,
    pub(super) shift: RelativeOffset,
}

/// Relative offsets to add.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RelativeOffset {
    pub(super) years: i64,
    pub(super) months: i64,
    pub(super) days: i64,
    pub(super) hours: i64,
    pub(super) minutes: i64,
    pub(super) seconds: i64,
    pub(super) nanoseconds: i64,
}

impl DateFields {
    /// Returns the point in time of all fields.
    pub(super) fn resolve(&self, now: Instant, zone: &Zone) -> Option<Instant> {
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
        // This hour does not exist where clocks are set forward, and daylight saving does not exist in winter.
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
        // The code below prints years with few digits.
        (seconds.unsigned_abs() < 1 << 55)
            .then_some((seconds, u32::try_from(nanoseconds.rem_euclid(1_000_000_000)).unwrap_or(0)))
    }

    /// Returns the hour, 0 to 23.
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
        // A day that the month does not have falls into the next month.
        let first = days_to(year, u32::try_from(month).ok()?, 1);
        first.checked_add(i64::from(from.day) - 1)?.checked_add(shift.days)
    }
}

/// Returns the number of days of a month; `None` if the month is invalid.
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
