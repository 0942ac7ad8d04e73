//! `touch`: gives files the times that are asked for, and makes those that are not there.

use tidebox_gnu::answer::{Answer, Ending};
use tidebox_gnu::choice::choose;
use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::datetime::{Instant, parse};
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::message::{cited, complain, named, quoted};
use tidebox_gnu::zone::Zone;
use tidebox_rt::{Errno, Open, Time};

const HELP: &str = "\
Usage: touch [OPTION]... FILE...
Gives each FILE the present time as that of its last access and change. A FILE that is not there is made, empty.

  -a                     only the time of access
  -c, --no-create        make no files
  -d, --date=STRING      the time that STRING describes, instead of now
  -f                     (without effect)
  -h, --no-dereference   change symbolic links themselves
  -m                     only the time of change
  -r, --reference=FILE   the times of FILE
  -t STAMP               [[CC]YY]MMDDhhmm[.ss] instead of now
      --time=WORD        access, atime, use: as -a; modify, mtime: as -m
";

const TIME: char = '\u{e001}';

const LONG: &[Long] = &[
    long("time", Takes::Value, TIME),
    long("no-create", Takes::Nothing, 'c'),
    long("date", Takes::Value, 'd'),
    long("reference", Takes::Value, 'r'),
    long("no-dereference", Takes::Nothing, 'h'),
];

const LINE: CommandLine<'_> = CommandLine::core("touch", "acd:fhmr:t:", LONG, HELP);

/// What to do with each file.
#[derive(Debug, Default)]
struct Asked {
    accessed: bool,
    changed: bool,
    no_create: bool,
    no_follow: bool,
    words: Option<Vec<u8>>,
    reference: Option<Vec<u8>>,
    stamp: Option<Instant>,
}

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> i32 {
    answer(arguments).unwrap_or_else(|answer| answer.end("touch"))
}

fn answer(arguments: Vec<Vec<u8>>) -> Result<i32, Answer> {
    let zone = Zone::of_environment();
    let now = instant(tidebox_rt::realtime_ns());
    let mut asked = Asked::default();
    let files = LINE.read::<Answer>(arguments, |key, value| {
        match key {
            'a' => asked.accessed = true,
            'c' => asked.no_create = true,
            'd' => asked.words = Some(value),
            'h' => asked.no_follow = true,
            'm' => asked.changed = true,
            'r' => asked.reference = Some(value),
            't' => {
                let time = tidebox_gnu::stamp::posix(&value, now, &zone, true);
                let invalid = || Answer::Failure(format!("invalid date format {}", cited(&value)), 1);
                asked.stamp = Some(time.ok_or_else(invalid)?);
            }
            TIME => {
                let words: &[&[&str]] = &[&["atime", "access", "use"], &["mtime", "modify"]];
                match choose("--time", &value, words).map_err(|message| Answer::Usage(message, 1))? {
                    0 => asked.accessed = true,
                    _ => asked.changed = true,
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    if asked.stamp.is_some() && (asked.words.is_some() || asked.reference.is_some()) {
        return Err(LINE.wrong("cannot specify times from more than one source"));
    }
    let times = asked.times(now, &zone)?;
    if files.is_empty() {
        return Err(LINE.wrong("missing file operand"));
    }
    let touched = files.iter().map(|file| asked.touch(file, times));
    Ok(touched.fold(0, |code, done| if done { code } else { 1 }))
}

/// A time of files and clocks, in seconds and the rest.
fn instant(ns: u64) -> Instant {
    (i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX), u32::try_from(ns % 1_000_000_000).unwrap_or(0))
}

impl Asked {
    /// Times of access and of change.
    fn times(&self, now: Instant, zone: &Zone) -> Result<(u64, u64), Answer> {
        let (mut accessed, mut changed) = (now, now);
        if let Some(stamp) = self.stamp {
            (accessed, changed) = (stamp, stamp);
        }
        if let Some(file) = &self.reference {
            let failed = |errno: Errno| {
                Answer::Failure(format!("failed to get attributes of {}: {}", quoted(file), errno.text()), 1)
            };
            let stat = tidebox_rt::stat(file, !self.no_follow).map_err(failed)?;
            (accessed, changed) = (instant(stat.atime_ns), instant(stat.mtime_ns));
        }
        if let Some(words) = &self.words {
            let read = |base| {
                let invalid = || Answer::Failure(format!("invalid date format {}", cited(words)), 1);
                parse(words, base, zone).ok_or_else(invalid)
            };
            (accessed, changed) = (read(accessed)?, read(changed)?);
        }
        Ok((nanoseconds(accessed)?, nanoseconds(changed)?))
    }

    /// False when it failed, and was told.
    fn touch(&self, file: &[u8], (accessed, changed): (u64, u64)) -> bool {
        // Neither means both.
        let both = self.accessed == self.changed;
        let accessed = if self.accessed || both { Time::At(accessed) } else { Time::Keep };
        let changed = if self.changed || both { Time::At(changed) } else { Time::Keep };
        if file == b"-" {
            let done = tidebox_rt::set_times(b"/dev/fd/1", true, accessed, changed);
            return told(done, "setting times of", b"-");
        }
        let mut opened = None;
        if !self.no_create && !self.no_follow {
            let how = Open { write: true, create: true, nonblock: true, ..Open::default() };
            match tidebox_rt::open(file, how) {
                // Nothing was written.
                Ok(fd) => drop(tidebox_rt::close(fd)),
                Err(errno) => opened = Some(errno),
            }
        }
        match tidebox_rt::set_times(file, !self.no_follow, accessed, changed) {
            Ok(()) => true,
            Err(Errno::NOENT) if self.no_create => true,
            // Why it could not be made says more than that it is not there.
            Err(errno) => match opened {
                Some(first) if first != Errno::ISDIR => told(Err(first), "cannot touch", file),
                _ => told(Err(errno), "setting times of", file),
            },
        }
    }
}

fn told(done: Result<(), Errno>, what: &str, file: &[u8]) -> bool {
    match done {
        Ok(()) => true,
        Err(errno) => {
            complain("touch", &format!("{what} {}: {}", quoted(file), errno.text()));
            false
        }
    }
}

/// A time as the file system keeps it, which begins in 1970.
fn nanoseconds((seconds, rest): Instant) -> Result<u64, Answer> {
    let whole = u64::try_from(seconds).ok().and_then(|seconds| seconds.checked_mul(1_000_000_000));
    whole.and_then(|whole| whole.checked_add(u64::from(rest))).ok_or_else(|| {
        Answer::Failure(
            format!("the time {} cannot be kept here; it begins in 1970", named(seconds.to_string().as_bytes())),
            1,
        )
    })
}
