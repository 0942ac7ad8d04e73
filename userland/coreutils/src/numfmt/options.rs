//! Command line of `numfmt`.

use tidebox_gnu::choice::parse_choice;
use tidebox_gnu::exit::ToolResult;
use tidebox_gnu::message::quote_value;
use tidebox_gnu::options::Syntax;

use super::form::Form;
use super::number::{Round, Scale};

const USAGE: &str = "\
Usage: numfmt [OPTION]... [NUMBER]...
Converts NUMBERs to other units. Without NUMBER, reads standard input.

";

tidebox_gnu::options! {
    /// Options of `numfmt`.
    pub(super) enum Flag {
        Debug = "--debug | ---debug", "", unsupported "the option --debug is not supported";
        Delimiter = "-d, --delimiter=X", "separator of fields (blanks)";
        Field = "--field=FIELDS", "convert these fields (1): N, N-, N-M, -M, -";
        Format = "--format=FORMAT", "printf format of the numbers, such as %10.2f";
        From = "--from=UNIT", "units of the input: none, auto, si, iec, iec-i";
        FromUnit = "--from-unit=N", "unit size of the input";
        Grouping = "--grouping", "has no effect: the locale does not group digits";
        Header = "--header[=N]", "copy the first N lines (1) unchanged";
        Invalid = "--invalid=MODE", "action for invalid numbers: abort, fail, warn, ignore";
        Padding = "--padding=N", "pad to N columns; a negative N aligns to the left";
        Round = "--round=METHOD", "rounding: up, down, from-zero, towards-zero, nearest";
        Suffix = "--suffix=SUFFIX", "print SUFFIX after each number; accept it in the input";
        To = "--to=UNIT", "units of the output: none, si, iec, iec-i";
        ToUnit = "--to-unit=N", "unit size of the output";
        ZeroTerminated = "-z, --zero-terminated", "end lines with NUL";
    }
}

const LINE: Syntax<'_, Flag> = Syntax::core("numfmt", USAGE, 28);

/// Handling of invalid numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Invalid {
    #[default]
    Abort,
    Fail,
    Warn,
    Ignore,
}

#[derive(Debug)]
pub(super) struct Options {
    pub(super) from: Scale,
    pub(super) to: Scale,
    pub(super) from_unit: f64,
    pub(super) to_unit: f64,
    pub(super) round: Round,
    pub(super) form: Form,
    pub(super) suffix: Option<Vec<u8>>,
    pub(super) delimiter: Option<u8>,
    /// First and last field of each range.
    pub(super) fields: Vec<(u64, u64)>,
    pub(super) header: u64,
    pub(super) invalid: Invalid,
    pub(super) zero: bool,
    format: Option<Vec<u8>>,
    padding: Option<i64>,
    grouping: bool,
}

pub(super) fn read(arguments: Vec<Vec<u8>>) -> Result<(Options, Vec<Vec<u8>>), ToolResult> {
    let mut options = Options {
        from: Scale::None,
        to: Scale::None,
        from_unit: 1.0,
        to_unit: 1.0,
        round: Round::default(),
        form: Form::default(),
        suffix: None,
        delimiter: None,
        fields: Vec::new(),
        header: 0,
        invalid: Invalid::default(),
        zero: false,
        format: None,
        padding: None,
        grouping: false,
    };
    let operands = LINE.parse(arguments, |key, value| options.set(key, value))?;
    options.resolve()?;
    Ok((options, operands))
}

fn fail<T>(message: String) -> Result<T, ToolResult> {
    Err(ToolResult::Failure(message, 1))
}

impl Options {
    fn set(&mut self, key: Flag, value: Vec<u8>) -> Result<(), ToolResult> {
        const SCALES: &[&[&str]] = &[&["none"], &["auto"], &["si"], &["iec"], &["iec-i"]];
        const TARGETS: &[&[&str]] = &[&["none"], &["si"], &["iec"], &["iec-i"]];
        const ROUNDS: &[&[&str]] = &[&["up"], &["down"], &["from-zero"], &["towards-zero"], &["nearest"]];
        const MODES: &[&[&str]] = &[&["abort"], &["fail"], &["warn"], &["ignore"]];
        let word =
            |option: &str, words| parse_choice(option, &value, words).map_err(|message| ToolResult::Usage(message, 1));
        match key {
            Flag::From => {
                let scales = [Scale::None, Scale::Auto, Scale::Si, Scale::Iec, Scale::IecI];
                self.from = scales.get(word("--from", SCALES)?).copied().unwrap_or_default();
            }
            Flag::To => {
                let scales = [Scale::None, Scale::Si, Scale::Iec, Scale::IecI];
                self.to = scales.get(word("--to", TARGETS)?).copied().unwrap_or_default();
            }
            Flag::FromUnit => self.from_unit = unit(&value)?,
            Flag::ToUnit => self.to_unit = unit(&value)?,
            Flag::Round => {
                let rounds = [Round::Up, Round::Down, Round::FromZero, Round::TowardsZero, Round::Nearest];
                self.round = rounds.get(word("--round", ROUNDS)?).copied().unwrap_or_default();
            }
            Flag::Invalid => {
                let modes = [Invalid::Abort, Invalid::Fail, Invalid::Warn, Invalid::Ignore];
                self.invalid = modes.get(word("--invalid", MODES)?).copied().unwrap_or_default();
            }
            Flag::Padding => {
                let padding = std::str::from_utf8(&value).ok().and_then(|text| text.parse().ok());
                match padding.filter(|padding: &i64| *padding != 0 && padding.unsigned_abs() < 1 << 24) {
                    Some(padding) => self.padding = Some(padding),
                    None => return fail(format!("invalid padding value {}", quote_value(&value))),
                }
            }
            Flag::Suffix => self.suffix = Some(value),
            Flag::Grouping => self.grouping = true,
            Flag::Field => {
                if !self.fields.is_empty() {
                    return fail("multiple field specifications".to_owned());
                }
                self.fields = fields(&value)?;
            }
            Flag::Header if value.is_empty() => self.header = 1,
            Flag::Header => {
                let header = std::str::from_utf8(&value).ok().and_then(|text| text.parse().ok());
                match header.filter(|header| *header > 0) {
                    Some(header) => self.header = header,
                    None => return fail(format!("invalid header value {}", quote_value(&value))),
                }
            }
            Flag::Format => self.format = Some(value),
            Flag::Delimiter => match value.as_slice() {
                [] => self.delimiter = Some(0),
                [byte] => self.delimiter = Some(*byte),
                _ => return fail("the delimiter must be a single character".to_owned()),
            },
            _ => self.zero = true,
        }
        Ok(())
    }

