//! `date`: tells points in time in many forms. The clock of a sandbox cannot be set.

use tidebox_gnu::answer::Answer;
use tidebox_gnu::choice::choose;
use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::datetime::{Instant, parse};
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::message::{cited, complain, named};
use tidebox_gnu::stream::{Input, Output};
use tidebox_gnu::strftime::format;
use tidebox_gnu::zone::Zone;

const HELP: &str = "\
Usage: date [OPTION]... [+FORMAT]
  or:  date [-u|--utc|--universal] [MMDDhhmm[[CC]YY][.ss]]
Shows the time in FORMAT. The clock of the sandbox cannot be set.

  -d, --date=STRING          the time that STRING describes, instead of now
  -f, --file=DATEFILE        the same for every line of DATEFILE
  -I[FMT], --iso-8601[=FMT]  as ISO 8601: date, hours, minutes, seconds or ns
      --resolution           how fine the clock is: 0.000000001
  -R, --rfc-email            as in mail: Mon, 14 Aug 2006 02:34:56 -0600
      --rfc-3339=FMT         as RFC 3339: date, seconds or ns
  -r, --reference=FILE       the time of the last change of FILE
  -s, --set=STRING           would set the clock
  -u, --utc, --universal     in universal time

FORMAT holds fields: %Y year, %m month, %d day, %H hour, %M minute, %S second, %N nanoseconds, %s seconds since 1970,
%F %T date and time, %a %A day of the week, %b %B month, %j day of the year, %U %V %W week, %p half of the day, %z %Z zone.
Between % and the letter: - no padding, _ spaces, 0 zeros, ^ capitals, # the other case, and a width.
";

const RFC3339: char = '\u{e001}';
const RESOLUTION: char = '\u{e002}';
const DEBUG: char = '\u{e003}';

const LONG: &[Long] = &[
    long("date", Takes::Value, 'd'),
    long("debug", Takes::Nothing, DEBUG),
    long("file", Takes::Value, 'f'),
    long("iso-8601", Takes::Maybe, 'I'),
    long("reference", Takes::Value, 'r'),
    long("resolution", Takes::Nothing, RESOLUTION),
    long("rfc-822", Takes::Nothing, 'R'),
    long("rfc-2822", Takes::Nothing, 'R'),
    long("rfc-email", Takes::Nothing, 'R'),
    long("rfc-3339", Takes::Value, RFC3339),
    long("set", Takes::Value, 's'),
    long("uct", Takes::Nothing, 'u'),
    long("utc", Takes::Nothing, 'u'),
    long("universal", Takes::Nothing, 'u'),
];

const LINE: CommandLine<'_> = CommandLine::core("date", "d:f:I::r:Rs:u", LONG, HELP);

const USUAL: &[u8] = b"%a %b %e %H:%M:%S %Z %Y";
const LINES_AT_ONCE: u8 = b'\n';

/// Where the time comes from.
#[derive(Debug, Default)]
struct Asked {
    words: Option<Vec<u8>>,
    lines: Option<Vec<u8>>,
    file: Option<Vec<u8>>,
    resolution: bool,
    set: Option<Vec<u8>>,
    form: Option<Vec<u8>>,
    utc: bool,
}

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> Answer {
    answer(arguments).unwrap_or_else(|answer| answer)
}

fn answer(arguments: Vec<Vec<u8>>) -> Result<Answer, Answer> {
    let mut asked = Asked::default();
    let mut sources = 0;
    let empty = arguments.iter().any(|word| word.starts_with(b"--iso") && word.ends_with(b"="));
    let operands = LINE.read::<Answer>(arguments, |key, value| {
        sources += usize::from(match key {
            'd' => asked.words.replace(value).is_none(),
            'f' => asked.lines.replace(value).is_none(),
            'r' => asked.file.replace(value).is_none(),
            RESOLUTION => !std::mem::replace(&mut asked.resolution, true),
            // No word at all is another thing than an empty one.
            'I' if empty && value.is_empty() => {
                asked.set_other(key, b"?".to_vec()).map_err(|answer| match answer {
                    Answer::Usage(message, code) => Answer::Usage(
                        message.replace(
                            &format!("invalid argument {}", cited(b"?")),
                            &format!("ambiguous argument {}", cited(b"")),
                        ),
                        code,
                    ),
                    answer => answer,
                })?;
                false
            }
            key => {
                asked.set_other(key, value)?;
                false
            }
        });
        Ok(())
    })?;
    if sources > 1 {
        return Err(LINE.wrong("the options to specify dates for printing are mutually exclusive"));
    }
    if asked.set.is_some() && sources > 0 {
        return Err(LINE.wrong("the options to print and set the time may not be used together"));
    }
    let mut operands = operands.into_iter();
    let first = operands.next();
    if let Some(extra) = operands.next() {
        return Err(LINE.wrong(format!("extra operand {}", cited(&extra))));
    }
    let mut stamp = None;
    if let Some(operand) = first {
        match operand.strip_prefix(b"+") {
            Some(_) if asked.form.is_some() => return Err(several()),
            Some(form) => asked.form = Some(form.to_vec()),
            None if asked.set.is_some() || sources > 0 => {
                let words = format!(
                    "the argument {} lacks a leading '+';\nwhen using an option to specify date(s), any non-option\n\
                     argument must be a format string beginning with '+'",
                    cited(&operand)
                );
                return Err(LINE.wrong(words));
            }
            None => stamp = Some(operand),
        }
    }
    asked.tell(stamp)
}

