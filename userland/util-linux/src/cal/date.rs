//! Days of the Julian and the Gregorian calendar, and the day on which a country went over from one to the other.

use tidebox_gnu::calendar::days_to;

/// Days of a month that is no February.
const LENGTHS: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// A day of the month and the number that it has in its year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Day {
    pub(super) of_month: u32,
    pub(super) of_year: i64,
}

/// A calendar that is Julian up to a date, and Gregorian from the next day on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calendar {
    /// The last day of the Julian calendar; after every year that is shown, where nobody went over.
    last_julian: (i64, u32, u32),
}

impl Calendar {
    pub(super) const fn until(year: i64, month: u32, day: u32) -> Self {
        Self { last_julian: (year, month, day) }
    }

    /// The Julian calendar for ever.
    pub(super) const fn julian() -> Self {
        Self::until(i64::MAX, 12, 31)
    }

    /// Days from 1970 to a date of this calendar.
    pub(super) fn days_to(&self, year: i64, month: u32, day: u32) -> i64 {
        if (year, month, day) <= self.last_julian {
            julian_days_to(year, month, day)
        } else {
            days_to(year, month, day)
        }
    }

    /// The days of a month, those that were left out left out, and the weekday of the first; 0 is Sunday.
    pub(super) fn month(&self, year: i64, month: u32) -> (i64, Vec<Day>) {
        let gregorian_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let leap = if (year, month, 29) <= self.last_julian { year % 4 == 0 } else { gregorian_leap };
        let length = LENGTHS.get(month as usize - 1).copied().unwrap_or(31) + u32::from(month == 2 && leap);
        let begin = self.days_to(year, 1, 1);
        let mut days: Vec<Day> = Vec::new();
        for of_month in 1..=length {
            let of_year = self.days_to(year, month, of_month) - begin + 1;
            // A date that was left out has the number of one that was not.
            let left_out = (year, month, of_month) > self.last_julian
                && days_to(year, month, of_month) <= self.last_day()
                && self.last_julian.0 != i64::MAX;
            if !left_out {
                days.push(Day { of_month, of_year });
            }
        }
        let first = days.first().map_or(1, |day| day.of_month);
        (weekday(self.days_to(year, month, first)), days)
    }

    fn last_day(&self) -> i64 {
        let (year, month, day) = self.last_julian;
        julian_days_to(year, month, day)
    }

    /// The days from 1970 to Easter, of the church that still counts by the Julian calendar or of the others.
    pub(super) fn easter(&self, year: i64, orthodox: bool) -> i64 {
        let julian = orthodox || year < self.last_julian.0;
        if julian { julian_easter(year) } else { gregorian_easter(year) }
    }

    /// A day of spring as this calendar calls it, its year without the century.
    pub(super) fn spring_day(&self, year: i64, days: i64) -> String {
        // The year in which a country went over is told by the new calendar.
        let march = if year < self.last_julian.0 { julian_days_to(year, 3, 1) } else { days_to(year, 3, 1) };
        let (mut month, mut day) = (3, days - march + 1);
        for length in LENGTHS.into_iter().skip(2).map(i64::from) {
            if day <= length {
                break;
            }
            (month, day) = (month + 1, day - length);
        }
        format!("{month:02}/{day:02}/{:02}", year.rem_euclid(100))
    }
}

/// The weekday of a day since 1970; 0 is Sunday.
pub(super) fn weekday(days: i64) -> i64 {
    (days + 4).rem_euclid(7)
}

fn julian_days_to(year: i64, month: u32, day: u32) -> i64 {
    // Years are counted from March, so that the leap day comes last.
    let year = if month <= 2 { year - 1 } else { year };
    let month = i64::from((month + 9) % 12);
    year.div_euclid(4) * 1461 + year.rem_euclid(4) * 365 + (153 * month + 2) / 5 + i64::from(day) - 1 - 719_470
}

/// The first Sunday after the full moon of spring, by the cycle of 19 years.
fn julian_easter(year: i64) -> i64 {
    let moon = (19 * (year % 19) + 15) % 30;
    let full = julian_days_to(year, 3, 21) + moon;
    full + 7 - weekday(full)
}

/// The same by the calendar that leaves out leap days of centuries and mends the moon's cycle.
fn gregorian_easter(year: i64) -> i64 {
    let century = year / 100;
    let mended = (15 - (13 + 8 * century) / 25 + century - century / 4) % 30;
    let golden = year % 19;
    let moon = (19 * golden + mended) % 30;
    let moon = moon - i64::from(moon == 29 || (moon == 28 && golden > 10));
    let full = days_to(year, 3, 21) + moon;
    full + 7 - weekday(full)
}
