//! `date`: prints times in many formats. The clock of a sandbox cannot be set.

use tidebox_gnu::choice::parse_choice;
use tidebox_gnu::datetime::{Instant, parse};
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::{path_label, print_error, quote_value};
use tidebox_gnu::options::Syntax;
use tidebox_gnu::stream::{Input, Output};
use tidebox_gnu::strftime::format;
use tidebox_gnu::zone::Zone;

const USAGE: &str = "\
Usage: date [OPTION]... [+FORMAT]
  or:  date [-u|--utc|--universal] [MMDDhhmm[[CC]YY][.ss]]
Prints the time in FORMAT. The clock of the sandbox cannot be set.

";

const NOTES: &str = "\n\
FORMAT holds fields: %Y year, %m month, %d day, %H hour, %M minute, %S second, %N nanoseconds, %s seconds since 1970,
%F %T date and time, %a %A day of the week, %b %B month, %j day of the year, %U %V %W week, %p half of the day, %z %Z zone.
Between % and the letter: - no padding, _ spaces, 0 zeros, ^ capitals, # the other case, and a width.
";

tidebox_gnu::options! {
    /// Options of `date`.
    enum Flag {
        Date = "-d, --date=STRING", "print the time described by STRING, not the current time";
        File = "-f, --file=DATEFILE", "like --date for each line of DATEFILE";
        Iso8601 = "-I[FMT], --iso-8601[=FMT]", "ISO 8601 format: date, hours, minutes, seconds or ns";
        Resolution = "--resolution", "print the resolution of the clock: 0.000000001";
        Rfc822 = "-R, --rfc-email | --rfc-822, --rfc-2822", "mail format: Mon, 14 Aug 2006 02:34:56 -0600";
        Rfc3339 = "--rfc-3339=FMT", "RFC 3339 format: date, seconds or ns";
        Reference = "-r, --reference=FILE", "print the modification time of FILE";
        Set = "-s, --set=STRING", "not permitted in the sandbox";
        Uct = "-u, --utc, --universal | --uct", "use UTC";
        Debug = "--debug", "", unsupported "--debug is not supported";
    }
}

const LINE: Syntax<'_, Flag> = Syntax { notes: NOTES, ..Syntax::core("date", USAGE, 29) };

const DEFAULT_FORMAT: &[u8] = b"%a %b %e %H:%M:%S %Z %Y";

/// Parsed options: source and format of the time.
#[derive(Debug, Default)]
struct Args {
    date: Option<Vec<u8>>,
    date_file: Option<Vec<u8>>,
    reference: Option<Vec<u8>>,
    resolution: bool,
    set: Option<Vec<u8>>,
    form: Option<Vec<u8>>,
    utc: bool,
}

/// Runs `date`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    run(arguments).unwrap_or_else(|error| error)
}

fn run(arguments: Vec<Vec<u8>>) -> Result<ToolResult, ToolResult> {
    let mut args = Args::default();
    let mut sources = 0;
    let operands = LINE.parse::<ToolResult>(arguments, |key, value| {
        sources += usize::from(match key {
            Flag::Date => args.date.replace(value).is_none(),
            Flag::File => args.date_file.replace(value).is_none(),
            Flag::Reference => args.reference.replace(value).is_none(),
            Flag::Resolution => !std::mem::replace(&mut args.resolution, true),
            key => {
                args.set(key, value)?;
                false
            }
        });
        Ok(())
    })?;
    if sources > 1 {
        return Err(LINE.usage_error("the options to specify dates for printing are mutually exclusive"));
    }
    if args.set.is_some() && sources > 0 {
        return Err(LINE.usage_error("the options to print and set the time may not be used together"));
    }
    let mut operands = operands.into_iter();
    let first = operands.next();
    if let Some(extra) = operands.next() {
        return Err(LINE.usage_error(format!("extra operand {}", quote_value(&extra))));
    }
    let mut stamp = None;
    if let Some(operand) = first {
        match operand.strip_prefix(b"+") {
            Some(_) if args.form.is_some() => return Err(several()),
            Some(form) => args.form = Some(form.to_vec()),
            None if args.set.is_some() || sources > 0 => {
                let message = format!(
                    "the argument {} lacks a leading '+';\nwhen using an option to specify date(s), any non-option\n\
                     argument must be a format string beginning with '+'",
                    quote_value(&operand)
                );
                return Err(LINE.usage_error(message));
            }
            None => stamp = Some(operand),
        }
    }
    args.print(stamp)
}

fn several() -> ToolResult {
    ToolResult::Failure("multiple output formats specified".to_owned(), 1)
}

