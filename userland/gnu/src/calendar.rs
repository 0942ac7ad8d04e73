//! Dates and times of day, universal and local.

use crate::zone::Zone;

/// Days of the week, Sunday first.
pub const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
/// Months of a year.
pub const MONTHS: [&str; 12] = [
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

/// A broken-down point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Seconds since 1970.
    pub seconds: i64,
    /// Nanoseconds of the second.
    pub nanoseconds: u32,
    /// Year of the Gregorian calendar.
    pub year: i64,
    /// 1 to 12.
    pub month: u32,
    /// 1 to 31.
    pub day: u32,
    /// 0 to 23.
    pub hour: u32,
    /// 0 to 59.
    pub minute: u32,
    /// 0 to 59.
    pub second: u32,
    /// 0 is Sunday.
    pub weekday: u32,
    /// Day of the year, 1 to 366.
    pub year_day: u32,
    /// Offset of the zone of these fields, in seconds east of Greenwich.
    pub offset: i64,
}

impl Moment {
    /// From nanoseconds since 1970.
    pub fn from_ns(ns: u64) -> Self {
        let seconds = i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX);
        Self::new(seconds, u32::try_from(ns % 1_000_000_000).unwrap_or(0))
    }

    /// From nanoseconds since 1970, in the zone of the environment.
    pub fn local_ns(ns: u64) -> Self {
        let Self { seconds, nanoseconds, .. } = Self::from_ns(ns);
        Zone::local().moment(seconds, nanoseconds)
    }

    /// From seconds since 1970.
    pub fn new(seconds: i64, nanoseconds: u32) -> Self {
        let days = seconds.div_euclid(86_400);
        let within = u32::try_from(seconds.rem_euclid(86_400)).unwrap_or(0);
        let (year, month, day) = date_of(days);
        let weekday = u32::try_from((days + 4).rem_euclid(7)).unwrap_or(0);
        let year_day = u32::try_from(days - days_to(year, 1, 1)).unwrap_or(0) + 1;
        Self {
            seconds,
            nanoseconds,
            year,
            month,
            day,
            hour: within / 3600,
            minute: within / 60 % 60,
            second: within % 60,
            weekday,
            year_day,
            offset: 0,
        }
    }

    /// Formats one field like `strftime` in the C locale. `None` if the field does not exist.
    pub fn field(&self, letter: char) -> Option<String> {
        let day_name = DAYS.get(self.weekday as usize).copied().unwrap_or("");
        let month_name = MONTHS.get((self.month as usize).wrapping_sub(1)).copied().unwrap_or("");
        let hour12 = if self.hour.is_multiple_of(12) { 12 } else { self.hour % 12 };
        Some(match letter {
            'a' => day_name.get(..3)?.to_owned(),
            'A' => day_name.to_owned(),
            'b' | 'h' => month_name.get(..3)?.to_owned(),
            'B' => month_name.to_owned(),
            'c' => {
                format!("{} {} {:>2} {} {}", self.field('a')?, self.field('b')?, self.day, self.field('T')?, self.year)
            }
            'C' => format!("{:02}", self.year.div_euclid(100)),
            'd' => format!("{:02}", self.day),
            'D' | 'x' => format!("{:02}/{:02}/{:02}", self.month, self.day, self.year.rem_euclid(100)),
            'e' => format!("{:>2}", self.day),
            'F' => format!("{}-{:02}-{:02}", self.year, self.month, self.day),
            'g' => format!("{:02}", self.iso_week().0.rem_euclid(100)),
            'G' => self.iso_week().0.to_string(),
            'H' => format!("{:02}", self.hour),
            'I' => format!("{hour12:02}"),
            'j' => format!("{:03}", self.year_day),
            'k' => format!("{:>2}", self.hour),
            'l' => format!("{hour12:>2}"),
            'm' => format!("{:02}", self.month),
            'M' => format!("{:02}", self.minute),
            'p' => if self.hour < 12 { "AM" } else { "PM" }.to_owned(),
            'r' => format!("{hour12:02}:{:02}:{:02} {}", self.minute, self.second, self.field('p')?),
            'R' => format!("{:02}:{:02}", self.hour, self.minute),
            's' => self.seconds.to_string(),
            'S' => format!("{:02}", self.second),
            'T' | 'X' => format!("{:02}:{:02}:{:02}", self.hour, self.minute, self.second),
            'u' => if self.weekday == 0 { 7 } else { self.weekday }.to_string(),
            'U' => format!("{:02}", (self.year_day + 6 - self.weekday) / 7),
            'V' => format!("{:02}", self.iso_week().1),
            'w' => self.weekday.to_string(),
            'W' => format!("{:02}", (self.year_day + 6 - (self.weekday + 6) % 7) / 7),
            'y' => format!("{:02}", self.year.rem_euclid(100)),
            'Y' => self.year.to_string(),
            'z' => {
                let minutes = self.offset.unsigned_abs() / 60;
                format!("{}{:02}{:02}", if self.offset < 0 { '-' } else { '+' }, minutes / 60, minutes % 60)
            }
            _ => return None,
        })
    }

    /// ISO 8601 year and week number: a week belongs to the year of its Thursday.
    fn iso_week(&self) -> (i64, u32) {
        let monday_based = i64::from((self.weekday + 6) % 7);
        let thursday = self.seconds.saturating_add(self.offset).div_euclid(86_400) - monday_based + 3;
        let (year, _, _) = date_of(thursday);
        let week = (thursday - days_to(year, 1, 1)) / 7 + 1;
        (year, u32::try_from(week).unwrap_or(0))
    }
}

/// Days from 1970 to a date. The year is counted from March, so that the leap day comes last.
pub fn days_to(year: i64, month: u32, day: u32) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let within = year.rem_euclid(400);
    let month = i64::from((month + 9) % 12);
    let year_day = (153 * month + 2) / 5 + i64::from(day) - 1;
    era * 146_097 + within * 365 + within / 4 - within / 100 + year_day - 719_468
}

fn date_of(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let within = days.rem_euclid(146_097);
    let year = (within - within / 1460 + within / 36_524 - within / 146_096) / 365;
    let year_day = within - (365 * year + year / 4 - year / 100);
    let month = (5 * year_day + 2) / 153;
    let day = u32::try_from(year_day - (153 * month + 2) / 5 + 1).unwrap_or(1);
    let month = u32::try_from(if month < 10 { month + 3 } else { month - 9 }).unwrap_or(1);
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::{Moment, days_to};

    fn written(seconds: i64, letters: &str) -> String {
        let moment = Moment::new(seconds, 0);
        letters.chars().map(|letter| moment.field(letter).expect("a field")).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn fields_read_as_strftime_writes_them() {
        assert_eq!(written(0, "cFTjuwUWVG"), "Thu Jan  1 00:00:00 1970|1970-01-01|00:00:00|001|4|4|00|00|01|1970");
        assert_eq!(written(1_709_210_096, "FTaBjUWVe"), "2024-02-29|12:34:56|Thu|February|060|08|09|09|29");
        assert_eq!(written(1_735_603_200, "FGV"), "2024-12-31|2025|01");
        assert_eq!(written(-1, "FTI"), "1969-12-31|23:59:59|11");
        assert_eq!(written(1_700_000_000, "rkl"), "10:13:20 PM|22|10");
    }

    #[test]
    fn dates_lead_back_to_their_days() {
        for days in (-1_000_000..1_000_000).step_by(997) {
            let moment = Moment::new(days * 86_400, 0);
            assert_eq!(days_to(moment.year, moment.month, moment.day), days);
        }
    }
}