    fn resolve(&mut self) -> Result<(), ToolResult> {
        if self.format.is_some() && self.grouping {
            return fail("--grouping cannot be combined with --format".to_owned());
        }
        if let Some(format) = &self.format {
            self.form = Form::parse(format).or_else(fail)?;
            self.grouping |= self.form.grouping;
        }
        if self.grouping && self.to != Scale::None {
            return fail("grouping cannot be combined with --to".to_owned());
        }
        if let Some(padding) = self.padding.filter(|_| self.form.width == 0) {
            self.form.width = usize::try_from(padding.unsigned_abs()).unwrap_or_default();
            self.form.left = padding < 0;
        }
        if self.fields.is_empty() {
            self.fields.push((1, 1));
        }
        Ok(())
    }
}

/// Parses a unit size.
fn unit(value: &[u8]) -> Result<f64, ToolResult> {
    let invalid = || ToolResult::Failure(format!("invalid unit size: {}", quote_value(value)), 1);
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, suffix) = value.split_at_checked(digits).unwrap_or((value, b""));
    let number: u64 = match std::str::from_utf8(number) {
        // A suffix without a number counts once.
        Ok("") if !suffix.is_empty() => 1,
        number => number.ok().and_then(|number| number.parse().ok()).ok_or_else(invalid)?,
    };
    let power = |letter: &u8| b"KMGTPEZY".iter().position(|unit| unit == letter).map(|at| at as i32 + 1);
    let factor = match suffix {
        [] => 1.0,
        [letter] => 1000_f64.powi(power(letter).ok_or_else(invalid)?),
        [letter, b'i'] => 1024_f64.powi(power(letter).ok_or_else(invalid)?),
        _ => return Err(invalid()),
    };
    if number > 0 { Ok(number as f64 * factor) } else { Err(invalid()) }
}

/// Parses a list of `N`, `N-`, `N-M`, `-M` and `-`, separated by commas or blanks.
fn fields(list: &[u8]) -> Result<Vec<(u64, u64)>, ToolResult> {
    let wrong = |what: &str| ToolResult::Usage(what.to_owned(), 1);
    let number = |text: &[u8]| -> Result<u64, ToolResult> {
        if text.iter().any(|byte| !byte.is_ascii_digit()) {
            return Err(ToolResult::Usage(format!("invalid field value {}", quote_value(text)), 1));
        }
        let number = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
        let too_large = || wrong(&format!("field number {} is too large", quote_value(text)));
        match number.filter(|number| *number < u64::MAX).ok_or_else(too_large)? {
            0 => Err(wrong("fields are numbered from 1")),
            number => Ok(number),
        }
    };
    let mut ranges = Vec::new();
    for part in list.split(|byte| matches!(byte, b',' | b' ' | b'\t')) {
        ranges.push(match part.iter().position(|byte| *byte == b'-') {
            None if part.is_empty() => return Err(wrong("fields are numbered from 1")),
            None => {
                let only = number(part)?;
                (only, only)
            }
            Some(dash) => {
                let (low, high) = (part.get(..dash).unwrap_or_default(), part.get(dash + 1..).unwrap_or_default());
                if !low.iter().any(|byte| !byte.is_ascii_digit()) && high.contains(&b'-') {
                    return Err(wrong("invalid field range"));
                }
                let low = if low.is_empty() { 1 } else { number(low)? };
                let high = if high.is_empty() { u64::MAX } else { number(high)? };
                if low > high {
                    return Err(wrong("invalid decreasing range"));
                }
                (low, high)
            }
        });
    }
    Ok(ranges)
}