impl Args {
    /// Applies an option that does not select the source of the time.
    fn set(&mut self, key: Flag, value: Vec<u8>) -> Result<(), ToolResult> {
        let invalid = |message: String| LINE.usage_error::<ToolResult>(message);
        let form: &[u8] = match key {
            Flag::Set => {
                self.set = Some(value);
                return Ok(());
            }
            Flag::Uct => {
                self.utc = true;
                return Ok(());
            }
            Flag::Iso8601 => {
                let units: &[&[&str]] = &[&["hours"], &["minutes"], &["date"], &["seconds"], &["ns"]];
                let at =
                    if value.is_empty() { 2 } else { parse_choice("--iso-8601", &value, units).map_err(invalid)? };
                match at {
                    0 => b"%Y-%m-%dT%H%:z",
                    1 => b"%Y-%m-%dT%H:%M%:z",
                    2 => b"%Y-%m-%d",
                    3 => b"%Y-%m-%dT%H:%M:%S%:z",
                    _ => b"%Y-%m-%dT%H:%M:%S,%N%:z",
                }
            }
            Flag::Rfc822 => b"%a, %d %b %Y %H:%M:%S %z",
            Flag::Rfc3339 => {
                let units: &[&[&str]] = &[&["date"], &["seconds"], &["ns"]];
                match parse_choice("--rfc-3339", &value, units).map_err(invalid)? {
                    0 => b"%Y-%m-%d",
                    1 => b"%Y-%m-%d %H:%M:%S%:z",
                    _ => b"%Y-%m-%d %H:%M:%S.%N%:z",
                }
            }
            _ => return Ok(()),
        };
        match self.form.replace(form.to_vec()) {
            Some(_) => Err(several()),
            None => Ok(()),
        }
    }

    /// Determines the time and prints it.
    fn print(self, stamp: Option<Vec<u8>>) -> Result<ToolResult, ToolResult> {
        let zone = if self.utc { Zone::utc() } else { Zone::of_environment() };
        let form = self.form.as_deref().unwrap_or(if self.resolution { b"%s.%N" } else { DEFAULT_FORMAT });
        let now = tidebox_rt::realtime_ns();
        let now = instant(now);
        let invalid = |text: &[u8]| ToolResult::Failure(format!("invalid date {}", quote_value(text)), 1);
        if let Some(lines) = &self.date_file {
            return print_lines(lines, form, now, &zone);
        }
        let mut code = 0;
        let time = match () {
            () if self.resolution => (0, 1),
            () if self.date.is_some() => {
                let text = self.date.as_deref().unwrap_or_default();
                parse(text, now, &zone).ok_or_else(|| invalid(text))?
            }
            () if self.reference.is_some() => {
                let file = self.reference.as_deref().unwrap_or_default();
                let stat = tidebox_rt::stat(file, true);
                let stat =
                    stat.map_err(|errno| ToolResult::Failure(format!("{}: {}", path_label(file), errno.text()), 1))?;
                instant(stat.mtime_ns)
            }
            () if stamp.is_some() || self.set.is_some() => {
                let time = match (&stamp, &self.set) {
                    (Some(stamp), _) => {
                        tidebox_gnu::posix_time::posix(stamp, now, &zone, false).ok_or_else(|| invalid(stamp))?
                    }
                    (None, set) => {
                        let text = set.as_deref().unwrap_or_default();
                        parse(text, now, &zone).ok_or_else(|| invalid(text))?
                    }
                };
                print_error("date", "cannot set date: Operation not permitted");
                code = 1;
                time
            }
            () => now,
        };
        let mut text = format(form, time, &zone);
        text.push(b'\n');
        Ok(ToolResult::PrintAndCode(text, code))
    }
}

/// Converts nanoseconds to seconds and nanoseconds.
fn instant(ns: u64) -> Instant {
    (i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX), u32::try_from(ns % 1_000_000_000).unwrap_or(0))
}

/// Prints one time per line of a file.
fn print_lines(file: &[u8], form: &[u8], now: Instant, zone: &Zone) -> Result<ToolResult, ToolResult> {
    let failed = |errno: tidebox_rt::Errno| ToolResult::Failure(format!("{}: {}", path_label(file), errno.text()), 1);
    let mut input = Input::open(file).map_err(failed)?;
    let (mut out, mut line, mut code) = (Output::standard(), Vec::new(), 0);
    while input.line(b'\n', &mut line).map_err(failed)? {
        let text = line.strip_suffix(b"\n").unwrap_or(&line);
        match parse(text, now, zone) {
            Some(time) => {
                out.push(&format(form, time, zone));
                out.push(b"\n");
            }
            None => {
                out.flush_now();
                print_error("date", &format!("invalid date {}", quote_value(text)));
                code = 1;
            }
        }
    }
    Ok(ToolResult::Code(out.finish("date", code)))
}
