//! Calendar: Julian until September 2, 1752, then Gregorian.

use tidebox_gnu::calendar::days_to;

/// Number of days of each month, without the leap day.
const LENGTHS: [u32; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// The last day of the Julian calendar in Great Britain and its colonies.
const LAST_JULIAN: (i64, u32, u32) = (1752, 9, 2);

/// A day, by its number in the month and in the year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Day {
    pub(super) of_month: u32,
    pub(super) of_year: i64,
}

/// Returns the weekday of the first day of a month (0 is Sunday), and its days. September 1752 has 19 days.
pub(super) fn month(year: i64, month: u32) -> (i64, Vec<Day>) {
    let gregorian_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let leap = if (year, month, 29) <= LAST_JULIAN { year % 4 == 0 } else { gregorian_leap };
    let length = LENGTHS.get(month as usize - 1).copied().unwrap_or(31) + u32::from(month == 2 && leap);
    let begin = days(year, 1, 1);
    let exists = |day: &u32| (year, month) != (1752, 9) || !(3..14).contains(day);
    let numbers =
        (1..=length).filter(exists).map(|day| Day { of_month: day, of_year: days(year, month, day) - begin + 1 });
    // January 1, 1970 was a Thursday.
    ((days(year, month, 1) + 4).rem_euclid(7), numbers.collect())
}

/// Returns the number of days from 1970 to a date.
fn days(year: i64, month: u32, day: u32) -> i64 {
    if (year, month, day) <= LAST_JULIAN { julian_days(year, month, day) } else { days_to(year, month, day) }
}

fn julian_days(year: i64, month: u32, day: u32) -> i64 {
    // Years start in March, so that the leap day is the last day.
    let year = if month <= 2 { year - 1 } else { year };
    let month = i64::from((month + 9) % 12);
    year.div_euclid(4) * 1461 + year.rem_euclid(4) * 365 + (153 * month + 2) / 5 + i64::from(day) - 1 - 719_470
}
