//! Fields of a format.

use tidebox_gnu::calendar::Moment;
use tidebox_gnu::message::{kind, print_error, quote_value};
use tidebox_gnu::mode::letters;
use tidebox_gnu::user::{Kind, Names};
use tidebox_rt::{FileKind, Stat};

use super::escape::escape;
use super::pad::Pad;
use super::{DEFAULT, TERSE};
use crate::ls::quote::{self, Style};
use crate::stat::file_system::{self, FileSystem};

/// Block size in bytes, as of most file systems.
const BLOCK: u64 = 4096;

pub(super) struct Printer {
    format: Vec<u8>,
    /// Backslash escapes are interpreted.
    escapes: bool,
    /// Print a line end after each file.
    lines: bool,
    /// Quoting style of names in `%N`.
    quotes: Option<Style>,
    users: Names,
    groups: Names,
    /// Attributes of the file system, if they are printed instead of those of the file.
    pub(super) file_system: Option<FileSystem>,
}

impl Printer {
    pub(super) fn new(format: Option<(Vec<u8>, bool)>, terse: bool, file_system: bool) -> Self {
        let default = match (terse, file_system) {
            (false, false) => DEFAULT,
            (true, false) => TERSE,
            (false, true) => file_system::DEFAULT,
            (true, true) => file_system::TERSE,
        };
        let (format, escapes, lines, quotes) = match format {
            Some((format, escapes)) => (format, escapes, !escapes, Some(quoting())),
            None => (default.as_bytes().to_vec(), false, false, None),
        };
        let (users, groups) = (Names::load(Kind::User), Names::load(Kind::Group));
        Self { format, escapes, lines, quotes, users, groups, file_system: None }
    }

    pub(super) fn print(&self, file: &[u8], stat: &Stat, out: &mut Vec<u8>) {
        let mut rest = self.format.as_slice();
        while let Some((first, after)) = rest.split_first() {
            rest = after;
            match first {
                b'%' => rest = self.field(rest, file, stat, out),
                b'\\' if self.escapes => rest = escape(rest, out),
                byte => out.push(*byte),
            }
        }
        if self.lines {
            out.push(b'\n');
        }
    }

