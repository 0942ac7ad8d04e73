//! The command lines of `cal` and `ncal`.

use tidebox_gnu::calendar::MONTHS;
use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::print_error;

use super::country;
use super::date::Calendar;
use super::page::Page;

const USAGE: &str = "\
Usage: cal [general options] [-jy] [[month] year]
       cal [general options] [-j] [-m month] [year]
       ncal -C [general options] [-jy] [[month] year]
       ncal -C [general options] [-j] [-m month] [year]
       ncal [general options] [-bhJjpwySM] [-H yyyy-mm-dd] [-s country_code] [-W number of days] [[month] year]
       ncal [general options] [-Jeo] [year]
General options: [-31] [-A months] [-B months] [-d yyyy-mm]
";

/// More months than the years that have a number; a page is printed as a whole.
const MAX_MONTHS: u32 = 120_000;

/// Parsed options.
#[derive(Default)]
struct CalOptions {
    across: bool,
    julian_days: bool,
    year: bool,
    three: bool,
    month: Option<Vec<u8>>,
    today: Option<Vec<u8>>,
    before: u32,
    after: u32,
    country: Option<String>,
    old_style: bool,
    easter: Option<bool>,
    list: bool,
    weeks: bool,
    week_days: Option<i64>,
    monday: bool,
    /// Options that only `ncal` without `-C` supports.
    down_only: bool,
}

/// The page that a command line asks for in that month.
pub(super) fn read(tool: &str, arguments: Vec<Vec<u8>>, year: i64, month: u32) -> Result<Page, ToolResult> {
    let ncal = tool == "ncal";
    let mut given = CalOptions { across: !ncal, ..CalOptions::default() };
    let short = if ncal { "13A:BbB:Cd:eH:hjJMm:noprSs:W:wy" } else { "13A:B:d:hjm:yeoJpwbSMs:H:W:C" };
    let line = CommandLine { permute: true, ..CommandLine::new(tool, short, &[], "") };
    let operands = line.parse::<ToolResult>(arguments, |key, value| letter(tool, &mut given, key, value));
    let operands = match operands {
        Err(ToolResult::Usage(message, _)) => {
            // There are no long options, so that their second dash is a letter.
            let message =
                if message.starts_with("unrecognized") { "invalid option -- '-'".to_owned() } else { message };
            print_error(tool, &message);
            return Err(wrong());
        }
        other => other?,
    };
    if given.down_only && given.across {
        return Err(wrong());
    }
    if given.list {
        return Err(ToolResult::from(country::list().as_str()));
    }
    page(&given, &operands, year, month)
}

fn wrong() -> ToolResult {
    tidebox_gnu::eprint_part!("{USAGE}");
    ToolResult::Code(64)
}

fn letter(tool: &str, given: &mut CalOptions, key: char, value: Vec<u8>) -> Result<(), ToolResult> {
    match key {
        '1' => (given.three, given.before, given.after) = (false, 0, 0),
        '3' => given.three = true,
        'A' => given.after = leading_number(&value),
        'B' => given.before = leading_number(&value),
        'C' => given.across = true,
        'b' if tool == "ncal" => given.across = true,
        'd' => given.today = Some(value),
        // No day is highlighted without a terminal.
        'h' if tool == "ncal" => {}
        'j' => given.julian_days = true,
        'm' => given.month = Some(value),
        'y' => given.year = true,
        key => {
            given.down_only = given.down_only || tool == "cal" || matches!(key, 'e' | 'o');
            match key {
                'e' | 'o' => given.easter = Some(key == 'o'),
                'J' => given.old_style = true,
                'M' => given.monday = true,
                'S' => given.monday = false,
                'p' => given.list = true,
                's' => given.country = Some(String::from_utf8_lossy(&value).into_owned()),
                'w' => given.weeks = true,
                'W' => given.week_days = Some(i64::from(leading_number(&value))),
                _ => {}
            }
        }
    }
    Ok(())
}

