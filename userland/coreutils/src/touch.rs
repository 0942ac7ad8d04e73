//! `touch`: gives files the times that are asked for, and makes those that are not there.

use tidebox_gnu::choice::parse_choice;
use tidebox_gnu::datetime::{Instant, parse};
use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::message::{path_label, print_error, quote_path, quote_value};
use tidebox_gnu::options::Syntax;
use tidebox_gnu::zone::Zone;
use tidebox_rt::{Errno, Open, Time};

const USAGE: &str = "\
Usage: touch [OPTION]... FILE...
Gives each FILE the present time as that of its last access and change. A FILE that is not there is made, empty.

";

tidebox_gnu::options! {
    /// Options of `touch`.
    enum Flag {
        AccessTime = "-a", "only the time of access";
        NoCreate = "-c, --no-create", "make no files";
        Date = "-d, --date=STRING", "the time that STRING describes, instead of now";
        Ignored = "-f", "(without effect)";
        NoDereference = "-h, --no-dereference", "change symbolic links themselves";
        ModificationTime = "-m", "only the time of change";
        Reference = "-r, --reference=FILE", "the times of FILE";
        Stamp = "-t STAMP", "[[CC]YY]MMDDhhmm[.ss] instead of now";
        Time = "--time=WORD", "access, atime, use: as -a; modify, mtime: as -m";
    }
}

const LINE: Syntax<'_, Flag> = Syntax::core("touch", USAGE, 25);

/// Changes to apply to each file.
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

/// Runs `touch`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    answer(arguments).unwrap_or_else(|answer| answer.into_exit_code("touch"))
}

fn answer(arguments: Vec<Vec<u8>>) -> Result<i32, ToolResult> {
    let zone = Zone::of_environment();
    let now = instant(tidebox_rt::realtime_ns());
    let mut asked = Asked::default();
    let files = LINE.parse::<ToolResult>(arguments, |key, value| {
        match key {
            Flag::AccessTime => asked.accessed = true,
            Flag::NoCreate => asked.no_create = true,
            Flag::Date => asked.words = Some(value),
            Flag::NoDereference => asked.no_follow = true,
            Flag::ModificationTime => asked.changed = true,
            Flag::Reference => asked.reference = Some(value),
            Flag::Stamp => {
                let time = tidebox_gnu::posix_time::posix(&value, now, &zone, true);
                let invalid = || ToolResult::Failure(format!("invalid date format {}", quote_value(&value)), 1);
                asked.stamp = Some(time.ok_or_else(invalid)?);
            }
            Flag::Time => {
                let words: &[&[&str]] = &[&["atime", "access", "use"], &["mtime", "modify"]];
                match parse_choice("--time", &value, words).map_err(|message| ToolResult::Usage(message, 1))? {
                    0 => asked.accessed = true,
                    _ => asked.changed = true,
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    if asked.stamp.is_some() && (asked.words.is_some() || asked.reference.is_some()) {
        return Err(LINE.usage_error("cannot specify times from more than one source"));
    }
    let times = asked.times(now, &zone)?;
    if files.is_empty() {
        return Err(LINE.usage_error("missing file operand"));
    }
    let touched = files.iter().map(|file| asked.touch(file, times));
    Ok(touched.fold(0, |code, done| if done { code } else { 1 }))
}

/// Converts nanoseconds to seconds and nanoseconds.
fn instant(ns: u64) -> Instant {
    (i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX), u32::try_from(ns % 1_000_000_000).unwrap_or(0))
}

impl Asked {
    /// Times of access and of change.
    fn times(&self, now: Instant, zone: &Zone) -> Result<(u64, u64), ToolResult> {
        let (mut accessed, mut changed) = (now, now);
        if let Some(stamp) = self.stamp {
            (accessed, changed) = (stamp, stamp);
        }
        if let Some(file) = &self.reference {
            let failed = |errno: Errno| {
                ToolResult::Failure(format!("failed to get attributes of {}: {}", quote_path(file), errno.text()), 1)
            };
            let stat = tidebox_rt::stat(file, !self.no_follow).map_err(failed)?;
            (accessed, changed) = (instant(stat.atime_ns), instant(stat.mtime_ns));
        }
        if let Some(words) = &self.words {
            let read = |base| {
                let invalid = || ToolResult::Failure(format!("invalid date format {}", quote_value(words)), 1);
                parse(words, base, zone).ok_or_else(invalid)
            };
            (accessed, changed) = (read(accessed)?, read(changed)?);
        }
        Ok((nanoseconds(accessed)?, nanoseconds(changed)?))
    }

    /// Returns false on an error, which has been reported.
    fn touch(&self, file: &[u8], (accessed, changed): (u64, u64)) -> bool {
        // Neither means both.
        let both = self.accessed == self.changed;
        let accessed = if self.accessed || both { Time::At(accessed) } else { Time::Omit };
        let changed = if self.changed || both { Time::At(changed) } else { Time::Omit };
        if file == b"-" {
            let done = tidebox_rt::set_times(b"/dev/fd/1", true, accessed, changed);
            return report_failure(done, "setting times of", b"-");
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
                Some(first) if first != Errno::ISDIR => report_failure(Err(first), "cannot touch", file),
                _ => report_failure(Err(errno), "setting times of", file),
            },
        }
    }
}

fn report_failure(done: Result<(), Errno>, what: &str, file: &[u8]) -> bool {
    match done {
        Ok(()) => true,
        Err(errno) => {
            print_error("touch", &format!("{what} {}: {}", quote_path(file), errno.text()));
            false
        }
    }
}

/// A time as the file system keeps it, which begins in 1970.
fn nanoseconds((seconds, rest): Instant) -> Result<u64, ToolResult> {
    let whole = u64::try_from(seconds).ok().and_then(|seconds| seconds.checked_mul(1_000_000_000));
    whole.and_then(|whole| whole.checked_add(u64::from(rest))).ok_or_else(|| {
        ToolResult::Failure(
            format!("the time {} cannot be kept here; it begins in 1970", path_label(seconds.to_string().as_bytes())),
            1,
        )
    })
}