fn several() -> Answer {
    Answer::Failure("multiple output formats specified".to_owned(), 1)
}

impl Asked {
    fn set_other(&mut self, key: char, value: Vec<u8>) -> Result<(), Answer> {
        let other_word = |message: String| Answer::Usage(message, 1);
        let form: &[u8] = match key {
            's' => {
                self.set = Some(value);
                return Ok(());
            }
            'u' => {
                self.utc = true;
                return Ok(());
            }
            'I' => {
                let words: &[&[&str]] = &[&["hours"], &["minutes"], &["date"], &["seconds"], &["ns"]];
                let at = if value.is_empty() { 2 } else { choose("--iso-8601", &value, words).map_err(other_word)? };
                match at {
                    0 => b"%Y-%m-%dT%H%:z",
                    1 => b"%Y-%m-%dT%H:%M%:z",
                    2 => b"%Y-%m-%d",
                    3 => b"%Y-%m-%dT%H:%M:%S%:z",
                    _ => b"%Y-%m-%dT%H:%M:%S,%N%:z",
                }
            }
            'R' => b"%a, %d %b %Y %H:%M:%S %z",
            RFC3339 => {
                let words: &[&[&str]] = &[&["date"], &["seconds"], &["ns"]];
                match choose("--rfc-3339", &value, words).map_err(other_word)? {
                    0 => b"%Y-%m-%d",
                    1 => b"%Y-%m-%d %H:%M:%S%:z",
                    _ => b"%Y-%m-%d %H:%M:%S.%N%:z",
                }
            }
            _ => return Err(Answer::Failure("--debug is not supported".to_owned(), 1)),
        };
        match self.form.replace(form.to_vec()) {
            Some(_) => Err(several()),
            None => Ok(()),
        }
    }

    /// Works out the time and tells it.
    fn tell(self, stamp: Option<Vec<u8>>) -> Result<Answer, Answer> {
        let zone = if self.utc { Zone::utc() } else { Zone::of_environment() };
        let form = self.form.as_deref().unwrap_or(if self.resolution { b"%s.%N" } else { USUAL });
        let now = tidebox_rt::realtime_ns();
        let now = instant(now);
        let invalid = |text: &[u8]| Answer::Failure(format!("invalid date {}", cited(text)), 1);
        if let Some(lines) = &self.lines {
            return told_by_lines(lines, form, now, &zone);
        }
        let mut code = 0;
        let time = match () {
            () if self.resolution => (0, 1),
            () if self.words.is_some() => {
                let words = self.words.as_deref().unwrap_or_default();
                parse(words, now, &zone).ok_or_else(|| invalid(words))?
            }
            () if self.file.is_some() => {
                let file = self.file.as_deref().unwrap_or_default();
                let stat = tidebox_rt::stat(file, true);
                let stat = stat.map_err(|errno| Answer::Failure(format!("{}: {}", named(file), errno.text()), 1))?;
                instant(stat.mtime_ns)
            }
            () if stamp.is_some() || self.set.is_some() => {
                let time = match (&stamp, &self.set) {
                    (Some(stamp), _) => {
                        tidebox_gnu::stamp::posix(stamp, now, &zone, false).ok_or_else(|| invalid(stamp))?
                    }
                    (None, set) => {
                        let words = set.as_deref().unwrap_or_default();
                        parse(words, now, &zone).ok_or_else(|| invalid(words))?
                    }
                };
                complain("date", "cannot set date: Operation not permitted");
                code = 1;
                time
            }
            () => now,
        };
        let mut text = format(form, time, &zone);
        text.push(b'\n');
        Ok(Answer::PrintAndCode(text, code))
    }
}

/// A time of files and clocks, in seconds and the rest.
fn instant(ns: u64) -> Instant {
    (i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX), u32::try_from(ns % 1_000_000_000).unwrap_or(0))
}

/// One time for every line of a file.
fn told_by_lines(file: &[u8], form: &[u8], now: Instant, zone: &Zone) -> Result<Answer, Answer> {
    let failed = |errno: tidebox_rt::Errno| Answer::Failure(format!("{}: {}", named(file), errno.text()), 1);
    let mut input = Input::open(file).map_err(failed)?;
    let (mut out, mut line, mut code) = (Output::standard(), Vec::new(), 0);
    while input.line(LINES_AT_ONCE, &mut line).map_err(failed)? {
        if line.last() == Some(&LINES_AT_ONCE) {
            line.pop();
        }
        match parse(&line, now, zone) {
            Some(time) => {
                out.push(&format(form, time, zone));
                out.push(b"\n");
            }
            None => {
                out.flush_now();
                complain("date", &format!("invalid date {}", cited(&line)));
                code = 1;
            }
        }
    }
    Ok(Answer::Code(out.finish("date", code)))
}