    /// Prints one field and returns the rest of the format.
    fn field<'r>(&self, rest: &'r [u8], file: &[u8], stat: &Stat, out: &mut Vec<u8>) -> &'r [u8] {
        let (mut pad, mut at) = Pad::read(rest);
        let part = rest.get(at).copied().filter(|letter| matches!(letter, b'H' | b'L'));
        at += usize::from(part.is_some());
        let Some(letter) = rest.get(at) else {
            out.push(b'%');
            out.extend_from_slice(rest);
            return b"";
        };
        let value = match part {
            Some(part) => device_part(part, *letter, stat),
            None => self.value(*letter, pad, file, stat),
        };
        match value {
            Some(value) => {
                if !b"sWXYZ".contains(letter) {
                    pad.sign = b"";
                }
                pad.write(&value, out);
            }
            None if *letter == b'%' => out.push(b'%'),
            None => out.push(b'?'),
        }
        rest.get(at + 1..).unwrap_or_default()
    }

    fn value(&self, letter: u8, pad: Pad, file: &[u8], stat: &Stat) -> Option<Vec<u8>> {
        if let Some(system) = &self.file_system {
            return system.value(letter, file, stat);
        }
        let text = match letter {
            b'n' => return Some(file.to_vec()),
            b'N' => return Some(self.name_and_target(file, stat)),
            b'a' if pad.alternate => format!("0{:o}", stat.mode & 0o7777),
            b'a' => format!("{:o}", stat.mode & 0o7777),
            b'A' => letters(stat.mode),
            b'b' => blocks(stat).to_string(),
            b'B' => "512".to_owned(),
            b'd' => stat.dev.to_string(),
            b'D' | b'f' if pad.alternate => format!("0x{:x}", if letter == b'f' { stat.mode } else { stat.dev }),
            b'D' => format!("{:x}", stat.dev),
            b'f' => format!("{:x}", stat.mode),
            b'F' => kind(stat).to_owned(),
            b'g' => stat.gid.to_string(),
            b'G' => self.groups.name(stat.gid).unwrap_or("UNKNOWN").to_owned(),
            b'h' => stat.nlink.to_string(),
            b'i' => stat.ino.to_string(),
            b'm' => "/".to_owned(),
            b'o' => BLOCK.to_string(),
            b's' => stat.size.to_string(),
            b't' | b'T' | b'r' | b'R' => "0".to_owned(),
            b'u' => stat.uid.to_string(),
            b'U' => self.users.name(stat.uid).unwrap_or("UNKNOWN").to_owned(),
            b'w' => "-".to_owned(),
            b'W' => "0".to_owned(),
            b'x' => full_time(stat.atime_ns),
            b'X' => seconds(stat.atime_ns, pad.precision),
            b'y' => full_time(stat.mtime_ns),
            b'Y' => seconds(stat.mtime_ns, pad.precision),
            b'z' => full_time(stat.ctime_ns),
            b'Z' => seconds(stat.ctime_ns, pad.precision),
            _ => return None,
        };
        Some(text.into_bytes())
    }

    fn name_and_target(&self, file: &[u8], stat: &Stat) -> Vec<u8> {
        let shown = |name: &[u8]| match self.quotes {
            None => name.to_vec(),
            // Only `ls` escapes blanks.
            Some(Style::Escape) => quote::escaped(name, None),
            Some(style) => quote::written(name, style, false),
        };
        let mut text = shown(file);
        if stat.kind() == FileKind::Symlink {
            text.extend_from_slice(b" -> ");
            text.extend(shown(&tidebox_rt::read_link(file).unwrap_or_default()));
        }
        text
    }
}

/// Returns the style of `QUOTING_STYLE`. The default are quotes for a shell.
fn quoting() -> Style {
    let Some(word) = std::env::var_os("QUOTING_STYLE").map(|word| word.into_encoded_bytes()) else {
        return Style::ShellEscapeAlways;
    };
    match quote::WORDS.iter().position(|names| names.iter().any(|name| name.as_bytes() == word)) {
        Some(at) => quote::style(at),
        None => {
            let variable = "ignoring invalid value of environment variable QUOTING_STYLE";
            print_error("stat", &format!("{variable}: {}", quote_value(&word)));
            Style::ShellEscapeAlways
        }
    }
}

/// Returns the major (`H`) or minor (`L`) device number.
fn device_part(part: u8, letter: u8, stat: &Stat) -> Option<Vec<u8>> {
    let device = if letter == b'd' { stat.dev } else { 0 };
    let half = match part {
        b'H' => device >> 8,
        _ => device & 255,
    };
    matches!(letter, b'd' | b'r').then(|| half.to_string().into_bytes())
}

fn blocks(stat: &Stat) -> u64 {
    if stat.kind() == FileKind::Symlink { 0 } else { stat.size.div_ceil(BLOCK).saturating_mul(BLOCK / 512) }
}

fn full_time(ns: u64) -> String {
    let moment = Moment::local_ns(ns);
    let field = |letter| moment.field(letter).unwrap_or_default();
    format!("{} {}.{:09} {}", field('F'), field('T'), moment.nanoseconds, field('z'))
}

/// Formats seconds since 1970 with `digits` decimals.
fn seconds(ns: u64, digits: Option<usize>) -> String {
    let moment = Moment::from_ns(ns);
    match digits {
        None => moment.seconds.to_string(),
        Some(digits) => {
            let fraction = format!("{:09}", moment.nanoseconds);
            let shown = fraction.get(..digits.min(9)).unwrap_or_default();
            let point = if shown.is_empty() { "" } else { "." };
            format!("{}{point}{shown}", moment.seconds)
        }
    }
}
