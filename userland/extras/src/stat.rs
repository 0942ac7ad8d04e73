//! `stat`: the state of files.

use crate::ls::quote::{self, Style};
use tidebox_gnu::answer::{Answer, print};
use tidebox_gnu::calendar::Moment;
use tidebox_gnu::command_line::CommandLine;
use tidebox_gnu::getopt::{Long, Takes, long};
use tidebox_gnu::message::{cited, complain, kind, quoted};
use tidebox_gnu::mode::letters;
use tidebox_gnu::user::{Kind, Names};
use tidebox_rt::{FileKind, Stat};

use crate::file_system::{self, FileSystem};

const HELP: &str = "\
Usage: stat [OPTION]... FILE...
Prints the state of each FILE.

  -L, --dereference   of what a link leads to
  -f, --file-system   of the file system that it is on
  -c, --format=FORMAT print FORMAT and a line end instead of everything
      --printf=FORMAT as --format, but without line end, and \\n and its kin count
  -t, --terse         print it on one line

FORMAT may hold: %a %A mode, %b %B blocks and their size, %d %D device, %f raw mode,
%F type, %g %G group, %h links, %i inode, %m mount point, %n name, %N name and where a
link leads, %o block size, %s size, %u %U user, %w %W birth (unknown), %x %X access,
%y %Y modification, %z %Z change of state
";

const DEFAULT: &str = "  File: %N
  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F
Device: %Hd,%Ld\tInode: %-10i  Links: %h
Access: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)
Access: %x
Modify: %y
Change: %z
 Birth: %w
";

const TERSE: &str = "%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o\n";

/// As most file systems have it.
const BLOCK: u64 = 4096;

/// The widest field. Wider ones would only serve to fill the memory.
const WIDEST: usize = 4096;

const PRINTF: char = '\u{e001}';
const HELP_KEY: char = '\u{e002}';

const LONG: &[Long] = &[
    long("dereference", Takes::Nothing, 'L'),
    long("file-system", Takes::Nothing, 'f'),
    long("format", Takes::Value, 'c'),
    long("printf", Takes::Value, PRINTF),
    long("terse", Takes::Nothing, 't'),
    long("help", Takes::Nothing, HELP_KEY),
];

struct Printer {
    format: Vec<u8>,
    /// Escapes count.
    escapes: bool,
    /// A line end follows.
    lines: bool,
    /// How names in `%N` are quoted, if they are.
    quotes: Option<Style>,
    users: Names,
    groups: Names,
    /// It is asked for the file system and not for the file.
    file_system: Option<FileSystem>,
}

pub(crate) fn main(arguments: Vec<Vec<u8>>) -> Answer {
    let mut follow = false;
    let mut terse = false;
    let mut file_system = false;
    let mut format: Option<(Vec<u8>, bool)> = None;
    let line = CommandLine::core("stat", "Lfc:t", LONG, HELP);
    let files = line.read(arguments, |key, value| {
        match key {
            'L' => follow = true,
            't' => terse = true,
            'c' => format = Some((value, false)),
            PRINTF => format = Some((value, true)),
            _ => file_system = true,
        }
        Ok(())
    });
    let files = match files {
        Ok(files) if files.is_empty() => return line.wrong("missing operand"),
        Ok(files) => files,
        Err(answer) => return answer,
    };
    if let Some(wrong) = format.as_ref().and_then(|(format, _)| wrong_directive(format)) {
        return Answer::Failure(format!("{}: invalid directive", cited(&wrong)), 1);
    }
    let mut printer = Printer::new(format, terse, file_system);
    if file_system {
        (printer.file_system, follow) = (Some(FileSystem::now()), true);
    }
    if file_system && files.iter().any(|file| file == b"-") {
        return Answer::Failure("using '-' to denote standard input does not work in file system mode".to_owned(), 1);
    }
    let mut out = Vec::new();
    let mut code = 0;
    for file in &files {
        let stat = if file == b"-" { tidebox_rt::fstat(0) } else { tidebox_rt::stat(file, follow) };
        match stat {
            Ok(stat) => printer.print(file, &stat, &mut out),
            Err(error) => {
                let what = if file_system { "cannot read file system information for" } else { "cannot statx" };
                code = 1;
                // What is known so far comes first.
                let _ = print(&std::mem::take(&mut out));
                complain("stat", &format!("{what} {}: {}", quoted(file), error.text()));
            }
        }
    }
    Answer::PrintAndCode(out, code)
}

/// The style that the environment asks for, else quotes that a shell understands.
fn quoting() -> Style {
    let Some(word) = std::env::var_os("QUOTING_STYLE").map(|word| word.into_encoded_bytes()) else {
        return Style::ShellEscapeAlways;
    };
    match quote::WORDS.iter().position(|names| names.iter().any(|name| name.as_bytes() == word)) {
        Some(at) => quote::style(at),
        None => {
            let variable = "ignoring invalid value of environment variable QUOTING_STYLE";
            complain("stat", &format!("{variable}: {}", cited(&word)));
            Style::ShellEscapeAlways
        }
    }
}

