//! How the command line of `ls` is read.

use tidebox_gnu::answer::Answer;
use tidebox_gnu::choice::choose;
use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::message::{cited, unicode_locale};

use super::{Follow, Layout, Mark, Options, Shows, TimeStyle};
use crate::block_size::{Unit, block_size, wrong_size};
use crate::ls::order::Key;
use crate::ls::quote::{Style, WORDS, style};
use crate::ls::{MAJOR, MINOR};

const HELP: &str = include_str!("../help.txt");

const COLOR: char = '\u{e001}';
const SORT: char = '\u{e002}';
const TIME: char = '\u{e003}';
const TIME_STYLE: char = '\u{e004}';
const FULL_TIME: char = '\u{e005}';
const FOLDERS_FIRST: char = '\u{e006}';
const FORMAT: char = '\u{e007}';
const SI: char = '\u{e008}';
const FILE_TYPE: char = '\u{e009}';
const INDICATOR: char = '\u{e00a}';
const AUTHOR: char = '\u{e00c}';
const HIDE: char = '\u{e00d}';
const ZERO: char = '\u{e00e}';
const FOLLOW_FOLDERS: char = '\u{e00f}';
const QUOTING: char = '\u{e010}';
const BLOCK_SIZE: char = '\u{e011}';
const SHOW_CONTROL: char = '\u{e012}';
const CONTEXT: char = '\u{e013}';
const HYPERLINK: char = '\u{e014}';
const DIRED: char = '\u{e015}';

const SHORT: &str = "aAbBcCdDfFgGhHiI:klLmnNopqQrRsStT:uUvw:xXZ1";

const LONG: &[Long] = &[
    long("all", Takes::Nothing, 'a'),
    long("almost-all", Takes::Nothing, 'A'),
    long("author", Takes::Nothing, AUTHOR),
    long("block-size", Takes::Value, BLOCK_SIZE),
    long("classify", Takes::Maybe, 'F'),
    long("color", Takes::Maybe, COLOR),
    long("colour", Takes::Maybe, COLOR),
    long("context", Takes::Nothing, CONTEXT),
    long("dereference", Takes::Nothing, 'L'),
    long("dereference-command-line", Takes::Nothing, 'H'),
    long("dereference-command-line-symlink-to-dir", Takes::Nothing, FOLLOW_FOLDERS),
    long("directory", Takes::Nothing, 'd'),
    long("dired", Takes::Nothing, DIRED),
    long("escape", Takes::Nothing, 'b'),
    long("file-type", Takes::Nothing, FILE_TYPE),
    long("format", Takes::Value, FORMAT),
    long("full-time", Takes::Nothing, FULL_TIME),
    long("group-directories-first", Takes::Nothing, FOLDERS_FIRST),
    long("hide", Takes::Value, HIDE),
    long("hide-control-chars", Takes::Nothing, 'q'),
    long("human-readable", Takes::Nothing, 'h'),
    long("hyperlink", Takes::Maybe, HYPERLINK),
    long("ignore", Takes::Value, 'I'),
    long("ignore-backups", Takes::Nothing, 'B'),
    long("indicator-style", Takes::Value, INDICATOR),
    long("inode", Takes::Nothing, 'i'),
    long("kibibytes", Takes::Nothing, 'k'),
    long("literal", Takes::Nothing, 'N'),
    long("no-group", Takes::Nothing, 'G'),
    long("numeric-uid-gid", Takes::Nothing, 'n'),
    long("quote-name", Takes::Nothing, 'Q'),
    long("quoting-style", Takes::Value, QUOTING),
    long("recursive", Takes::Nothing, 'R'),
    long("reverse", Takes::Nothing, 'r'),
    long("show-control-chars", Takes::Nothing, SHOW_CONTROL),
    long("si", Takes::Nothing, SI),
    long("size", Takes::Nothing, 's'),
    long("sort", Takes::Value, SORT),
    long("tabsize", Takes::Value, 'T'),
    long("time", Takes::Value, TIME),
    long("time-style", Takes::Value, TIME_STYLE),
    long("width", Takes::Value, 'w'),
    long("zero", Takes::Nothing, ZERO),
];

fn failure(message: impl Into<String>) -> Answer {
    Answer::Failure(message.into(), MAJOR)
}

fn usage(message: String) -> Answer {
    Answer::Usage(message, MAJOR)
}