/// As C reads numbers: what is none is 0.
fn leading_number(text: &[u8]) -> u32 {
    let digits: String = text.iter().take_while(|byte| byte.is_ascii_digit()).map(|byte| char::from(*byte)).collect();
    digits.parse().unwrap_or(0)
}

/// The calendar that was in use where it is asked for.
fn calendar_of(given: &CalOptions) -> Result<Calendar, String> {
    let usual = || country::calendar(country::DEFAULT).unwrap_or(Calendar::julian());
    match &given.country {
        // Weeks across know one calendar only.
        _ if given.across => Ok(usual()),
        _ if given.old_style => Ok(Calendar::julian()),
        Some(code) => country::calendar(code).ok_or_else(|| format!("{code}: invalid country code")),
        None => Ok(usual()),
    }
}

/// The day of Easter, which is computed in the calendar that churches kept.
fn easter(calendar: Calendar, year: i64, orthodox: bool) -> ToolResult {
    let kept = country::calendar(country::DEFAULT).unwrap_or(calendar);
    let easter = kept.easter(year, orthodox);
    let shown = if orthodox { calendar } else { kept };
    ToolResult::Print(format!("{}\n", shown.spring_day(year, easter)).into_bytes())
}

fn page(given: &CalOptions, operands: &[Vec<u8>], year: i64, month: u32) -> Result<Page, ToolResult> {
    let fail = |message: String| ToolResult::Failure(message, 64);
    let calendar = calendar_of(given).map_err(fail)?;
    let (mut year, mut month) = match &given.today {
        None => (year, month),
        Some(text) => month_of(text).ok_or_else(wrong)?,
    };
    let (named_month, named_year) = match operands {
        [] => (given.month.as_deref(), None),
        [only] => (given.month.as_deref(), Some(only.as_slice())),
        [first, second] => (Some(first.as_slice()), Some(second.as_slice())),
        _ => return Err(wrong()),
    };
    let mut whole_year = given.year;
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
                (Shift::Following, Some(_)) => i64::from(given.month.is_none()),
                (Shift::Previous, Some(_)) => -1,
            };
        }
        None => whole_year = whole_year || named_year.is_some(),
    }
    if let Some(orthodox) = given.easter {
        return Err(easter(calendar, year, orthodox));
    }
    if given.three && named_year.is_some() && named_month.is_none() && !given.year {
        return Err(fail("-3 together with a given year but no given month is not supported.".to_owned()));
    }
    let mut page = Page {
        calendar,
        across: given.across,
        julian_days: given.julian_days,
        monday: given.monday,
        weeks: given.weeks,
        week_days: given.week_days.map_or(4, |days| days.clamp(1, 7)),
        first: year * 12 + i64::from(month) - 1,
        count: 1,
    };
    if whole_year {
        (page.first, page.count) = (year * 12, 12);
    } else if given.three {
        (page.first, page.count) = (page.first - 1, 3);
    }
    page.count += i64::from(given.before.min(MAX_MONTHS)) + i64::from(given.after.min(MAX_MONTHS));
    page.first -= i64::from(given.before.min(MAX_MONTHS));
    Ok(page)
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

/// Whether a month is the one before today's or the one after it.
enum Shift {
    None,
    Following,
    Previous,
}

/// A month by its number, with `p` or `f` behind it, or its name.
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

/// `YYYY-MM`; months beyond twelve run into the next years.
fn month_of(text: &[u8]) -> Option<(i64, u32)> {
    let text = std::str::from_utf8(text).ok()?;
    let (year, month) = text.split_once('-').unwrap_or((text, "0"));
    let months = year.parse::<i64>().ok().filter(|year| (1..=9999).contains(year))? * 12
        + month.parse::<i64>().ok()?.clamp(0, 999)
        - 1;
    Some((months.div_euclid(12), u32::try_from(months.rem_euclid(12)).ok()? + 1))
}
