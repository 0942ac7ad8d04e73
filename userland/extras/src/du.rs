//! `du`: how much room files take.

use std::collections::BTreeSet;

use tidebox_gnu::answer::Answer;
use tidebox_gnu::choice::choose;
use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::glob::{self, Flags};
use tidebox_gnu::message::{cited, complain, quoted};
use tidebox_rt::{FileKind, Stat};

use crate::block_size::{Unit, block_size, of_environment, shown};

const HELP: &str = "\
Usage: du [OPTION]... [FILE]...
Prints how much room each FILE takes, folders with everything in them.

  -a, --all             print files, too, not only folders
  -s, --summarize       print only a total for each FILE
  -d, --max-depth=N     print folders at most N levels down
  -c, --total           print a grand total
  -S, --separate-dirs   count no folders within folders
  -h, --human-readable  print sizes such as 1K, 234M, 2G
      --si              as -h, with powers of 1000
  -b, --bytes           print bytes as files are long
      --apparent-size   count how long files are, not the room they take
  -k, -m                print units of 1 KiB (the default), 1 MiB
  -B, --block-size=SIZE print units of SIZE bytes; K, M, G may follow
  -l, --count-links     count a file once for each of its names
  -L, --dereference     follow links
  -D, -H                follow links that are a FILE
  -x                    has no effect: there is one file system
  -0, --null            end lines with a zero byte
      --exclude=GLOB    leave out files whose name fits GLOB
";

/// What files are rounded up to.
const BLOCK: u64 = 4096;

const APPARENT: char = '\u{e001}';
const SI: char = '\u{e002}';
const EXCLUDE: char = '\u{e003}';
const INODES: char = '\u{e014}';
const LIST: char = '\u{e015}';
const TIME: char = '\u{e016}';
const TIME_STYLE: char = '\u{e017}';
const HELP_KEY: char = '\u{e004}';

const LONG: &[Long] = &[
    long("all", Takes::Nothing, 'a'),
    long("apparent-size", Takes::Nothing, APPARENT),
    long("block-size", Takes::Value, 'B'),
    long("bytes", Takes::Nothing, 'b'),
    long("count-links", Takes::Nothing, 'l'),
    long("dereference", Takes::Nothing, 'L'),
    long("dereference-args", Takes::Nothing, 'D'),
    long("exclude", Takes::Value, EXCLUDE),
    long("exclude-from", Takes::Value, 'X'),
    long("files0-from", Takes::Value, LIST),
    long("inodes", Takes::Nothing, INODES),
    long("threshold", Takes::Value, 't'),
    long("time", Takes::Maybe, TIME),
    long("time-style", Takes::Value, TIME_STYLE),
    long("help", Takes::Nothing, HELP_KEY),
    long("human-readable", Takes::Nothing, 'h'),
    long("max-depth", Takes::Value, 'd'),
    long("no-dereference", Takes::Nothing, 'P'),
    long("null", Takes::Nothing, '0'),
    long("one-file-system", Takes::Nothing, 'x'),
    long("separate-dirs", Takes::Nothing, 'S'),
    long("si", Takes::Nothing, SI),
    long("summarize", Takes::Nothing, 's'),
    long("total", Takes::Nothing, 'c'),
];

#[derive(Debug)]
struct Options {
    all: bool,
    most_depth: Option<usize>,
    summarize: bool,
    total: bool,
    separate: bool,
    apparent: bool,
    count_links: bool,
    follow: bool,
    follow_arguments: bool,
    unit: Unit,
    end: u8,
    exclude: Vec<Vec<u8>>,
    inodes: bool,
    /// The least that is shown, or below zero the most.
    threshold: Option<i64>,
    least: Option<Vec<u8>>,
    list: Option<Vec<u8>>,
    /// Which time is shown: `m`, `c` or `u`.
    time: Option<char>,
    time_format: Vec<u8>,
}

/// A folder whose contents are being added up.
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
    /// How many files were named.
    operands: usize,
    /// Files that may be met again and are counted already.
    seen: BTreeSet<(u32, u64)>,
    out: Vec<u8>,
    failed: bool,
}

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> Answer {
    let mut options = Options {
        all: false,
        most_depth: None,
        summarize: false,
        total: false,
        separate: false,
        apparent: false,
        count_links: false,
        follow: false,
        follow_arguments: false,
        unit: of_environment(&["DU_BLOCK_SIZE", "BLOCK_SIZE", "BLOCKSIZE"]),
        end: b'\n',
        exclude: Vec::new(),
        inodes: false,
        threshold: None,
        least: None,
        list: None,
        time: None,
        time_format: b"%Y-%m-%d %H:%M".to_vec(),
    };
    let line = CommandLine::core("du", "0abcd:hklmst:xB:DHLPSX:", LONG, HELP);
    let files = line.read(arguments, |key, value| options.option(key, value).map_err(|message| line.wrong(message)));
    let mut files = match files {
        Ok(files) => files,
        Err(answer) => return answer,
    };
    if options.inodes && options.apparent {
        complain("du", "warning: options --apparent-size and -b are ineffective with --inodes");
    }
    if options.summarize && options.all {
        return line.wrong("cannot both summarize and show all entries");
    }
    if options.summarize && options.most_depth.is_some_and(|depth| depth > 0) {
        let depth = options.most_depth.unwrap_or(0);
        return line.wrong(format!("warning: summarizing conflicts with --max-depth={depth}"));
    }
    if options.summarize {
        options.most_depth = Some(0);
    }
    if let Some(least) = &options.least {
        match threshold(least) {
            Some(threshold) => options.threshold = Some(threshold),
            None => {
                let shown = String::from_utf8_lossy(least);
                return Answer::Failure(format!("invalid -t argument '{shown}'"), 1);
            }
        }
    }
    if let Some(extra) = files.first().filter(|_| options.list.is_some()) {
        let rest = "file operands cannot be combined with --files0-from";
        return line.wrong(format!("extra operand {}\n{rest}", cited(extra)));
    }
    if files.is_empty() && options.list.is_none() {
        files.push(b".".to_vec());
    }
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
    Answer::PrintAndCode(std::mem::take(&mut du.out), i32::from(du.failed))
}

