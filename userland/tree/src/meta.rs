//! File attributes other than the name.

use tidebox_gnu::calendar::Moment;
use tidebox_gnu::mode::letters;
use tidebox_gnu::user::{Kind, Names};
use tidebox_gnu::zone::Zone;

use crate::entry::Entry;
use crate::options::Options;

/// Half a year in seconds, as in `tree`: older files show their year.
const HALF_YEAR: i64 = 6 * 31 * 24 * 3600;

/// Names and current time for formatting metadata.
#[derive(Debug)]
pub(crate) struct Meta {
    users: Option<Names>,
    groups: Option<Names>,
    now: i64,
}

impl Meta {
    pub(crate) fn new(options: &Options) -> Self {
        Self {
            users: options.shows.user.then(|| Names::load(Kind::User)),
            groups: options.shows.group.then(|| Names::load(Kind::Group)),
            now: i64::try_from(tidebox_rt::realtime_ns() / 1_000_000_000).unwrap_or(0),
        }
    }

    pub(crate) fn user(&self, id: u32) -> String {
        self.users.as_ref().map_or_else(|| id.to_string(), |names| names.name_or_id(id))
    }

    pub(crate) fn group(&self, id: u32) -> String {
        self.groups.as_ref().map_or_else(|| id.to_string(), |names| names.name_or_id(id))
    }

    /// Formats the bracketed attributes; empty if none are selected.
    pub(crate) fn brackets(&self, entry: &Entry, options: &Options) -> String {
        let shows = options.shows;
        let mut parts = Vec::new();
        // The file does not exist.
        if entry.stat.mode == 0 {
            return String::new();
        }
        if shows.mode {
            parts.push(letters(entry.stat.mode));
        }
        if shows.user {
            parts.push(format!("{:<8.32}", self.user(entry.stat.uid)));
        }
        if shows.group {
            parts.push(format!("{:<8.32}", self.group(entry.stat.gid)));
        }
        if shows.size {
            parts.push(size(entry.size, options.human));
        }
        if shows.date {
            parts.push(self.date(entry, options));
        }
        if parts.is_empty() { String::new() } else { format!("[{}]  ", parts.join(" ")) }
    }

    /// Formats the time of a file.
    pub(crate) fn date(&self, entry: &Entry, options: &Options) -> String {
        let moment = Moment::local_ns(entry.stat.mtime_ns);
        let field = |letter| moment.field(letter).unwrap_or_default();
        match &options.time_format {
            Some(format) => {
                let instant = (moment.seconds, moment.nanoseconds);
                let text = tidebox_gnu::strftime::of_c_library(format.as_bytes(), instant, Zone::local());
                String::from_utf8_lossy(&text).into_owned()
            }
            None if moment.seconds > self.now || moment.seconds + HALF_YEAR < self.now => {
                format!("{} {}  {}", field('b'), field('e'), field('Y'))
            }
            None => format!("{} {} {}", field('b'), field('e'), field('R')),
        }
    }
}

/// Formats a size: eleven columns for bytes, four for units.
pub(crate) fn size(bytes: u64, human: bool) -> String {
    if !human {
        return format!("{bytes:>11}");
    }
    if bytes < 1024 {
        return format!("{bytes:>4}");
    }
    let (mut size, mut unit) = (bytes, 1);
    while size >= 1024 * 1024 {
        size /= 1024;
        unit += 1;
    }
    let letter = "BKMGTPEZY".chars().nth(unit).unwrap_or('?');
    let digits = usize::from(size / 1024 < 10);
    format!("{:>3.digits$}{letter}", size as f64 / 1024.0)
}
