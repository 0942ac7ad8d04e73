//! `du`: disk usage of files and directories.

mod options;

use std::collections::BTreeSet;

use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::glob::{self, Flags};
use tidebox_gnu::message::{print_error, quote_path};
use tidebox_rt::{FileKind, Stat};

use crate::common::block_size::format_size;
use options::{Options, parse};

/// Block size in bytes; file sizes are rounded up to it.
const BLOCK: u64 = 4096;

/// A directory whose sizes are being summed.
#[derive(Debug)]
struct DirFrame {
    path: Vec<u8>,
    pending: Vec<Vec<u8>>,
    own: u64,
    below: u64,
    /// The latest time of its content.
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
        Err(result) => return result,
    };
    let mut du = Du { options, operands: files.len(), seen: BTreeSet::new(), out: Vec::new(), failed: false };
    if let Some(list) = du.options.list.clone() {
        match du.read_list(&list) {
            Ok(listed) => {
                files = listed;
                du.operands = files.len();
            }
            Err(result) => return result,
        }
    }
    let (mut total, mut latest) = (0u64, 0);
    for file in &files {
        let (size, time) = du.file(file);
        (total, latest) = (total.saturating_add(size), latest.max(time));
    }
    if du.options.total {
        du.line(total, latest, b"total");
    }
    ToolResult::PrintAndCode(std::mem::take(&mut du.out), i32::from(du.failed))
}

impl Du {
    /// Reads the file names of `--files0-from`, each terminated by a zero byte.
    fn read_list(&mut self, list: &[u8]) -> Result<Vec<Vec<u8>>, ToolResult> {
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
                self.report_error(&format!("{shown}:{}: invalid zero-length file name", at + 1));
            } else if list == b"-" && name == b"-" {
                let message = "when reading file names from stdin, no file name of '-' allowed";
                self.report_error(message);
            } else {
                files.push(name.to_vec());
            }
        }
        Ok(files)
    }

    /// Sums and prints a file or directory. Returns its disk usage and latest time.
    fn file(&mut self, file: &[u8]) -> (u64, u64) {
        if self.is_excluded(file) {
            return (0, 0);
        }
        let follow = self.options.follow || self.options.follow_arguments;
        let Some((stat, size)) = self.measure(file, follow) else {
            return (0, 0);
        };
        let time = self.time_of(&stat);
        if stat.kind() != FileKind::Dir {
            self.line(size, time, file);
            return (size, time);
        }
        let mut frames = vec![self.enter(file.to_vec(), size, time)];
        loop {
            let depth = frames.len();
            let Some(frame) = frames.last_mut() else {
                return (0, 0);
            };
            let Some(path) = frame.pending.pop() else {
                let Some(done) = frames.pop() else {
                    return (0, 0);
                };
                let whole = done.own.saturating_add(done.below);
                if self.options.max_depth.is_none_or(|max| depth - 1 <= max) {
                    self.line(if self.options.separate { done.own } else { whole }, done.time, &done.path);
                }
                match frames.last_mut() {
                    Some(parent) => {
                        parent.below = parent.below.saturating_add(whole);
                        parent.time = parent.time.max(done.time);
                    }
                    None => return (whole, done.time),
                }
                continue;
            };
            let Some((stat, size)) = self.measure(&path, self.options.follow) else {
                continue;
            };
            let time = self.time_of(&stat);
            if stat.kind() == FileKind::Dir {
                let frame = self.enter(path, size, time);
                frames.push(frame);
                continue;
            }
            frame.own = frame.own.saturating_add(size);
            frame.time = frame.time.max(time);
            if self.options.all && self.options.max_depth.is_none_or(|max| depth <= max) {
                self.line(size, time, &path);
            }
        }
    }

    /// Returns the metadata and disk usage of a file, unless it is excluded.
    fn measure(&mut self, path: &[u8], follow: bool) -> Option<(Stat, u64)> {
        let stat = match tidebox_rt::stat(path, follow) {
            Ok(stat) => stat,
            Err(error) => {
                self.report_error(&format!("cannot access {}: {}", quote_path(path), error.text()));
                return None;
            }
        };
        let has_more_names = stat.nlink > 1 && stat.kind() != FileKind::Dir;
        // With followed links, files can be reached repeatedly, and directories endlessly.
        let is_dir = stat.kind() == FileKind::Dir;
        // One operand may be inside another.
        let several = (has_more_names || self.options.follow || self.operands > 1) && !self.options.count_links;
        if (several || (is_dir && self.options.follow)) && !self.seen.insert((stat.dev, stat.ino)) {
            return None;
        }
        let size = match (self.options.apparent, stat.kind()) {
            _ if self.options.inodes => 1,
            (true, FileKind::File | FileKind::Symlink | FileKind::Dir) => stat.size,
            (false, FileKind::File | FileKind::Dir) => stat.size.div_ceil(BLOCK).saturating_mul(BLOCK),
            _ => 0,
        };
        Some((stat, size))
    }

    /// Returns whether a pattern matches the path or a suffix that starts after a slash.
    fn is_excluded(&self, path: &[u8]) -> bool {
        let ends = || {
            let starts = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1);
            std::iter::once(0).chain(starts).filter_map(|at| path.get(at..)).filter(|end| !end.is_empty())
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

    fn enter(&mut self, path: Vec<u8>, own: u64, time: u64) -> DirFrame {
        let entries = match tidebox_rt::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) => {
                self.report_error(&format!("cannot read directory {}: {}", quote_path(&path), error.text()));
                Vec::new()
            }
        };
        let slash: &[u8] = if path.ends_with(b"/") { b"" } else { b"/" };
        let inner = entries.into_iter().rev().filter(|entry| entry.name != b"." && entry.name != b"..");
        let paths = inner.map(|entry| [path.as_slice(), slash, &entry.name].concat());
        let pending = paths.filter(|path| !self.is_excluded(path)).collect();
        DirFrame { path, pending, own, below: 0, time }
    }

    fn report_error(&mut self, message: &str) {
        self.failed = true;
        print_error("du", message);
    }

    fn line(&mut self, size: u64, time: u64, path: &[u8]) {
        let hidden = |threshold: i64| match u64::try_from(threshold) {
            Ok(min) => size < min,
            Err(_) => size > threshold.unsigned_abs(),
        };
        if self.options.threshold.is_some_and(hidden) {
            return;
        }
        self.out.extend_from_slice(format_size(size, self.options.unit).as_bytes());
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
