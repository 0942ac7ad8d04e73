//! Command line of `split`.

use tidebox_gnu::message::quote_value;
use tidebox_gnu::options::{ParsedOption, Syntax};

use super::names::{Digits, Names};
use crate::common::Failure;

const USAGE: &str = "\
Usage: split [OPTION]... [FILE [PREFIX]]
Writes parts of FILE, or of standard input, to PREFIXaa, PREFIXab, ... The default PREFIX is x.

";

tidebox_gnu::options! {
    /// Options of `split`.
    pub(super) enum Flag {
        SuffixLength = "-a, --suffix-length=N", "length of suffixes (2)";
        AdditionalSuffix = "--additional-suffix=SUFFIX", "append SUFFIX to the names";
        Bytes = "-b, --bytes=SIZE", "write SIZE bytes to each file";
        LineBytes = "-C, --line-bytes=SIZE", "write whole lines of at most SIZE bytes to each file";
        NumericSuffixes = "-d, --numeric-suffixes[=FROM]", "use digits as suffixes, starting with FROM (0)";
        HexSuffixes = "-x, --hex-suffixes[=FROM]", "use hexadecimal digits, starting with FROM (0)";
        ElideEmptyFiles = "-e, --elide-empty-files", "omit empty files with -n";
        Filter = "--filter=COMMAND", "write to COMMAND instead; it gets the file name in $FILE";
        Lines = "-l, --lines=NUMBER", "write NUMBER lines to each file (1000)";
        Number = "-n, --number=CHUNKS",
            "write N files: N by size, l/N by lines, r/N round robin;\nK/N, l/K/N and r/K/N print only the Kth";
        Separator = "-t, --separator=SEP", "end of a line (newline)";
        Unbuffered = "-u, --unbuffered", "has no effect: input is written as it is read";
        Verbose = "--verbose", "print the name of each file";
        Digit = "-0 ... -9", "";
    }
}

const LINE: Syntax<'_, Flag> = Syntax::core("split", USAGE, 32);

/// Default suffix length.
const DEFAULT_LENGTH: usize = 2;

const OUT_OF_RANGE: &str = "Numerical result out of range";
const TOO_LARGE: &str = "Value too large for defined data type";

/// Splitting mode of `-n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chunks {
    Bytes,
    Lines,
    Robin,
}

/// Size of one output file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Lines(u64),
    Bytes(u64),
    LineBytes(u64),
    /// Number of parts, and the only one to print to stdout.
    Number(Chunks, Option<u64>, u64),
}

#[derive(Debug)]
pub(super) struct Options {
    pub(super) input: Vec<u8>,
    pub(super) by: By,
    pub(super) separator: u8,
    pub(super) filter: Option<Vec<u8>>,
    pub(super) verbose: bool,
    pub(super) elide: bool,
    prefix: Vec<u8>,
    digits: Digits,
    suffix: Vec<u8>,
    length: usize,
    grows: bool,
    start: usize,
}

/// Options before validation.
#[derive(Debug, Default)]
struct RawOptions {
    by: Option<By>,
    /// Number of lines given as an option, `-20`.
    digits_option: Option<u64>,
    separator: Option<u8>,
    filter: Option<Vec<u8>>,
    verbose: bool,
    elide: bool,
    digits: Digits,
    suffix: Vec<u8>,
    length: usize,
    start: Option<usize>,
}

fn fail<T>(message: String) -> Result<T, Failure> {
    Err(Failure::Unsupported(message))
}

pub(super) fn read(arguments: Vec<Vec<u8>>) -> Result<Options, Failure> {
    let mut raw = RawOptions::default();
    let mut operands = LINE.parse_given(arguments, |option| raw.set(option))?.into_iter();
    let input = operands.next().unwrap_or_else(|| b"-".to_vec());
    let prefix = operands.next().unwrap_or_else(|| b"x".to_vec());
    if let Some(extra) = operands.next() {
        return Err(LINE.usage_error(format!("extra operand {}", quote_value(&extra))));
    }
    raw.resolve(input, prefix)
}

impl RawOptions {
    fn set_mode(&mut self, by: By) -> Result<(), Failure> {
        match self.by.replace(by).is_some() || self.digits_option.is_some() {
            true => Err(LINE.usage_error("cannot split in more than one way")),
            false => Ok(()),
        }
    }

