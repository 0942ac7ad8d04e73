//! Layout of months side by side.

use tidebox_gnu::calendar::{DAYS, MONTHS};

use super::date::{self, Day};

/// Maximum number of weeks of a month.
const WEEKS: usize = 6;

/// Months to print and their layout.
#[derive(Debug)]
pub(super) struct Page {
    /// Days have their number in the year.
    pub(super) days_of_year: bool,
    /// Months since the year 0.
    pub(super) first: i64,
    pub(super) count: i64,
}

/// A month as weeks of seven days.
struct Month {
    year: i64,
    name: &'static str,
    weeks: [[Option<Day>; 7]; WEEKS],
}

impl Month {
    fn new(at: i64) -> Self {
        let (year, month) = (at.div_euclid(12), u32::try_from(at.rem_euclid(12)).unwrap_or(0) + 1);
        let (weekday, days) = date::month(year, month);
        let mut weeks = [[None; 7]; WEEKS];
        for (cell, day) in weeks.iter_mut().flatten().skip(usize::try_from(weekday).unwrap_or(0)).zip(days) {
            *cell = Some(day);
        }
        Self { year, name: MONTHS.get(month as usize - 1).copied().unwrap_or_default(), weeks }
    }
}

impl Page {
    pub(super) fn print(&self) -> String {
        let mut out = String::new();
        let in_row = if self.days_of_year { 2 } else { 3 };
        // Each row has months of one year if rows start where those of a whole year start. The year is then a heading.
        let headed = self.count >= in_row as i64 && self.first.rem_euclid(in_row as i64) == 0;
        let months: Vec<Month> = (self.first..self.first + self.count).map(Month::new).collect();
        let mut year = None;
        for (at, row) in months.chunks(in_row).enumerate() {
            if at > 0 {
                out.push('\n');
            }
            let of_row = row.first().map(|month| month.year);
            if headed && of_row != year {
                let title = of_row.map(|year| year.to_string()).unwrap_or_default();
                let margin = (in_row * self.width()).saturating_sub(title.len()) / 2;
                out.push_str(&format!("{:margin$}{title}\n", ""));
                year = of_row;
            }
            self.print_row(row, headed, &mut out);
        }
        out
    }

    /// Columns of a day.
    fn cell(&self) -> usize {
        if self.days_of_year { 4 } else { 3 }
    }

    /// Columns of a month, without the gap after it.
    fn width(&self) -> usize {
        7 * self.cell() - 1
    }

    fn print_row(&self, row: &[Month], headed: bool, out: &mut String) {
        let (cell, width) = (self.cell(), self.width());
        for month in row {
            let title = if headed { month.name.to_owned() } else { format!("{} {}", month.name, month.year) };
            let margin = width.saturating_sub(title.len()) / 2;
            out.push_str(&format!("{:full$}", format!("{:margin$}{title}", ""), full = width + 2));
        }
        out.push('\n');
        // The first day of a week has no gap before it.
        let width_at = |at: usize| if at == 0 { cell - 1 } else { cell };
        for _ in row {
            for (at, name) in DAYS.iter().enumerate() {
                out.push_str(&format!("{:>width$}", name.get(..2).unwrap_or_default(), width = width_at(at)));
            }
            out.push_str("  ");
        }
        out.push('\n');
        for week in 0..WEEKS {
            for month in row {
                for (at, day) in month.weeks.get(week).into_iter().flatten().enumerate() {
                    let day = match day {
                        None => String::new(),
                        Some(day) if self.days_of_year => day.of_year.to_string(),
                        Some(day) => day.of_month.to_string(),
                    };
                    out.push_str(&format!("{day:>width$}", width = width_at(at)));
                }
                out.push_str("  ");
            }
            out.push('\n');
        }
    }
}
