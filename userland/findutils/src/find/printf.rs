//! Formats of `-printf` and `-ls`.

use tidebox_gnu::calendar::Moment;
use tidebox_gnu::escape::control;
use tidebox_gnu::mode::letters;
use tidebox_gnu::strftime;
use tidebox_gnu::user::Names;
use tidebox_gnu::zone::Zone;
use tidebox_rt::{FileKind, Stat};

use crate::entry::{Entry, letter};

/// A parsed format.
#[derive(Debug)]
pub(crate) struct Format {
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Text(Vec<u8>),
    Field {
        pad: Pad,
        field: Field,
    },
    /// `\c`: stops the output.
    Stop,
}

/// Padding of a field.
#[derive(Clone, Copy, Debug, Default)]
struct Pad {
    left: bool,
    zeros: bool,
    alternate: bool,
    /// Sign of numbers that are not negative.
    sign: Option<u8>,
    width: usize,
    most: Option<usize>,
}

/// Letter of a field, and the second letter for times.
#[derive(Clone, Copy, Debug)]
enum Field {
    Letter(char),
    Time(char, char),
}

/// Type of all file systems of the sandbox.
pub(crate) const FILE_SYSTEM: &[u8] = b"tidebox";

/// Maximum width of a field in columns. Bounds memory.
const MAX_WIDTH: usize = 4096;

impl Format {
    pub(crate) fn parse(source: &[u8], warnings: &mut Vec<String>) -> Result<Self, String> {
        let mut format = Self { parts: Vec::new() };
        let mut rest = source;
        while let Some((first, after)) = rest.split_first() {
            rest = match first {
                b'\\' => format.escape(after, warnings),
                b'%' => format.field(after, warnings)?,
                byte => {
                    format.text(&[*byte]);
                    after
                }
            };
        }
        Ok(format)
    }

    fn text(&mut self, bytes: &[u8]) {
        match self.parts.last_mut() {
            Some(Part::Text(text)) => text.extend_from_slice(bytes),
            _ => self.parts.push(Part::Text(bytes.to_vec())),
        }
    }

    fn escape<'s>(&mut self, rest: &'s [u8], warnings: &mut Vec<String>) -> &'s [u8] {
        let Some((letter, after)) = rest.split_first() else {
            warnings.push("escape `\\' followed by nothing at all".to_owned());
            self.text(b"\\");
            return rest;
        };
        let byte = match letter {
            b'\\' => b'\\',
            b'c' => {
                self.parts.push(Part::Stop);
                return after;
            }
            b'0'..=b'7' => {
                let digits = rest.iter().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
                let (octal, after) = rest.split_at_checked(digits).unwrap_or((rest, b""));
                let value = octal.iter().fold(0u32, |value, digit| value * 8 + u32::from(digit - b'0'));
                self.text(&[u8::try_from(value & 255).unwrap_or(0)]);
                return after;
            }
            letter => {
                let Some(byte) = control(*letter) else {
                    warnings.push(format!("unrecognized escape `\\{}'", char::from(*letter)));
                    self.text(&[b'\\', *letter]);
                    return after;
                };
                byte
            }
        };
        self.text(&[byte]);
        after
    }

    fn field<'s>(&mut self, rest: &'s [u8], warnings: &mut Vec<String>) -> Result<&'s [u8], String> {
        let mut pad = Pad::default();
        let mut at = 0;
        while let Some(flag) = rest.get(at) {
            match flag {
                b'-' => pad.left = true,
                b'0' => pad.zeros = true,
                b'#' => pad.alternate = true,
                b'+' => pad.sign = Some(b'+'),
                b' ' => pad.sign = pad.sign.or(Some(b' ')),
                _ => break,
            }
            at += 1;
        }
        pad.width = digits(rest, &mut at).unwrap_or(0).min(MAX_WIDTH);
        if rest.get(at) == Some(&b'.') {
            at += 1;
            pad.most = Some(digits(rest, &mut at).unwrap_or(0).min(MAX_WIDTH));
        }
        let Some(letter) = rest.get(at).copied().map(char::from) else {
            return Err("error: % at end of format string".to_owned());
        };
        at += 1;
        let field = match letter {
            '%' => {
                self.text(b"%");
                return Ok(rest.get(at..).unwrap_or_default());
            }
            'A' | 'C' | 'T' => {
                let Some(second) = rest.get(at).copied().map(char::from) else {
                    return Err(format!("error: %{letter} at end of format string"));
                };
                at += 1;
                Field::Time(letter, second)
            }
            letter if "abcdDfFgGhHiklmMnpPsStuUyYZ".contains(letter) => Field::Letter(letter),
            '(' | '{' | '[' => {
                return Err(format!("error: the format directive `%{letter}' is reserved for future use"));
            }
            other => {
                warnings.push(format!("unrecognized format directive `%{other}'"));
                self.text(&[b"%", rest.get(..at).unwrap_or_default()].concat());
                return Ok(rest.get(at..).unwrap_or_default());
            }
        };
        self.parts.push(Part::Field { pad, field });
        Ok(rest.get(at..).unwrap_or_default())
    }

    /// Formats a file.
    pub(crate) fn text_for(&self, entry: &Entry, names: &OwnerNames, failed: &mut bool) -> Vec<u8> {
        let mut out = Vec::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => out.extend_from_slice(text),
                Part::Stop => break,
                Part::Field { pad, field } => {
                    let mut value = field.value(entry, names, *pad, failed);
                    // Modes have no sign, either.
                    if let (Some(sign), Field::Letter('d')) = (pad.sign, field) {
                        value.insert(0, sign);
                    }
                    // As in GNU, only numeric fields are padded with zeros.
                    let zeros = pad.zeros && matches!(field, Field::Letter('d' | 'm'));
                    Pad { zeros, ..*pad }.write(&value, &mut out);
                }
            }
        }
        out
    }
}