    fn set(&mut self, ParsedOption { id, letter, value }: ParsedOption<Flag>) -> Result<(), Failure> {
        let value = value.as_slice();
        match id {
            Flag::SuffixLength => {
                let length = count(value, "invalid suffix length", 0)?;
                // The kernel rejects longer names.
                self.length = usize::try_from(length).unwrap_or(usize::MAX).min(4096);
            }
            Flag::AdditionalSuffix if value.contains(&b'/') => {
                let shown = quote_value(value);
                return Err(LINE.usage_error(format!("invalid suffix {shown}, contains directory separator")));
            }
            Flag::AdditionalSuffix => self.suffix = value.to_vec(),
            Flag::Bytes => self.set_mode(By::Bytes(size(value, "invalid number of bytes")?))?,
            Flag::LineBytes => self.set_mode(By::LineBytes(size(value, "invalid number of bytes")?))?,
            Flag::Lines => self.set_mode(By::Lines(count(value, "invalid number of lines", 1)?))?,
            Flag::Number => {
                let chunks = chunks(value)?;
                self.set_mode(chunks)?;
            }
            // Chunks are written as they are read.
            Flag::Unbuffered => {}
            Flag::Separator => self.separator(value)?,
            Flag::Digit => {
                if self.by.is_some() {
                    return Err(LINE.usage_error("cannot split in more than one way"));
                }
                let digit = u64::from(letter.and_then(|digit| digit.to_digit(10)).unwrap_or_default());
                let before = self.digits_option.unwrap_or_default();
                let Some(number) = before.checked_mul(10).and_then(|tens| tens.checked_add(digit)) else {
                    return fail(format!("line count option -{before}{digit}... is too large"));
                };
                self.digits_option = Some(number);
            }
            Flag::NumericSuffixes | Flag::HexSuffixes => {
                let hexadecimal = id == Flag::HexSuffixes;
                self.digits = if hexadecimal { Digits::Hexadecimal } else { Digits::Decimal };
                if !value.is_empty() {
                    self.start = Some(start(value, hexadecimal)?);
                }
            }
            Flag::ElideEmptyFiles => self.elide = true,
            Flag::Filter => self.filter = Some(value.to_vec()),
            _ => self.verbose = true,
        }
        Ok(())
    }

    fn separator(&mut self, value: &[u8]) -> Result<(), Failure> {
        let byte = match value {
            [] => return fail("empty record separator".to_owned()),
            [byte] => *byte,
            b"\\0" => 0,
            other => return fail(format!("multi-character separator {}", quote_value(other))),
        };
        match self.separator.replace(byte) {
            Some(other) if other != byte => fail("multiple separator characters specified".to_owned()),
            _ => Ok(()),
        }
    }

    fn resolve(self, input: Vec<u8>, prefix: Vec<u8>) -> Result<Options, Failure> {
        let by = match (self.by, self.digits_option) {
            (Some(by), _) => by,
            (None, Some(0)) => return Err(LINE.usage_error(format!("invalid number of lines: {}", quote_value(b"0")))),
            (None, lines) => By::Lines(lines.unwrap_or(1000)),
        };
        if self.filter.is_some() && matches!(by, By::Number(_, Some(_), _)) {
            return Err(LINE.usage_error("--filter does not process a chunk extracted to stdout"));
        }
        let base = self.digits.all().len();
        let mut needed = 0;
        if let By::Number(_, _, number) = by {
            let mut last = number - 1;
            if let Some(start) = self.start.map(|start| start as u64).filter(|start| *start < number) {
                last = last.saturating_add(start);
            }
            loop {
                needed += 1;
                last /= base as u64;
                if last == 0 {
                    break;
                }
            }
        }
        if self.length > 0 && self.length < needed {
            return fail(format!("the suffix length needs to be at least {needed}"));
        }
        let length = if self.length > 0 { self.length } else { needed.max(DEFAULT_LENGTH) };
        let grows = self.length == 0 && self.start.is_none() && needed == 0;
        let start = self.start.unwrap_or_default();
        let largest = base.checked_pow(u32::try_from(length).unwrap_or(u32::MAX)).unwrap_or(usize::MAX);
        if start >= largest {
            return Err(LINE.usage_error("numerical suffix start value is too large for the suffix length"));
        }
        Ok(Options {
            input,
            by,
            separator: self.separator.unwrap_or(b'\n'),
            filter: self.filter,
            verbose: self.verbose,
            elide: self.elide,
            prefix,
            digits: self.digits,
            suffix: self.suffix,
            length,
            grows,
            start,
        })
    }
}

