//! `touch`: sets times of files, and creates missing files.

use tidebox_gnu::choice::parse_choice;
use tidebox_gnu::datetime::{Instant, parse};
use tidebox_gnu::exit::{IntoExitCode, ToolResult};
use tidebox_gnu::message::{path_label, print_error, quote_path, quote_value};
use tidebox_gnu::options::Syntax;
use tidebox_gnu::zone::Zone;
use tidebox_rt::{Errno, Open, Time};

const USAGE: &str = "\
Usage: touch [OPTION]... FILE...
Sets the access and modification times of each FILE to the current time. Creates missing FILEs.

";

tidebox_gnu::options! {
    /// Options of `touch`.
    enum Flag {
        AccessTime = "-a", "change only the access time";
        NoCreate = "-c, --no-create", "do not create files";
        Date = "-d, --date=STRING", "use the time STRING instead of the current time";
        Ignored = "-f", "has no effect";
        NoDereference = "-h, --no-dereference", "change symbolic links themselves";
        ModificationTime = "-m", "change only the modification time";
        Reference = "-r, --reference=FILE", "use the times of FILE";
        Stamp = "-t STAMP", "use the time [[CC]YY]MMDDhhmm[.ss]";
        Time = "--time=WORD", "access, atime or use: same as -a; modify or mtime: same as -m";
    }
}

const LINE: Syntax<'_, Flag> = Syntax::core("touch", USAGE, 25);

/// Changes to apply to each file.
#[derive(Debug, Default)]
struct Changes {
    accessed: bool,
    changed: bool,
    no_create: bool,
    no_follow: bool,
    /// Value of `--date`.
    date: Option<Vec<u8>>,
    reference: Option<Vec<u8>>,
    stamp: Option<Instant>,
}

/// Runs `touch`.
pub fn main(arguments: Vec<Vec<u8>>) -> i32 {
    touch_all(arguments).unwrap_or_else(|result| result.into_exit_code("touch"))
}

fn touch_all(arguments: Vec<Vec<u8>>) -> Result<i32, ToolResult> {
    let zone = Zone::of_environment();
    let now = instant(tidebox_rt::realtime_ns());
    let mut changes = Changes::default();
    let files = LINE.parse::<ToolResult>(arguments, |key, value| {
        match key {
            Flag::AccessTime => changes.accessed = true,
            Flag::NoCreate => changes.no_create = true,
            Flag::Date => changes.date = Some(value),
            Flag::NoDereference => changes.no_follow = true,
            Flag::ModificationTime => changes.changed = true,
            Flag::Reference => changes.reference = Some(value),
            Flag::Stamp => {
                let time = tidebox_gnu::posix_time::posix(&value, now, &zone, true);
                let invalid = || ToolResult::Failure(format!("invalid date format {}", quote_value(&value)), 1);
                changes.stamp = Some(time.ok_or_else(invalid)?);
            }
            Flag::Time => {
                let words: &[&[&str]] = &[&["atime", "access", "use"], &["mtime", "modify"]];
                match parse_choice("--time", &value, words).map_err(|message| ToolResult::Usage(message, 1))? {
                    0 => changes.accessed = true,
                    _ => changes.changed = true,
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    if changes.stamp.is_some() && (changes.date.is_some() || changes.reference.is_some()) {
        return Err(LINE.usage_error("cannot specify times from more than one source"));
    }
    let times = changes.times(now, &zone)?;
    if files.is_empty() {
        return Err(LINE.usage_error("missing file operand"));
    }
    let touched = files.iter().map(|file| changes.touch(file, times));
    Ok(touched.fold(0, |code, done| if done { code } else { 1 }))
}

/// Converts nanoseconds to seconds and nanoseconds.
fn instant(ns: u64) -> Instant {
    (i64::try_from(ns / 1_000_000_000).unwrap_or(i64::MAX), u32::try_from(ns % 1_000_000_000).unwrap_or(0))
}

impl Changes {
    /// Returns the times of access and modification.
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
        if let Some(date) = &self.date {
            let read = |base| {
                let invalid = || ToolResult::Failure(format!("invalid date format {}", quote_value(date)), 1);
                parse(date, base, zone).ok_or_else(invalid)
            };
            (accessed, changed) = (read(accessed)?, read(changed)?);
        }
        Ok((nanoseconds(accessed)?, nanoseconds(changed)?))
    }

    /// Returns false on an error, which has been reported.
    fn touch(&self, file: &[u8], (accessed, changed): (u64, u64)) -> bool {
        // Without -a and -m both times change.
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
            // The error of creating the file is more specific than that of setting its times.
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

/// Converts a time to nanoseconds. The file system stores times since 1970.
fn nanoseconds((seconds, rest): Instant) -> Result<u64, ToolResult> {
    let whole = u64::try_from(seconds).ok().and_then(|seconds| seconds.checked_mul(1_000_000_000));
    whole.and_then(|whole| whole.checked_add(u64::from(rest))).ok_or_else(|| {
        ToolResult::Failure(
            format!("the time {} cannot be kept here; it begins in 1970", path_label(seconds.to_string().as_bytes())),
            1,
        )
    })
}
