//! Months side by side.

use tidebox_gnu::calendar::{DAYS, MONTHS};

use super::date::{Calendar, Day};

/// Weeks that a month can touch.
const WEEKS: usize = 6;

/// Months to show and their layout.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) calendar: Calendar,
    /// Weeks are rows, as `cal` has them, not columns.
    pub(super) across: bool,
    /// Days are counted from the year's first.
    pub(super) julian_days: bool,
    /// Weeks begin on Monday.
    pub(super) monday: bool,
    /// Weeks have numbers.
    pub(super) weeks: bool,
    /// How many days of a week must lie in a year for being its first.
    pub(super) week_days: i64,
    /// Months since the year 0.
    pub(super) first: i64,
    pub(super) count: i64,
}

/// A month as cells: six weeks of seven days.
struct Month {
    year: i64,
    name: &'static str,
    weeks: [[Option<Day>; 7]; WEEKS],
    numbers: [Option<i64>; WEEKS],
}

impl Page {
    pub(super) fn print(&self) -> String {
        let mut out = String::new();
        let in_row = self.in_row();
        // Months have their year above them where every row is of one year: where rows begin as those of a whole year do.
        let headed = self.count >= in_row as i64 && self.first.rem_euclid(in_row as i64) == 0;
        let months: Vec<Month> = (self.first..self.first + self.count).map(|at| self.month(at)).collect();
        let mut year = None;
        for (at, row) in months.chunks(in_row).enumerate() {
            if at > 0 {
                out.push('\n');
            }
            let of_row = row.first().map(|month| month.year);
            if headed && of_row != year {
                let title = of_row.map(|year| year.to_string()).unwrap_or_default();
                let width = in_row * self.heading_width();
                out.push_str(&format!("{}{title}\n", " ".repeat(width.saturating_sub(title.len()) / 2)));
                year = of_row;
            }
            if self.across { self.rows_across(row, headed, &mut out) } else { self.rows_down(row, headed, &mut out) }
        }
        out
    }

    fn in_row(&self) -> usize {
        match (self.across, self.julian_days) {
            (true, true) => 2,
            (false, false) => 4,
            _ => 3,
        }
    }

    /// Columns of a cell.
    fn cell(&self) -> usize {
        if self.julian_days { 4 } else { 3 }
    }

    fn heading_width(&self) -> usize {
        match (self.across, self.julian_days) {
            (true, julian) => 7 * if julian { 4 } else { 3 } - 1 + if self.weeks { 5 } else { 0 },
            (false, _) => self.cell() * WEEKS,
        }
    }

    fn month(&self, at: i64) -> Month {
        let (year, month) = (at.div_euclid(12), u32::try_from(at.rem_euclid(12)).unwrap_or(0) + 1);
        let (weekday, days) = self.calendar.month(year, month);
        let offset = usize::try_from((weekday - i64::from(self.monday)).rem_euclid(7)).unwrap_or(0);
        let mut made = Month {
            year,
            name: MONTHS.get(month as usize - 1).copied().unwrap_or_default(),
            weeks: [[None; 7]; WEEKS],
            numbers: [None; WEEKS],
        };
        for (cell, day) in made.weeks.iter_mut().flatten().skip(offset).zip(&days) {
            *cell = Some(*day);
        }
        for (number, week) in made.numbers.iter_mut().zip(&made.weeks) {
            let at = week.iter().position(Option::is_some);
            if let Some((at, day)) = at.and_then(|at| Some((at, week.get(at).copied().flatten()?))) {
                let begin = day.of_year - i64::try_from(at).unwrap_or(0);
                *number = Some(self.week_number(year, begin));
            }
        }
        made
    }

    /// The number of the week that begins on a day of the year, which may lie before its first or after its last.
    fn week_number(&self, year: i64, begin: i64) -> i64 {
        let length = |year: i64| self.calendar.days_to(year + 1, 1, 1) - self.calendar.days_to(year, 1, 1);
        if begin + 6 - length(year) >= self.week_days {
            return 1;
        }
        // A week that began in the year before has so many days in this one.
        let shared = (begin - 1).rem_euclid(7);
        let first = if shared >= self.week_days { shared - 6 } else { shared + 1 };
        if begin < first { self.week_number(year - 1, begin + length(year - 1)) } else { (begin - first) / 7 + 1 }
    }

    fn rows_across(&self, row: &[Month], headed: bool, out: &mut String) {
        let cell = self.cell();
        let (prefix, tail) = if self.weeks { (3, "   ") } else { (0, "  ") };
        let width = 7 * cell - 1;
        for month in row {
            let title = if headed { month.name.to_owned() } else { format!("{} {}", month.name, month.year) };
            let across = if self.weeks { width + 5 } else { width };
            let left = across.saturating_sub(title.len()) / 2;
            let full = if self.weeks { width + 7 } else { width + 2 };
            out.push_str(&format!("{:full$}", format!("{}{title}", " ".repeat(left))));
        }
        out.push('\n');
        for _ in row {
            if self.weeks {
                out.push_str(" w|");
            }
            self.names().enumerate().for_each(|(at, name)| {
                let lead = if prefix == 0 && at == 0 { cell - 3 } else { cell - 2 };
                out.push_str(&format!("{}{name}", " ".repeat(lead)));
            });
            out.push_str(tail);
        }
        out.push('\n');
        for week in 0..WEEKS {
            for month in row {
                let number = month.numbers.get(week).copied().flatten();
                if self.weeks {
                    out.push_str(&number.map_or("   ".to_owned(), |number| format!("{number:>2}|")));
                }
                for (at, day) in month.weeks.get(week).into_iter().flatten().enumerate() {
                    let width = if prefix == 0 && at == 0 { cell - 1 } else { cell };
                    out.push_str(&self.shown(*day, width));
                }
                out.push_str(tail);
            }
            out.push('\n');
        }
    }

    fn rows_down(&self, row: &[Month], headed: bool, out: &mut String) {
        let width = self.cell() * WEEKS;
        out.push_str("    ");
        for month in row {
            let title = if headed { month.name.to_owned() } else { format!("{} {}", month.name, month.year) };
            out.push_str(&format!("{title:width$}"));
        }
        out.push('\n');
        for (at, name) in self.names().enumerate() {
            out.push_str(name);
            for week in row.iter().flat_map(|month| &month.weeks) {
                out.push_str(&self.shown(week.get(at).copied().flatten(), self.cell()));
            }
            out.push('\n');
        }
        if self.weeks {
            out.push_str("  ");
            let cell = self.cell();
            for number in row.iter().flat_map(|month| month.numbers) {
                out.push_str(&number.map_or(" ".repeat(cell), |number| format!("{number:>cell$}")));
            }
            out.push('\n');
        }
    }

    /// The first two letters of the days.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        DAYS.iter().cycle().skip(usize::from(self.monday)).take(7).filter_map(|name| name.get(..2))
    }

    fn shown(&self, day: Option<Day>, width: usize) -> String {
        match day {
            None => " ".repeat(width),
            Some(day) if self.julian_days => format!("{:>width$}", day.of_year),
            Some(day) => format!("{:>width$}", day.of_month),
        }
    }
}