impl Options {
    /// Returns the names of the output files.
    pub(super) fn names(&self) -> Names {
        Names::new(&self.prefix, self.digits, &self.suffix, self.length, self.grows, self.start)
    }
}

/// Parses a number of at least `min`.
fn count(value: &[u8], what: &str, min: u64) -> Result<u64, Failure> {
    let digits = value.strip_prefix(b"+").unwrap_or(value);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return fail(format!("{what}: {}", quote_value(value)));
    }
    match std::str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()) {
        Some(number) if number >= min => Ok(number),
        Some(_) => fail(format!("{what}: {}: {OUT_OF_RANGE}", quote_value(value))),
        None => fail(format!("{what}: {}: {TOO_LARGE}", quote_value(value))),
    }
}

/// Parses a number with a unit.
fn size(value: &[u8], what: &str) -> Result<u64, Failure> {
    let end = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, unit) = value.split_at_checked(end).unwrap_or((value, b""));
    let factor = match unit {
        b"" => Some(1),
        b"b" => Some(512),
        [letter, rest @ ..] => {
            let upper = if matches!(letter, b'k' | b'm') { letter.to_ascii_uppercase() } else { *letter };
            let power = b"KMGTPEZY".iter().position(|known| *known == upper);
            let base = match rest {
                b"" | b"iB" => Some(1024_u128),
                b"B" | b"D" => Some(1000),
                _ => None,
            };
            power.zip(base).map(|(power, base)| base.pow(power as u32 + 1))
        }
    };
    let number = std::str::from_utf8(digits).ok().filter(|digits| !digits.is_empty());
    let (Some(number), Some(factor)) = (number, factor) else {
        return fail(format!("{what}: {}", quote_value(value)));
    };
    let number = number.parse::<u128>().ok().and_then(|number| number.checked_mul(factor));
    match number.map(u64::try_from) {
        Some(Ok(0)) => fail(format!("{what}: {}: {OUT_OF_RANGE}", quote_value(value))),
        Some(Ok(number)) => Ok(number),
        _ => fail(format!("{what}: {}: {TOO_LARGE}", quote_value(value))),
    }
}

/// Parses the first number of the names.
fn start(value: &[u8], hexadecimal: bool) -> Result<usize, Failure> {
    let radix = if hexadecimal { 16 } else { 10 };
    let text = std::str::from_utf8(value).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    let what = if hexadecimal { "hexadecimal" } else { "numerical" };
    match text.and_then(|text| usize::from_str_radix(text, radix).ok()) {
        Some(start) => Ok(start),
        None => Err(LINE.usage_error(format!("{}: invalid start value for {what} suffix", quote_value(value)))),
    }
}

/// Parses `N` or `K/N`, optionally after `l/` or `r/`.
fn chunks(value: &[u8]) -> Result<By, Failure> {
    let (kind, rest) = match value {
        [b'l', b'/', rest @ ..] => (Chunks::Lines, rest),
        [b'r', b'/', rest @ ..] => (Chunks::Robin, rest),
        rest => (Chunks::Bytes, rest),
    };
    let Some(slash) = rest.iter().position(|byte| *byte == b'/') else {
        return Ok(By::Number(kind, None, count(rest, "invalid number of chunks", 1)?));
    };
    let (one, number) = (rest.get(..slash).unwrap_or_default(), rest.get(slash + 1..).unwrap_or_default());
    let number = count(number, "invalid number of chunks", 1)?;
    let only = count(one, "invalid chunk number", 1)?;
    if only > number {
        return fail(format!("invalid chunk number: {}: {OUT_OF_RANGE}", quote_value(one)));
    }
    Ok(By::Number(kind, Some(only), number))
}