fn digits(rest: &[u8], at: &mut usize) -> Option<usize> {
    let begin = *at;
    while rest.get(*at).is_some_and(u8::is_ascii_digit) {
        *at += 1;
    }
    std::str::from_utf8(rest.get(begin..*at)?).ok()?.parse().ok()
}

impl Pad {
    fn write(self, value: &[u8], out: &mut Vec<u8>) {
        let value = value.get(..self.most.unwrap_or(value.len())).unwrap_or(value);
        let missing = self.width.saturating_sub(value.len());
        let fill = if self.zeros && !self.left { b'0' } else { b' ' };
        let signs = usize::from(fill == b'0' && self.sign.is_some() && value.first() == self.sign.as_ref());
        let (sign, value) = value.split_at_checked(signs).unwrap_or((b"", value));
        out.extend_from_slice(sign);
        if !self.left {
            out.extend(std::iter::repeat_n(fill, missing));
        }
        out.extend_from_slice(value);
        if self.left {
            out.extend(std::iter::repeat_n(b' ', missing));
        }
    }
}

/// Names of users and groups, loaded on first use.
#[derive(Debug, Default)]
pub(crate) struct OwnerNames {
    users: std::cell::OnceCell<Names>,
    groups: std::cell::OnceCell<Names>,
}

impl OwnerNames {
    pub(crate) fn users(&self) -> &Names {
        self.users.get_or_init(|| Names::load(tidebox_gnu::user::Kind::User))
    }

    pub(crate) fn groups(&self) -> &Names {
        self.groups.get_or_init(|| Names::load(tidebox_gnu::user::Kind::Group))
    }
}

impl Field {
    fn value(self, entry: &Entry, names: &OwnerNames, pad: Pad, failed: &mut bool) -> Vec<u8> {
        match self {
            Self::Letter('p') => entry.path.clone(),
            Self::Letter('f') => entry.base(),
            Self::Letter('h') => entry.folder().to_vec(),
            Self::Letter('P') => entry.below_start().to_vec(),
            Self::Letter('H') => entry.path.get(..entry.start).unwrap_or_default().to_vec(),
            Self::Letter('d') => entry.depth.to_string().into_bytes(),
            Self::Letter('F') => FILE_SYSTEM.to_vec(),
            Self::Letter('Z') => Vec::new(),
            Self::Letter('y') => entry.kind().map_or_else(|| vec![b'U'], |kind| vec![letter(kind)]),
            Self::Letter('Y') => other_type(entry),
            Self::Letter('l') => link_target(entry),
            Self::Letter(other) => match entry.stat_or_report(failed) {
                Some(stat) => state(other, stat, names, pad).into_bytes(),
                None => Vec::new(),
            },
            Self::Time(which, letter) => match entry.stat_or_report(failed) {
                Some(stat) => {
                    let ns = match which {
                        'A' => stat.atime_ns,
                        'C' => stat.ctime_ns,
                        _ => stat.mtime_ns,
                    };
                    time(&Moment::local_ns(ns), letter)
                }
                None => Vec::new(),
            },
        }
    }
}

fn state(letter: char, stat: &Stat, names: &OwnerNames, pad: Pad) -> String {
    match letter {
        'a' => full_time(stat.atime_ns),
        'b' => blocks(stat).to_string(),
        'c' => full_time(stat.ctime_ns),
        'D' => stat.dev.to_string(),
        'g' => names.groups().name_or_id(stat.gid),
        'G' => stat.gid.to_string(),
        'i' => stat.ino.to_string(),
        'k' => blocks(stat).div_ceil(2).to_string(),
        'm' if pad.alternate => format!("0{:o}", stat.mode & 0o7777),
        'm' => format!("{:o}", stat.mode & 0o7777),
        'M' => letters(stat.mode),
        'n' => stat.nlink.to_string(),
        's' => stat.size.to_string(),
        'S' => if stat.size == 0 { 1.0 } else { blocks(stat) as f64 * 512.0 / stat.size as f64 }.to_string(),
        't' => full_time(stat.mtime_ns),
        'u' => names.users().name_or_id(stat.uid),
        'U' => stat.uid.to_string(),
        _ => String::new(),
    }
}

