//! `du`: how much room files take.

mod options;

use std::collections::BTreeSet;

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::glob::{self, Flags};
use tidebox_gnu::message::{print_error, quote_path};
use tidebox_rt::{FileKind, Stat};

use crate::common::block_size::shown;
use options::{Options, parse};

/// Block size in bytes; file sizes are rounded up to it.
const BLOCK: u64 = 4096;

/// A directory whose sizes are being summed.
#[derive(Debug)]
struct Level {
    path: Vec<u8>,
    waiting: Vec<Vec<u8>>,
    own: u64,
    below: u64,
    /// The latest time of all that is in it.
    time: u64,
}

struct Du {
    options: Options,
    /// Number of operands.
    operands: usize,
    /// Files that may be reached again and are already counted.
    seen: BTreeSet<(u32, u64)>,
    out: Vec<u8>,
    failed: bool,
}

/// Runs `du`.
pub fn main(arguments: Vec<Vec<u8>>) -> ToolResult {
    let (options, mut files) = match parse(arguments) {
        Ok(read) => read,
        Err(answer) => return answer,
    };
    let mut du = Du { options, operands: files.len(), seen: BTreeSet::new(), out: Vec::new(), failed: false };
    if let Some(list) = du.options.list.clone() {
        match du.listed(&list) {
            Ok(listed) => {
                files = listed;
                du.operands = files.len();
            }
            Err(answer) => return answer,
        }
    }
    let (mut total, mut latest) = (0u64, 0);
    for file in &files {
        let (room, time) = du.file(file);
        (total, latest) = (total.saturating_add(room), latest.max(time));
    }
    if du.options.total {
        du.line(total, latest, b"total");
    }
    ToolResult::PrintAndCode(std::mem::take(&mut du.out), i32::from(du.failed))
}

impl Du {
    /// The files of a list, each of which ends with a zero byte.
    fn listed(&mut self, list: &[u8]) -> Result<Vec<Vec<u8>>, ToolResult> {
        let failed = |errno: tidebox_rt::Errno| {
            let message = match errno {
                tidebox_rt::Errno::ISDIR => {
                    format!("{}: read error: {}", tidebox_gnu::message::path_label(list), errno.text())
                }
                errno => format!("cannot open {} for reading: {}", quote_path(list), errno.text()),
            };
            ToolResult::Failure(message, 1)
        };
        let text = tidebox_gnu::stream::read_all(list).map_err(failed)?;
        let mut files = Vec::new();
        let names = text.strip_suffix(b"\0").unwrap_or(&text);
        for (at, name) in names.split(|byte| *byte == 0).enumerate().filter(|_| !text.is_empty()) {
            if name.is_empty() {
                let shown = tidebox_gnu::message::path_label(list);
                self.trouble(&format!("{shown}:{}: invalid zero-length file name", at + 1));
            } else if list == b"-" && name == b"-" {
                let message = "when reading file names from stdin, no file name of '-' allowed";
                self.trouble(message);
            } else {
                files.push(name.to_vec());
            }
        }
        Ok(files)
    }

    /// Adds up a file or folder and prints what is asked for. The room it takes, and its latest time.
    fn file(&mut self, file: &[u8]) -> (u64, u64) {
        if self.is_excluded(file) {
            return (0, 0);
        }
        let follow = self.options.follow || self.options.follow_arguments;
        let Some((stat, room)) = self.look_at(file, follow) else {
            return (0, 0);
        };
        let time = self.time_of(&stat);
        if stat.kind() != FileKind::Dir {
            self.line(room, time, file);
            return (room, time);
        }
        let mut levels = vec![self.enter(file.to_vec(), room, time)];
        loop {
            let depth = levels.len();
            let Some(level) = levels.last_mut() else {
                return (0, 0);
            };
            let Some(path) = level.waiting.pop() else {
                let Some(done) = levels.pop() else {
                    return (0, 0);
                };
                let whole = done.own.saturating_add(done.below);
                if self.options.most_depth.is_none_or(|most| depth - 1 <= most) {
                    self.line(if self.options.separate { done.own } else { whole }, done.time, &done.path);
                }
                match levels.last_mut() {
                    Some(parent) => {
                        parent.below = parent.below.saturating_add(whole);
                        parent.time = parent.time.max(done.time);
                    }
                    None => return (whole, done.time),
                }
                continue;
            };
            let Some((stat, room)) = self.look_at(&path, self.options.follow) else {
                continue;
            };
            let time = self.time_of(&stat);
            if stat.kind() == FileKind::Dir {
                let level = self.enter(path, room, time);
                levels.push(level);
                continue;
            }
            level.own = level.own.saturating_add(room);
            level.time = level.time.max(time);
            if self.options.all && self.options.most_depth.is_none_or(|most| depth <= most) {
                self.line(room, time, &path);
            }
        }
    }