impl Options {
    fn option(&mut self, key: char, value: Vec<u8>) -> Result<(), String> {
        match key {
            'a' => self.all = true,
            's' => self.summarize = true,
            'c' => self.total = true,
            'S' => self.separate = true,
            'h' => self.unit = Unit::Human(1024),
            SI => self.unit = Unit::Human(1000),
            'b' => (self.apparent, self.unit) = (true, Unit::Bytes(1)),
            'k' => self.unit = Unit::Bytes(1024),
            'm' => self.unit = Unit::Bytes(1 << 20),
            APPARENT => self.apparent = true,
            'l' => self.count_links = true,
            'L' => self.follow = true,
            'P' => (self.follow, self.follow_arguments) = (false, false),
            'D' | 'H' => self.follow_arguments = true,
            '0' => self.end = 0,
            EXCLUDE => self.exclude.push(value),
            'X' => {
                let text = tidebox_gnu::stream::read_all(&value);
                let text =
                    text.map_err(|errno| format!("{}: {}", tidebox_gnu::message::named(&value), errno.text()))?;
                self.exclude
                    .extend(text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec));
            }
            INODES => (self.inodes, self.unit) = (true, Unit::Bytes(1)),
            LIST => self.list = Some(value),
            't' => self.least = Some(value),
            TIME => {
                let words: &[&[&str]] = &[&["atime", "access", "use"], &["ctime", "status"]];
                self.time = Some(match value.as_slice() {
                    b"" | b"mtime" | b"modification" => 'm',
                    _ if choose("--time", &value, words)? == 0 => 'u',
                    _ => 'c',
                });
            }
            TIME_STYLE => {
                let words: &[&[&str]] = &[&["full-iso"], &["long-iso"], &["iso"]];
                self.time_format = match value.strip_prefix(b"+") {
                    Some(format) => format.to_vec(),
                    None => match choose("time style", &value, words)? {
                        0 => b"%Y-%m-%d %H:%M:%S.%N %z".to_vec(),
                        1 => b"%Y-%m-%d %H:%M".to_vec(),
                        _ => b"%Y-%m-%d".to_vec(),
                    },
                };
            }
            'd' => {
                let text = String::from_utf8_lossy(&value);
                let depth = text.parse().map_err(|_| format!("invalid maximum depth {}", cited(&value)))?;
                self.most_depth = Some(depth);
            }
            'B' => {
                let size = block_size(&String::from_utf8_lossy(&value));
                self.unit = size.ok_or_else(|| format!("invalid --block-size argument {}", cited(&value)))?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// The value of `-t`, which may be below zero.
fn threshold(value: &[u8]) -> Option<i64> {
    let text = String::from_utf8_lossy(value).into_owned();
    let (sign, size) = text.strip_prefix('-').map_or((1, text.as_str()), |size| (-1, size));
    let size = match block_size(size) {
        Some(Unit::Bytes(size) | Unit::Lettered(size, _)) => i64::try_from(size).ok(),
        _ if size == "0" && sign > 0 => Some(0),
        _ => None,
    };
    size.map(|size| sign * size)
}

impl Du {
    /// The files of a list, each of which ends with a zero byte.
    fn listed(&mut self, list: &[u8]) -> Result<Vec<Vec<u8>>, Answer> {
        let failed = |errno: tidebox_rt::Errno| {
            let message = match errno {
                tidebox_rt::Errno::ISDIR => {
                    format!("{}: read error: {}", tidebox_gnu::message::named(list), errno.text())
                }
                errno => format!("cannot open {} for reading: {}", quoted(list), errno.text()),
            };
            Answer::Failure(message, 1)
        };
        let text = tidebox_gnu::stream::read_all(list).map_err(failed)?;
        let mut files = Vec::new();
        let names = text.strip_suffix(b"\0").unwrap_or(&text);
        for (at, name) in names.split(|byte| *byte == 0).enumerate().filter(|_| !text.is_empty()) {
            if name.is_empty() {
                let shown = tidebox_gnu::message::named(list);
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

    /// State and room of a file, unless it is left out.
    fn look_at(&mut self, path: &[u8], follow: bool) -> Option<(Stat, u64)> {
        let stat = match tidebox_rt::stat(path, follow) {
            Ok(stat) => stat,
            Err(error) => {
                self.trouble(&format!("cannot access {}: {}", quoted(path), error.text()));
                return None;
            }
        };
        let has_more_names = stat.nlink > 1 && stat.kind() != FileKind::Dir;
        // Behind links anything may be met again, and folders for ever.
        let is_folder = stat.kind() == FileKind::Dir;
        // Of several operands one may lie in another.
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

    /// Whether a pattern fits the path or an end of it that begins behind a slash.
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
                self.trouble(&format!("cannot read directory {}: {}", quoted(&path), error.text()));
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
        complain("du", message);
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