/// A `%` that has flags or a width before it, or a directive without its letter.
fn wrong_directive(format: &[u8]) -> Option<Vec<u8>> {
    let mut rest = format;
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        let behind = rest.get(at + 1..)?;
        let flags = behind.iter().take_while(|byte| b"-0+ #'.123456789".contains(byte)).count();
        let letter = behind.get(flags);
        if flags > 0 && matches!(letter, None | Some(b'%')) {
            return rest.get(at..=at + flags + usize::from(letter.is_some())).map(<[u8]>::to_vec);
        }
        rest = behind.get(flags + 1..)?;
    }
    None
}

impl Printer {
    fn new(format: Option<(Vec<u8>, bool)>, terse: bool, file_system: bool) -> Self {
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

    fn print(&self, file: &[u8], stat: &Stat, out: &mut Vec<u8>) {
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

    /// Prints one field and answers what follows it.
    fn field<'r>(&self, rest: &'r [u8], file: &[u8], stat: &Stat, out: &mut Vec<u8>) -> &'r [u8] {
        let mut at = 0;
        let mut pad = Pad::default();
        while let Some(flag) = rest.get(at).filter(|flag| b"-0+ #'".contains(flag)) {
            match flag {
                b'-' => pad.left = true,
                b'0' => pad.zeros = true,
                b'#' => pad.alternate = true,
                b'+' => pad.sign = b"+",
                b' ' if pad.sign.is_empty() => pad.sign = b" ",
                _ => {}
            }
            at += 1;
        }
        pad.width = digits(rest, &mut at).unwrap_or(0).min(WIDEST);
        if rest.get(at) == Some(&b'.') {
            at += 1;
            pad.most = Some(digits(rest, &mut at).unwrap_or(9).min(WIDEST));
        }
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
            b'X' => seconds(stat.atime_ns, pad.most),
            b'y' => full_time(stat.mtime_ns),
            b'Y' => seconds(stat.mtime_ns, pad.most),
            b'z' => full_time(stat.ctime_ns),
            b'Z' => seconds(stat.ctime_ns, pad.most),
            _ => return None,
        };
        Some(text.into_bytes())
    }

    fn name_and_target(&self, file: &[u8], stat: &Stat) -> Vec<u8> {
        let shown = |name: &[u8]| match self.quotes {
            None => name.to_vec(),
            // Only ls escapes blanks.
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

/// How a field is filled up.
#[derive(Clone, Copy, Debug, Default)]
struct Pad {
    left: bool,
    zeros: bool,
    alternate: bool,
    /// What stands in front of numbers that could be negative.
    sign: &'static [u8],
    width: usize,
    most: Option<usize>,
}

impl Pad {
    fn write(self, value: &[u8], out: &mut Vec<u8>) {
        let is_number = value.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.');
        // For numbers the precision is said already.
        let most = self.most.filter(|_| !is_number).unwrap_or(value.len());
        let value = value.get(..most).unwrap_or(value);
        let (sign, value) = match value.strip_prefix(b"0x") {
            Some(digits) if self.alternate => (&b"0x"[..], digits),
            _ => (if is_number { self.sign } else { b"" }, value),
        };
        let is_number = is_number || sign == b"0x";
        let missing = self.width.saturating_sub(value.len() + sign.len());
        if self.zeros && !self.left && is_number {
            out.extend_from_slice(sign);
            out.extend(std::iter::repeat_n(b'0', missing));
            out.extend_from_slice(value);
            return;
        }
        let fill = std::iter::repeat_n(b' ', missing);
        if !self.left {
            out.extend(fill.clone());
        }
        out.extend_from_slice(sign);
        out.extend_from_slice(value);
        if self.left {
            out.extend(fill);
        }
    }
}

fn digits(rest: &[u8], at: &mut usize) -> Option<usize> {
    let begin = *at;
    while rest.get(*at).is_some_and(u8::is_ascii_digit) {
        *at += 1;
    }
    std::str::from_utf8(rest.get(begin..*at)?).ok()?.parse().ok()
}

fn escape<'r>(rest: &'r [u8], out: &mut Vec<u8>) -> &'r [u8] {
    let Some((letter, after)) = rest.split_first() else {
        complain("stat", "warning: backslash at end of format");
        out.push(b'\\');
        return rest;
    };
    out.push(match letter {
        b'a' => 7,
        b'b' => 8,
        b'e' => 27,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'0'..=b'7' => {
            let count = rest.iter().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
            let (octal, after) = rest.split_at_checked(count).unwrap_or((rest, b""));
            let value = octal.iter().fold(0u32, |value, digit| value * 8 + u32::from(digit - b'0'));
            out.push(u8::try_from(value & 255).unwrap_or(0));
            return after;
        }
        b'"' | b'\\' => *letter,
        b'x' if after.first().is_some_and(u8::is_ascii_hexdigit) => {
            let count = after.iter().take(2).take_while(|byte| byte.is_ascii_hexdigit()).count();
            let (digits, after) = after.split_at_checked(count).unwrap_or((after, b""));
            let value = std::str::from_utf8(digits).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok());
            out.push(value.unwrap_or(0));
            return after;
        }
        other => {
            complain("stat", &format!("warning: unrecognized escape '\\{}'", char::from(*other)));
            *other
        }
    });
    after
}

/// The high and the low half of a device number.
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

/// Seconds since 1970, with as many digits of the fraction as the precision says.
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