/// Returns the number of blocks of 512 bytes. Files occupy pages of 4 KiB, as on most file systems.
fn blocks(stat: &Stat) -> u64 {
    if stat.kind() == FileKind::Symlink { 0 } else { stat.size.div_ceil(4096).saturating_mul(8) }
}

fn time(moment: &Moment, letter: char) -> Vec<u8> {
    let fraction = format!("{:09}0", moment.nanoseconds);
    match letter {
        '@' => format!("{}.{fraction}", moment.seconds).into_bytes(),
        'S' => format!("{:02}.{fraction}", moment.second).into_bytes(),
        'T' | 'X' => clock(moment).into_bytes(),
        '+' => format!("{}+{}", moment.field('F').unwrap_or_default(), clock(moment)).into_bytes(),
        'Z' => strftime::format(b"%Z", (moment.seconds, 0), Zone::local()),
        letter => moment.field(letter).unwrap_or_default().into_bytes(),
    }
}

/// Formats the time of day. As in GNU, fractions have ten digits and the last digit is zero.
fn clock(moment: &Moment) -> String {
    format!("{:02}:{:02}:{:02}.{:09}0", moment.hour, moment.minute, moment.second, moment.nanoseconds)
}

fn full_time(ns: u64) -> String {
    let moment = Moment::local_ns(ns);
    let field = |letter| moment.field(letter).unwrap_or_default();
    format!("{} {} {:>2} {} {}", field('a'), field('b'), moment.day, clock(&moment), moment.year)
}

/// Returns the type of the target of a link: `N` if it does not exist, `L` for a cycle.
fn other_type(entry: &Entry) -> Vec<u8> {
    if entry.kind() != Some(FileKind::Symlink) {
        return entry.kind().map_or_else(|| vec![b'U'], |kind| vec![letter(kind)]);
    }
    vec![match tidebox_rt::stat(&entry.path, true) {
        Ok(stat) => letter(stat.kind()),
        Err(tidebox_rt::Errno::LOOP) => b'L',
        Err(tidebox_rt::Errno::NOENT | tidebox_rt::Errno::NOTDIR) => b'N',
        Err(_) => b'?',
    }]
}

pub(crate) fn link_target(entry: &Entry) -> Vec<u8> {
    if entry.kind() != Some(FileKind::Symlink) {
        return Vec::new();
    }
    tidebox_rt::read_link(&entry.path).unwrap_or_default()
}

/// Escapes blanks, quotes and unprintable characters of a name as in C.
fn escape(name: &[u8], line: &mut Vec<u8>) {
    for byte in name {
        match byte {
            b'\n' => line.extend_from_slice(b"\\n"),
            b'\t' => line.extend_from_slice(b"\\t"),
            b'\r' => line.extend_from_slice(b"\\r"),
            0x08 => line.extend_from_slice(b"\\b"),
            0x0c => line.extend_from_slice(b"\\f"),
            b' ' | b'"' | b'\\' => line.extend_from_slice(&[b'\\', *byte]),
            0x21..=0x7e => line.push(*byte),
            other => line.extend_from_slice(format!("\\{other:03o}").as_bytes()),
        }
    }
}

/// Formats the line of `-ls`.
pub(crate) fn listing(entry: &Entry, names: &OwnerNames, now: u64, failed: &mut bool) -> Option<Vec<u8>> {
    /// Half a year in seconds. Older files show the year instead of the time of day.
    const RECENT_NS: u64 = 31_556_952 / 2 * 1_000_000_000;
    let stat = entry.stat_or_report(failed)?;
    let moment = Moment::local_ns(stat.mtime_ns);
    let recent = stat.mtime_ns <= now && now - stat.mtime_ns < RECENT_NS;
    let when = if recent { moment.field('R') } else { Some(format!(" {}", moment.year)) };
    let mut line = format!(
        "{:>9} {:>6} {} {:>3} {:<8} {:<8} {:>8} {} {:>2} {} ",
        stat.ino,
        blocks(stat).div_ceil(2),
        letters(stat.mode),
        stat.nlink,
        names.users().name_or_id(stat.uid),
        names.groups().name_or_id(stat.gid),
        stat.size,
        moment.field('b').unwrap_or_default(),
        moment.day,
        when.unwrap_or_default(),
    )
    .into_bytes();
    escape(&entry.path, &mut line);
    let target = link_target(entry);
    if !target.is_empty() {
        line.extend_from_slice(b" -> ");
        escape(&target, &mut line);
    }
    line.push(b'\n');
    Some(line)
}