    /// Returns the metadata and disk usage of a file, unless it is excluded.
    fn look_at(&mut self, path: &[u8], follow: bool) -> Option<(Stat, u64)> {
        let stat = match tidebox_rt::stat(path, follow) {
            Ok(stat) => stat,
            Err(error) => {
                self.trouble(&format!("cannot access {}: {}", quote_path(path), error.text()));
                return None;
            }
        };
        let has_more_names = stat.nlink > 1 && stat.kind() != FileKind::Dir;
        // Behind links anything may be met again, and folders for ever.
        let is_folder = stat.kind() == FileKind::Dir;
        // One operand may be inside another.
        let several = (has_more_names || self.options.follow || self.operands > 1) && !self.options.count_links;
        if (several || (is_folder && self.options.follow)) && !self.seen.insert((stat.dev, stat.ino)) {
            return None;
        }
        let room = match (self.options.apparent, stat.kind()) {
            _ if self.options.inodes => 1,
            (true, FileKind::File | FileKind::Symlink | FileKind::Dir) => stat.size,
            (false, FileKind::File | FileKind::Dir) => stat.size.div_ceil(BLOCK).saturating_mul(BLOCK),
            _ => 0,
        };
        Some((stat, room))
    }

    /// Returns whether a pattern matches the path or a suffix that starts after a slash.
    fn is_excluded(&self, path: &[u8]) -> bool {
        let ends = || {
            let behind = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1);
            std::iter::once(0).chain(behind).filter_map(|at| path.get(at..)).filter(|end| !end.is_empty())
        };
        self.options.exclude.iter().any(|glob| ends().any(|end| glob::matches(glob, end, Flags::default())))
    }

    fn time_of(&self, stat: &Stat) -> u64 {
        match self.options.time {
            Some('u') => stat.atime_ns,
            Some('c') => stat.ctime_ns,
            _ => stat.mtime_ns,
        }
    }

    fn enter(&mut self, path: Vec<u8>, own: u64, time: u64) -> Level {
        let entries = match tidebox_rt::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) => {
                self.trouble(&format!("cannot read directory {}: {}", quote_path(&path), error.text()));
                Vec::new()
            }
        };
        let slash: &[u8] = if path.ends_with(b"/") { b"" } else { b"/" };
        let inner = entries.into_iter().rev().filter(|entry| entry.name != b"." && entry.name != b"..");
        let paths = inner.map(|entry| [path.as_slice(), slash, &entry.name].concat());
        let waiting = paths.filter(|path| !self.is_excluded(path)).collect();
        Level { path, waiting, own, below: 0, time }
    }

    fn trouble(&mut self, message: &str) {
        self.failed = true;
        print_error("du", message);
    }

    fn line(&mut self, room: u64, time: u64, path: &[u8]) {
        let small = |least: i64| match u64::try_from(least) {
            Ok(least) => room < least,
            Err(_) => room > least.unsigned_abs(),
        };
        if self.options.threshold.is_some_and(small) {
            return;
        }
        self.out.extend_from_slice(shown(room, self.options.unit).as_bytes());
        self.out.push(b'\t');
        if self.options.time.is_some() {
            let seconds = i64::try_from(time / 1_000_000_000).unwrap_or(i64::MAX);
            let instant = (seconds, u32::try_from(time % 1_000_000_000).unwrap_or(0));
            let zone = tidebox_gnu::zone::Zone::of_environment();
            self.out.extend_from_slice(&tidebox_gnu::strftime::format(&self.options.time_format, instant, &zone));
            self.out.push(b'\t');
        }
        self.out.extend_from_slice(path);
        self.out.push(self.options.end);
    }
}