/// Reads the command line over what holds by default.
pub(crate) fn parse(tool: &str, arguments: Vec<Vec<u8>>, defaults: Options) -> Result<Options, Answer> {
    let mut options = defaults;
    let line = CommandLine { misuse: MAJOR, ..CommandLine::core(tool, SHORT, LONG, HELP) };
    let read = line.read(arguments, |key, value| options.option(key, &String::from_utf8_lossy(&value)));
    options.files = read?;
    options.dired &= options.layout == Layout::Long && !options.hyperlinks;
    if options.dired && options.end == 0 {
        return Err(failure("--dired and --zero are incompatible"));
    }
    // Times of access and change order the list, too, unless they are shown.
    options.order.settle(options.layout == Layout::Long);
    if options.layout == Layout::Long && options.follow == Follow::Folders || options.mark == Mark::Classify {
        options.follow = if options.follow == Follow::Folders { Follow::Never } else { options.follow };
    }
    if options.layout == Layout::Long {
        let asked = options.time_style.take().or_else(|| std::env::var("TIME_STYLE").ok());
        options.times = asked.map_or(Ok(TimeStyle::Locale), |asked| time_style(&asked))?;
    }
    if options.folders_as_files && options.follow == Follow::Folders {
        options.follow = Follow::Never;
    }
    Ok(options)
}

/// A number in decimal digits, or in octal or hexadecimal ones as C writes them.
fn count(text: &str) -> Option<usize> {
    match (text.strip_prefix("0x").or(text.strip_prefix("0X")), text.strip_prefix('0')) {
        (Some(digits), _) => usize::from_str_radix(digits, 16).ok(),
        (None, Some(digits)) if !digits.is_empty() => usize::from_str_radix(digits, 8).ok(),
        _ => text.parse().ok(),
    }
}

impl Options {
    fn option(&mut self, key: char, value: &str) -> Result<(), Answer> {
        match key {
            'a' => self.shows = Shows::All,
            'A' => self.shows = Shows::AlmostAll,
            'b' => self.style = Style::Escape,
            'B' => self.ignore.extend([b"*~".to_vec(), b".*~".to_vec()]),
            'c' | 'u' => self.order.stamp = key,
            'C' => self.layout = Layout::Columns,
            'd' => self.folders_as_files = true,
            'f' => {
                self.shows = Shows::All;
                self.order.key = Some(Key::None);
            }
            'g' => (self.layout, self.owner) = (Layout::Long, false),
            'G' => self.group = false,
            'h' => (self.sizes, self.block_sizes) = (Unit::Human(1024), Unit::Human(1024)),
            'k' => self.block_sizes = Unit::Bytes(1024),
            'H' => self.follow = Follow::Named,
            'i' => self.inodes = true,
            'I' => self.ignore.push(value.as_bytes().to_vec()),
            HIDE => self.hidden.push(value.as_bytes().to_vec()),
            'l' => self.layout = Layout::Long,
            'L' => self.follow = Follow::Always,
            'm' => self.layout = Layout::Commas,
            'n' => (self.layout, self.numeric) = (Layout::Long, true),
            'o' => (self.layout, self.group) = (Layout::Long, false),
            'p' => self.mark = Mark::Slash,
            'N' => self.style = Style::Literal,
            'q' => self.hides = true,
            'Q' => self.style = Style::C,
            'r' => self.order.reverse = true,
            'R' => self.recursive = true,
            's' => self.blocks = true,
            'S' => self.order.key = Some(Key::Size),
            't' => self.order.key = Some(Key::Time),
            'U' => self.order.key = Some(Key::None),
            'v' => self.order.key = Some(Key::Version),
            'X' => self.order.key = Some(Key::Extension),
            'T' | 'w' | BLOCK_SIZE => return self.number(key, value),
            'x' => self.layout = Layout::Across,
            '1' if self.layout != Layout::Long => self.layout = Layout::Lines,
            FOLLOW_FOLDERS => self.follow = Follow::Folders,
            SI => (self.sizes, self.block_sizes) = (Unit::Human(1000), Unit::Human(1000)),
            SHOW_CONTROL => self.hides = false,
            AUTHOR => self.author = true,
            FILE_TYPE => self.mark = Mark::FileType,
            FOLDERS_FIRST => self.order.folders_first = true,
            FULL_TIME => (self.layout, self.time_style) = (Layout::Long, Some("full-iso".to_owned())),
            ZERO => {
                if self.layout != Layout::Long {
                    self.layout = Layout::Lines;
                }
                (self.end, self.color, self.style, self.hides) = (0, false, Style::Literal, false);
            }
            _ => return self.word(key, value),
        }
        Ok(())
    }

