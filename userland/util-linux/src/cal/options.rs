//! The command line of `cal`.

use tidebox_gnu::calendar::MONTHS;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::print_error;
use tidebox_gnu::options::Syntax;

use super::page::Page;

const USAGE: &str = "\
Usage: cal [general options] [-jy] [[month] year]
       cal [general options] [-j] [-m month] [year]
General options: [-31] [-A months] [-B months] [-d yyyy-mm]
";

tidebox_gnu::options! {
    /// Options of `cal`.
    enum Flag {
        One = "-1", "";
        Three = "-3", "";
        After = "-A MONTHS", "";
        Before = "-B MONTHS", "";
        Across = "-C", "";
        Today = "-d MONTH", "";
        DaysOfYear = "-j", "";
        Month = "-m MONTH", "";
        Year = "-y", "";
        // Debian's `cal` prints its usage for the options of `ncal`.
        OfNcal = "-b, -e, -h, -J, -M, -o, -p, -S, -w", "";
        OfNcalWithValue = "-H DAY, -s CODE, -W DAYS", "";
    }
}

const SYNTAX: Syntax<'_, Flag> = Syntax::new("cal", USAGE, 24);

/// Maximum number of months before or after the selected one. Exceeds the range of years, and bounds the output.
const MAX_MONTHS: u32 = 120_000;

/// Parsed options.
#[derive(Default)]
struct CalOptions {
    days_of_year: bool,
    year: bool,
    three: bool,
    month: Option<Vec<u8>>,
    today: Option<Vec<u8>>,
    before: u32,
    after: u32,
}

/// Returns the page for a command line. The current month is the default.
pub(super) fn parse(arguments: Vec<Vec<u8>>, year: i64, month: u32) -> Result<Page, ToolResult> {
    let mut options = CalOptions::default();
    let operands = SYNTAX.parse::<ToolResult>(arguments, |flag, value| options.set(flag, value));
    match operands {
        Ok(operands) => options.page(&operands, year, month),
        Err(ToolResult::Usage(message, _)) => {
            // `cal` has no long options: the second dash is an invalid letter.
            let message =
                if message.starts_with("unrecognized") { "invalid option -- '-'".to_owned() } else { message };
            print_error("cal", &message);
            Err(usage())
        }
        Err(other) => Err(other),
    }
}

fn usage() -> ToolResult {
    tidebox_gnu::eprint_part!("{USAGE}");
    ToolResult::Code(64)
}

impl CalOptions {
    fn set(&mut self, flag: Flag, value: Vec<u8>) -> Result<(), ToolResult> {
        match flag {
            Flag::One => (self.three, self.before, self.after) = (false, 0, 0),
            Flag::Three => self.three = true,
            Flag::After => self.after = leading_number(&value),
            Flag::Before => self.before = leading_number(&value),
            Flag::Across => {}
            Flag::Today => self.today = Some(value),
            Flag::DaysOfYear => self.days_of_year = true,
            Flag::Month => self.month = Some(value),
            Flag::Year => self.year = true,
            Flag::OfNcal | Flag::OfNcalWithValue => return Err(usage()),
        }
        Ok(())
    }

    fn page(&self, operands: &[Vec<u8>], year: i64, month: u32) -> Result<Page, ToolResult> {
        let fail = |message: String| ToolResult::Failure(message, 64);
        let (mut year, mut month) = match &self.today {
            None => (year, month),
            Some(text) => month_of(text).ok_or_else(usage)?,
        };
        let (named_month, named_year) = match operands {
            [] => (self.month.as_deref(), None),
            [only] => (self.month.as_deref(), Some(only.as_slice())),
            [first, second] => (Some(first.as_slice()), Some(second.as_slice())),
            _ => return Err(usage()),
        };
        let mut whole_year = self.year;
        if let Some(text) = named_year {
            year = year_of(text).map_err(fail)?;
        }
        match named_month {
            Some(text) => {
                let today = month;
                let shift;
                (month, shift) = month_named(text).map_err(fail)?;
                year += match (shift, named_year) {
                    (Shift::None, _) => 0,
                    (Shift::Following, None) => i64::from(month <= today),
                    (Shift::Previous, None) => -i64::from(month >= today),
                    (Shift::Following, Some(_)) => i64::from(self.month.is_none()),
                    (Shift::Previous, Some(_)) => -1,
                };
            }
            None => whole_year = whole_year || named_year.is_some(),
        }
        if self.three && named_year.is_some() && named_month.is_none() && !self.year {
            return Err(fail("-3 together with a given year but no given month is not supported.".to_owned()));
        }
        let first = year * 12 + i64::from(month) - 1;
        let (first, count) = match (whole_year, self.three) {
            (true, _) => (year * 12, 12),
            (false, true) => (first - 1, 3),
            (false, false) => (first, 1),
        };
        let (before, after) = (i64::from(self.before.min(MAX_MONTHS)), i64::from(self.after.min(MAX_MONTHS)));
        Ok(Page { days_of_year: self.days_of_year, first: first - before, count: count + before + after })
    }
}

/// Parses leading digits like `atoi`; without any returns 0.
fn leading_number(text: &[u8]) -> u32 {
    let digits: String = text.iter().take_while(|byte| byte.is_ascii_digit()).map(|byte| char::from(*byte)).collect();
    digits.parse().unwrap_or(0)
}

fn year_of(text: &[u8]) -> Result<i64, String> {
    let shown = String::from_utf8_lossy(text);
    if text.is_empty() || !text.iter().all(u8::is_ascii_digit) {
        return Err(format!("not a valid year {shown}"));
    }
    match shown.parse() {
        Ok(year @ 1..=9999) => Ok(year),
        _ => Err(format!("year `{shown}' not in range 1..9999")),
    }
}

/// Position of a month relative to the current one.
enum Shift {
    None,
    Following,
    Previous,
}

/// Parses a month: its name, or its number, optionally followed by `p` or `f`.
fn month_named(text: &[u8]) -> Result<(u32, Shift), String> {
    let shown = String::from_utf8_lossy(text);
    let unknown = || format!("{shown} is neither a month number (1..12) nor a name");
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if digits == 0 {
        let at = (text.len() >= 3).then(|| {
            MONTHS.iter().position(|month| {
                month.as_bytes().get(..text.len()).is_some_and(|head| head.eq_ignore_ascii_case(text))
            })
        });
        let month = at.flatten().ok_or_else(unknown)?;
        return Ok((u32::try_from(month).unwrap_or(0) + 1, Shift::None));
    }
    let number = shown.get(..digits).and_then(|digits| digits.parse::<u32>().ok());
    let month = number.filter(|month| (1..=12).contains(month)).ok_or_else(unknown)?;
    match text.get(digits..) {
        Some(b"") => Ok((month, Shift::None)),
        Some(b"f") => Ok((month, Shift::Following)),
        Some(b"p") => Ok((month, Shift::Previous)),
        _ => Err(unknown()),
    }
}

/// Parses `YYYY-MM`. Months above twelve continue in the next year.
fn month_of(text: &[u8]) -> Option<(i64, u32)> {
    let text = std::str::from_utf8(text).ok()?;
    let (year, month) = text.split_once('-').unwrap_or((text, "0"));
    let months = year.parse::<i64>().ok().filter(|year| (1..=9999).contains(year))? * 12
        + month.parse::<i64>().ok()?.clamp(0, 999)
        - 1;
    Some((months.div_euclid(12), u32::try_from(months.rem_euclid(12)).ok()? + 1))
}