    /// Options whose value is a number.
    fn number(&mut self, key: char, value: &str) -> Result<(), Answer> {
        match key {
            'T' => {
                let wrong = || failure(format!("invalid tab size: {}", cited(value.as_bytes())));
                self.tab_size = count(value).ok_or_else(wrong)?;
            }
            'w' => {
                let wrong = || failure(format!("invalid line width: {}", cited(value.as_bytes())));
                // 0 is no limit.
                self.width = Some(count(value).ok_or_else(wrong)?).filter(|width| *width > 0).unwrap_or(usize::MAX);
            }
            _ => {
                let wrong = || failure(wrong_size("--block-size", value.as_bytes()));
                let unit = block_size(value.strip_prefix('\'').unwrap_or(value)).ok_or_else(wrong)?;
                (self.sizes, self.block_sizes) = (unit, unit);
            }
        }
        Ok(())
    }

    /// Options whose value is one of a few words.
    fn word(&mut self, key: char, value: &str) -> Result<(), Answer> {
        let choose = |option: &str, words: &[&[&str]]| {
            choose(option, value.as_bytes(), words).map_err(|message| Answer::Usage(message, MINOR))
        };
        // No word at all means always.
        let when = |option: &str| -> Result<bool, Answer> {
            Ok(match if value.is_empty() { 0 } else { choose(option, WHEN)? } {
                0 => true,
                1 => false,
                _ => tidebox_rt::is_terminal(1),
            })
        };
        match key {
            'F' if when("--classify")? => self.mark = Mark::Classify,
            HYPERLINK => self.hyperlinks = when("--hyperlink")?,
            COLOR => self.color = when("--color")?,
            SORT => {
                let keys = [Key::None, Key::Time, Key::Size, Key::Extension, Key::Version, Key::Width];
                let words: &[&[&str]] = &[&["none"], &["time"], &["size"], &["extension"], &["version"], &["width"]];
                // "name" is no word of the list, but understood by newer versions.
                self.order.key =
                    if value == "name" { Some(Key::Name) } else { keys.get(choose("--sort", words)?).copied() };
            }
            TIME => {
                let words: &[&[&str]] = &[&["atime", "access", "use"], &["ctime", "status"], &["birth", "creation"]];
                self.order.stamp = match value {
                    "mtime" | "modification" => 'm',
                    _ => match choose("--time", words)? {
                        0 => 'u',
                        1 => 'c',
                        _ => 'b',
                    },
                }
            }
            FORMAT => {
                let words: &[&[&str]] =
                    &[&["verbose", "long"], &["commas"], &["horizontal", "across"], &["vertical"], &["single-column"]];
                let layouts = [Layout::Long, Layout::Commas, Layout::Across, Layout::Columns, Layout::Lines];
                self.layout = layouts.get(choose("--format", words)?).copied().unwrap_or(self.layout);
            }
            INDICATOR => {
                let words: &[&[&str]] = &[&["none"], &["slash"], &["file-type"], &["classify"]];
                let marks = [Mark::Nothing, Mark::Slash, Mark::FileType, Mark::Classify];
                self.mark = marks.get(choose("--indicator-style", words)?).copied().unwrap_or(self.mark);
            }
            QUOTING => self.style = style(choose("--quoting-style", WORDS)?),
            TIME_STYLE => self.time_style = Some(value.to_owned()),
            'D' | DIRED => self.dired = true,
            'Z' | CONTEXT => self.contexts = true,
            _ => {}
        }
        Ok(())
    }
}

const WHEN: &[&[&str]] = &[&["always", "yes", "force"], &["never", "no", "none"], &["auto", "tty", "if-tty"]];

fn time_style(value: &str) -> Result<TimeStyle, Answer> {
    if let Some(format) = value.strip_prefix('+') {
        return Ok(TimeStyle::Format(format.to_owned()));
    }
    let word = match value.strip_prefix("posix-") {
        // What begins so is not for the POSIX locale.
        Some(_) if !unicode_locale() => "locale",
        Some(word) => word,
        None => value,
    };
    Ok(match word {
        "full-iso" => TimeStyle::FullIso,
        "long-iso" => TimeStyle::LongIso,
        "iso" => TimeStyle::Iso,
        "locale" => TimeStyle::Locale,
        _ => {
            return Err(usage(format!(
                "invalid argument {} for {}\nValid arguments are:\n  - [posix-]full-iso\n  - [posix-]long-iso\n  \
                 - [posix-]iso\n  - [posix-]locale\n  - +FORMAT (e.g., +%H:%M) for a 'date'-style format",
                cited(value.as_bytes()),
                cited(b"time style")
            )));
        }
    })
}
